//go:build unix

package exhaustive

import (
	"syscall"
	"time"
)

// cpuTime is the time that this process has computed.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
