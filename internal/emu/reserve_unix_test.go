//go:build unix

package emu

import "syscall"

// reserve returns n bytes of zeros, of which only those that are touched take memory.
func reserve(t interface{ Fatal(...any) }, n uint64) ([]byte, func()) {
	mem, err := syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	return mem, func() { _ = syscall.Munmap(mem) }
}
