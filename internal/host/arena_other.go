//go:build !linux

package host

import (
	"errors"
	"net"
)

// Arena is the memory that a program shares with heddle. It exists on Linux only.
type Arena struct {
	Bytes  []byte
	Memory Memory
}

func newArena() (*Arena, error) { return nil, errors.New("heddle exec needs Linux") }

func (a *Arena) close() {}

func (a *Arena) discard(Allocation) {}

func (a *Arena) sendWithFile(*net.UnixConn, []byte) error { return errors.ErrUnsupported }

// Waiting is false: there are no programs.
func (a *Arena) Waiting() bool { return false }
