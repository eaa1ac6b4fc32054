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
}

// newArena returns an arena of ArenaSize bytes, all zero.
func newArena() (*Arena, error) {
	fd, err := unix.MemfdCreate("heddle-arena", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("no shared memory: %w", err)
	}
	file := os.NewFile(uintptr(fd), "heddle-arena")
	if err := file.Truncate(ArenaSize); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("no shared memory of 1 TiB: %w (is a limit of file sizes set, "+
			"ulimit -f?)", err)
	}
	bytes, err := syscall.Mmap(fd, 0, ArenaSize, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_SHARED|syscall.MAP_NORESERVE)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("1 TiB of addresses cannot be mapped: %w (is a limit of addresses set, "+
			"ulimit -v?)", err)
	}
	return &Arena{Bytes: bytes, file: file}, nil
}

// Waiting reports whether the program waits for a reply. What another thread of it does is unknown.
func (a *Arena) Waiting() bool {
	return atomic.LoadUint32((*uint32)(unsafe.Pointer(&a.Bytes[0]))) != 0
}

// close unmaps the arena. Nothing may use Bytes afterwards.
func (a *Arena) close() {
	_ = syscall.Munmap(a.Bytes)
	_ = a.file.Close()
}

// discard gives the memory of a freed allocation back to the system.
func (a *Arena) discard(al Allocation) {
	if al.Size >= punchFrom {
		// If the system cannot do it, the memory is only kept.
		_ = unix.Fallocate(int(a.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE,
			int64(al.Addr-ArenaBase), int64(al.Size))
	}
}

// sendWithFile writes a message and passes the file of the arena along.
func (a *Arena) sendWithFile(c *net.UnixConn, b []byte) error {
	n, _, err := c.WriteMsgUnix(b, syscall.UnixRights(int(a.file.Fd())), nil)
	if err == nil && n < len(b) {
		_, err = c.Write(b[n:])
	}
	return err
}
