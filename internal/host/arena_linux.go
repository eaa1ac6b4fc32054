package host

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// punchFrom is the size from which freed memory goes back to the system at once. Below it the call
// would cost more than the memory is worth.
const punchFrom = 64 << 10

// Arena is the memory that a program shares with heddle: a file without a name that both map. It
// takes memory only where something was written.
type Arena struct {
	Bytes  []byte // Bytes[i] is the byte at address ArenaBase+i
	Memory Memory // what of it is allocated
	file   *os.File
	answer func() bool
}

// newArena returns an arena of ArenaSize bytes, all zero.
func newArena() (*Arena, error) {
	m, err := NewSharedMemory("heddle-arena", ArenaSize)
	if err != nil {
		return nil, err
	}
	return &Arena{Bytes: m.Bytes, file: m.file}, nil
}

// SharedMemory is memory that a program and heddle both map: a file without a name.
type SharedMemory struct {
	Bytes []byte
	file  *os.File
}

// NewSharedMemory returns shared memory of n bytes, all zero.
func NewSharedMemory(name string, n int) (*SharedMemory, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("no shared memory: %w", err)
	}
	file := os.NewFile(uintptr(fd), name)
	if err := file.Truncate(int64(n)); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("no shared memory of %d MiB: %w (is a limit of file sizes set, "+
			"ulimit -f?)", n>>20, err)
	}
	bytes, err := syscall.Mmap(fd, 0, n, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_SHARED|syscall.MAP_NORESERVE)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%d MiB of addresses cannot be mapped: %w (is a limit of addresses set, "+
			"ulimit -v?)", n>>20, err)
	}
	return &SharedMemory{bytes, file}, nil
}

// Close unmaps the memory. Nothing may use Bytes afterwards.
func (m *SharedMemory) Close() {
	_ = syscall.Munmap(m.Bytes)
	_ = m.file.Close()
}

// Waiting reports whether the program waits for a reply. What another thread of it does is unknown.
func (a *Arena) Waiting() bool {
	return atomic.LoadUint32((*uint32)(unsafe.Pointer(&a.Bytes[0]))) != 0
}

// Answer answers a call of the program that does not have to wait for the end of the launch that is
// being executed, which it reports. Only Device.Launch may call it.
func (a *Arena) Answer() bool { return a.answer != nil && a.answer() }

// close unmaps the arena. Nothing may use Bytes afterwards.
func (a *Arena) close() { (&SharedMemory{a.Bytes, a.file}).Close() }

// discard gives the memory of a freed allocation back to the system.
func (a *Arena) discard(al Allocation) {
	if al.Size >= punchFrom {
		// If the system cannot do it, the memory is only kept.
		_ = unix.Fallocate(int(a.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE,
			int64(al.Addr-ArenaBase), int64(al.Size))
	}
}

// sendWithFile writes a message and passes the file of the arena along.
func (a *Arena) sendWithFile(c *net.UnixConn, b []byte) error { return sendFile(c, b, a.file) }

// sendFile writes a message and passes a file along.
func sendFile(c *net.UnixConn, b []byte, file *os.File) error {
	n, _, err := c.WriteMsgUnix(b, syscall.UnixRights(int(file.Fd())), nil)
	if err == nil && n < len(b) {
		_, err = c.Write(b[n:])
	}
	return err
}
