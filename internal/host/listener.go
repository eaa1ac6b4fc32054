package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"heddle/internal/crash"
)

// listener answers programs on a socket, each by a goroutine of its own.
type listener struct {
	Path string // of the socket, for the environment of programs

	socket   *net.UnixListener
	dir      string
	served   chan struct{} // closed when no more programs are accepted
	wait     sync.WaitGroup
	mu       sync.Mutex
	conns    map[*net.UnixConn]bool
	failures []error
	crash    crash.First // of those who answer
}

// listen makes a socket in a new directory that only this user can read. answer answers one program
// until it ends; its error is one of the connection.
func (s *listener) listen(answer func(*net.UnixConn) error) error {
	dir, err := os.MkdirTemp("", "heddle-exec-")
	if err != nil {
		return fmt.Errorf("no directory for temporary files (TMPDIR): %w", err)
	}
	s.dir, s.Path = dir, filepath.Join(dir, "socket")
	s.socket, err = net.ListenUnix("unix", &net.UnixAddr{Name: s.Path, Net: "unix"})
	if err != nil {
		_ = os.RemoveAll(dir)
		return fmt.Errorf("no socket for programs to connect to: %w", err)
	}
	s.served, s.conns = make(chan struct{}), make(map[*net.UnixConn]bool)
	go s.serve(answer)
	return nil
}

// serve answers programs until the socket is closed.
func (s *listener) serve(answer func(*net.UnixConn) error) {
	defer close(s.served)
	for {
		c, err := s.socket.AcceptUnix()
		if err != nil {
			return
		}
		s.enter(c)
		go func() {
			defer s.leave(c)
			defer s.crash.Keep() // Close passes it on
			if err := answer(c); err != nil {
				s.fail(err)
			}
		}()
	}
}

// enter notes a connection.
func (s *listener) enter(c *net.UnixConn) {
	s.mu.Lock()
	s.conns[c] = true
	s.mu.Unlock()
	s.wait.Add(1)
}

// leave ends a connection.
func (s *listener) leave(c *net.UnixConn) {
	_ = c.Close()
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.wait.Done()
}

// fail keeps an error of a connection for Close.
func (s *listener) fail(err error) {
	s.mu.Lock()
	s.failures = append(s.failures, err)
	s.mu.Unlock()
}

// Close accepts no more programs and waits until those that are connected have ended, or until ctx
// ends, which closes their connections. It returns what went wrong with connections, and panics if
// one of those who answer did.
func (s *listener) Close(ctx context.Context) error {
	_ = s.socket.Close()
	<-s.served
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for c := range s.conns {
			_ = c.Close()
		}
	})
	s.wait.Wait()
	stop()
	_ = os.RemoveAll(s.dir)
	s.crash.Raise()
	return errors.Join(s.failures...)
}
