//go:build !linux

package lower

// limitMemory does nothing: no other system can limit a process from outside.
func limitMemory(int) {}
