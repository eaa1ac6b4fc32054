package lower

import "golang.org/x/sys/unix"

// maxToolMemory bounds the address space of a compiler process in bytes. The largest files of CUDA
// libraries need 2 GiB. An #include of a device, which a macro hides from checkIncludes, would use
// all memory of the machine.
const maxToolMemory = 8 << 30

// limitMemory bounds the address space of a process that has just started. A failure is ignored:
// the limit is only a precaution.
func limitMemory(pid int) {
	_ = unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: maxToolMemory, Max: maxToolMemory}, nil)
}
