//go:build !linux

package host

import (
	"errors"
	"net"
	"os"
)

// Arena is the memory that a program shares with heddle. It exists on Linux only.
type Arena struct {
	Bytes  []byte
	Memory Memory
	answer func() bool
}

func newArena() (*Arena, error) { return nil, errors.New("heddle exec needs Linux") }

func (a *Arena) close() {}

func (a *Arena) discard(Allocation) {}

func (a *Arena) sendWithFile(*net.UnixConn, []byte) error { return errors.ErrUnsupported }

// Waiting is false: there are no programs.
func (a *Arena) Waiting() bool { return false }

// Answer does nothing.
func (a *Arena) Answer() bool { return false }

// SharedMemory is memory that a program and heddle both map. It exists on Linux only.
type SharedMemory struct {
	Bytes []byte
	file  *os.File
}

// NewSharedMemory fails.
func NewSharedMemory(string, int) (*SharedMemory, error) {
	return nil, errors.New("heddle exec needs Linux")
}

// Close does nothing: there is no such memory.
func (m *SharedMemory) Close() {}

func sendFile(*net.UnixConn, []byte, *os.File) error { return errors.ErrUnsupported }
