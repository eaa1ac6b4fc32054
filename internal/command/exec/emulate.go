package exec

import (
	"context"
	"sync"
	"time"

	"heddle/internal/diag"
	"heddle/internal/host"
	"heddle/internal/source"
)

// The emulator as the GPU, for tests: the program is linked with heddle's CUDA runtime, which plays
// the driver, and heddle watches it as it would watch one on a GPU. The emulated device examines
// nothing.

// emulated are the devices of the processes of a run, and those who watch them.
type emulated struct {
	mu       sync.Mutex
	left     *sync.Cond // a watcher has left
	sessions map[int]*session
	cancels  map[int]func() // end what their kernels execute
	watchers map[int]*watcher
}

// startEmulated starts the server of a GPU that is emulated.
func (r *runner) startEmulated() (*emulated, *host.Server, error) {
	e := &emulated{sessions: make(map[int]*session), cancels: make(map[int]func()),
		watchers: make(map[int]*watcher)}
	e.left = sync.NewCond(&e.mu)
	opt := *r.opt
	opt.Check, opt.Progress, opt.Save, opt.Common.Memory = Policy{None: true}, nil, "", 0
	opt.ExecuteRepeats, opt.InitCheck, opt.Leaks = true, false, false
	server, err := host.Listen(opt.GPU, false, func(h host.Hello, a *host.Arena) (host.Device, error) {
		ctx, cancel := context.WithCancel(r.ctx)
		quiet := &runner{ctx: ctx, opt: &opt, files: make(map[string]bool), shown: source.NewSet()}
		quiet.sum.printer = diag.FindingFunc(func(*diag.Diagnostic) {})
		s := newSession(quiet, h, a)
		s.serve = func(stuck bool) bool { return stuck && e.moved(h.Process) }
		s.ending = func() { e.wait(h.Process) }
		e.mu.Lock()
		defer e.mu.Unlock()
		e.sessions[h.Process], e.cancels[h.Process] = s, cancel
		return s, nil
	})
	return e, server, err
}

// enter and leave note who watches a process.
func (e *emulated) enter(w *watcher) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watchers[w.hello.Process] = w
}

func (e *emulated) leave(w *watcher) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.watchers, w.hello.Process)
	if cancel := e.cancels[w.hello.Process]; cancel != nil {
		cancel()
	}
	e.left.Broadcast()
}

// wait waits until nobody watches a process any more: its memory is about to go.
func (e *emulated) wait(process int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.watchers[process] != nil {
		e.left.Wait()
	}
}

// bytes returns the memory at an address of a process.
func (e *emulated) bytes(process int, addr uint64, n int) ([]byte, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.sessions[process]
	at := addr - host.ArenaBase
	if s == nil || addr < host.ArenaBase || at+uint64(n) > uint64(len(s.shared.Bytes)) {
		return nil, false
	}
	return s.shared.Bytes[at:][:n], true
}

// moved reports whether the reader of the queues of a process has freed slots since the last call,
// and waits a while for it: all warps of the kernel wait for something.
func (e *emulated) moved(process int) bool {
	e.mu.Lock()
	w := e.watchers[process]
	e.mu.Unlock()
	if w == nil {
		return false
	}
	for range 100 {
		h := w.host.Load()
		if h == nil {
			return false
		}
		if n := h.Read(); n != w.seen {
			w.seen = n
			return true
		}
		time.Sleep(100 * time.Microsecond)
	}
	return false
}
