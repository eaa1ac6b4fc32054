package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"heddle/internal/driver"
)

// Times of the progress line. Runs shorter than the delay show none, because a line that flashes by
// cannot be read. The interval is short enough to look alive.
const (
	progressDelay    = time.Second // shorter runs show nothing
	progressInterval = 200 * time.Millisecond
)

// progress keeps one line at the bottom of the terminal that shows how far a run is. All other
// output to the terminal must clear it first or be written through wrap. It is safe for concurrent
// use.
type progress struct {
	w       io.Writer
	tty     bool
	width   int // of the terminal; 0: not known
	started time.Time

	mu sync.Mutex
	// the report drawn next
	now   driver.Progress // what was told last
	told  bool
	last  time.Time
	shown bool
	ended bool
	done  chan struct{}
}

// newProgress returns a progress line on w. Nothing is drawn if w is not a terminal.
func newProgress(w io.Writer) *progress {
	return &progress{w: w, tty: isTerminal(w), width: terminalWidth(w), started: time.Now(),
		done: make(chan struct{})}
}

// callback returns the function that the driver calls with its progress, or nil if w is not a
// terminal, which spares the driver the work. It starts a goroutine that stop ends.
func (p *progress) callback() func(driver.Progress) {
	if !p.tty {
		return nil
	}
	go p.refresh()
	return p.show
}

// refresh redraws the line at intervals, so that its time advances while an engine reports nothing.
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

// show records a report of the driver and draws it, if the interval allows.
func (p *progress) show(s driver.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now, p.told = s, true
	p.draw()
}

// draw writes the line over the previous one. p.mu must be held. It draws at most once per
// interval, however often the driver calls, and cuts the text to the width of the terminal.
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

// progressText returns the text of the line after time d: "3 of 12 kernels, 1 of 2 files, reduce:
// emulation, 1 of 4 blocks, 2.5 M warp instructions, 9 s". Counts of one are left out. Long kernel
// names (templates) are cut to 40 runes.
func progressText(s driver.Progress, d time.Duration) string {
	var parts []string
	if s.Kernels > 1 || s.Files > 1 {
		parts = append(parts, fmt.Sprintf("%d of %d kernels", s.KernelsDone, s.Kernels))
	}
	if s.Files > 1 {
		parts = append(parts, fmt.Sprintf("%d of %d files", s.FilesDone, s.Files))
	}
	// Runes, so that a cut does not split a character.
	kernel := []rune(s.Kernel)
	if len(kernel) > 40 {
		kernel = append(kernel[:37], []rune("...")...)
	}
	parts = append(parts, fmt.Sprintf("%s: %s", string(kernel), s.Engine))
	if s.Blocks > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d blocks, %.1f M warp instructions", s.BlocksDone,
			s.Blocks, float64(s.Steps)/1e6))
	}
	return strings.Join(append(parts, fmt.Sprintf("%.0f s", d.Seconds())), ", ")
}

// clear removes the line before other output. The next draw puts it back.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// erase is clear with p.mu held. The escape sequence returns to column 1 and deletes the line.
func (p *progress) erase() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// stop removes the line and ends the goroutine. It may be called more than once: checkFiles calls
// it before the verdicts and again on return.
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

// clearing is the writer that wrap returns. The lock covers the write, so no draw can come between.
type clearing struct {
	p *progress
	w io.Writer
}

// Write implements io.Writer.
func (c clearing) Write(b []byte) (int, error) {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	c.p.erase()
	return c.w.Write(b)
}
