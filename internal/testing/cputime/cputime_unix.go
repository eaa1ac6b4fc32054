//go:build unix

// Package cputime measures how much a test computes, for figures that tests log.
package cputime

import (
	"syscall"
	"time"
)

// Process returns the user and system time of this process so far.
func Process() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
