//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpuSeconds returns the CPU time used so far, user and system. That of children counts when they
// have been waited for, which is always the case for compilers here.
func cpuSeconds() cpuTime {
	of := func(who int) float64 {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) != nil {
			return 0
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
	}
	return cpuTime{of(syscall.RUSAGE_SELF), of(syscall.RUSAGE_CHILDREN)}
}
