//go:build !unix

package emu

// reserve is not written for other systems: an arena takes more address space than memory.
func reserve(t interface{ Fatal(...any) }, n uint64) ([]byte, func()) {
	t.Fatal("address space cannot be reserved on this system")
	return nil, nil
}
