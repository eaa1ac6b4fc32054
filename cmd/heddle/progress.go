package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"heddle/internal/check"
)

const (
	progressDelay    = time.Second // shorter runs show nothing
	progressInterval = 200 * time.Millisecond
)

// progress keeps one line on the terminal that says how far a run is. It is safe for concurrent use.
type progress struct {
	w       io.Writer
	tty     bool
	started time.Time

	mu    sync.Mutex
	last  time.Time
	shown bool
	ended bool
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, tty: isTerminal(w), started: time.Now()}
}

// callback returns what the driver calls; nil where nobody would see it.
func (p *progress) callback() func(check.Progress) {
	if !p.tty {
		return nil
	}
	return p.show
}

func (p *progress) show(s check.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.ended || now.Sub(p.started) < progressDelay || now.Sub(p.last) < progressInterval {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprintf(p.w, "\r\x1b[K%s", progressText(s, now.Sub(p.started)))
}

func progressText(s check.Progress, d time.Duration) string {
	kernel := []rune(s.Kernel)
	if len(kernel) > 40 {
		kernel = append(kernel[:37], []rune("...")...)
	}
	return fmt.Sprintf("%s: %d of %d blocks, %.1f M warp instructions, %.0f s", string(kernel), s.BlocksDone, s.Blocks, float64(s.Steps)/1e6, d.Seconds())
}

// clear removes the line, so that something else can be printed.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

func (p *progress) erase() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// stop removes the line for good.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.ended = true
}

// wrap returns a writer that removes the line before it writes to w.
func (p *progress) wrap(w io.Writer) io.Writer { return clearing{p, w} }

type clearing struct {
	p *progress
	w io.Writer
}

func (c clearing) Write(b []byte) (int, error) {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	c.p.erase()
	return c.w.Write(b)
}
