package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"heddle/internal/driver"
)

const (
	progressDelay    = time.Second // shorter runs show nothing
	progressInterval = 200 * time.Millisecond
)

// progress keeps one line on the terminal that says how far a run is. It is safe for concurrent use.
type progress struct {
	w       io.Writer
	tty     bool
	width   int // of the terminal; 0: not known
	started time.Time

	mu    sync.Mutex
	now   driver.Progress // what was told last
	told  bool
	last  time.Time
	shown bool
	ended bool
	done  chan struct{}
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, tty: isTerminal(w), width: terminalWidth(w), started: time.Now(), done: make(chan struct{})}
}

// callback returns what the driver calls; nil where nobody would see it.
func (p *progress) callback() func(driver.Progress) {
	if !p.tty {
		return nil
	}
	go p.refresh()
	return p.show
}

// refresh keeps the time on the line going while an engine has nothing to tell.
func (p *progress) refresh() {
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		case <-p.done:
			return
		}
	}
}

func (p *progress) show(s driver.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now, p.told = s, true
	p.draw()
}

// draw writes the line. p.mu is held.
func (p *progress) draw() {
	now := time.Now()
	if p.ended || !p.told || now.Sub(p.started) < progressDelay || now.Sub(p.last) < progressInterval {
		return
	}
	p.last, p.shown = now, true
	text := []rune(progressText(p.now, now.Sub(p.started)))
	if p.width > 0 && len(text) >= p.width { // a line that wraps could not be removed
		text = text[:p.width-1]
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", string(text))
}

// progressText is what is known: "3 of 12 kernels, 1 of 2 files, reduce: emulation, 1 of 4 blocks, 2.5 M warp instructions, 9 s".
func progressText(s driver.Progress, d time.Duration) string {
	var parts []string
	if s.Kernels > 1 || s.Files > 1 {
		parts = append(parts, fmt.Sprintf("%d of %d kernels", s.KernelsDone, s.Kernels))
	}
	if s.Files > 1 {
		parts = append(parts, fmt.Sprintf("%d of %d files", s.FilesDone, s.Files))
	}
	kernel := []rune(s.Kernel)
	if len(kernel) > 40 {
		kernel = append(kernel[:37], []rune("...")...)
	}
	parts = append(parts, fmt.Sprintf("%s: %s", string(kernel), s.Engine))
	if s.Blocks > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d blocks, %.1f M warp instructions", s.BlocksDone, s.Blocks, float64(s.Steps)/1e6))
	}
	return strings.Join(append(parts, fmt.Sprintf("%.0f s", d.Seconds())), ", ")
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
	if !p.ended {
		close(p.done)
	}
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
