//go:build !unix

package main

// cpuSeconds is not measured on systems without getrusage.
func cpuSeconds() cpuTime { return cpuTime{} }
