package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"heddle/internal/command/exec"
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

	// Escape sequences: what is written before the text, behind it, and to remove it.
	before, after, remove string

	mu    sync.Mutex
	now   func(time.Duration) []string // the text after a time, see fit; nil: nothing to show
	last  time.Time
	shown bool
	ended bool
	done  chan struct{}
}

// newProgress returns a progress line on w. Nothing is drawn if w is not a terminal that
// understands escape sequences.
func newProgress(w io.Writer) *progress {
	const line = "\r\x1b[K" // returns to column 1 and deletes the line
	return &progress{w: w, tty: isTerminal(w) && os.Getenv("TERM") != "dumb",
		width: terminalWidth(w), started: time.Now(),
		before: line, remove: line, done: make(chan struct{})}
}

// newProgressBelow returns a progress line below the cursor, which stays where it is: another
// program prints to the terminal and may have begun a line.
func newProgressBelow(w io.Writer) *progress {
	p := newProgress(w)
	// Clear what is below; move down, which scrolls if needed, and up again, in the same column; save
	// the cursor, and go to the line below.
	p.before = "\x1b[J\x1bD\x1b[A\x1b7\x1b[B\r"
	p.after = "\x1b8"   // restore the cursor
	p.remove = "\x1b[J" // the line is below the cursor, and nothing else is
	return p
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

// launches is callback for the launches of a program.
func (p *progress) launches() func(*exec.Progress) {
	if !p.tty {
		return nil
	}
	go p.refresh()
	return p.launch
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
	p.now = func(d time.Duration) []string { return progressText(s, d) }
	p.draw()
}

// launch records how far a launch of a program is and draws it, if the interval allows. With nil it
// removes the line, because the program goes on.
func (p *progress) launch(l *exec.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l == nil {
		p.now = nil
		p.erase()
		return
	}
	now := *l
	p.now = func(d time.Duration) []string { return launchText(&now, d) }
	p.draw()
}

// draw writes the line over the previous one. p.mu must be held. It draws at most once per
// interval, however often the driver calls, and cuts the text to the width of the terminal.
func (p *progress) draw() {
	now := time.Now()
	if p.ended || p.now == nil || now.Sub(p.started) < progressDelay ||
		now.Sub(p.last) < progressInterval {
		return
	}
	p.last, p.shown = now, true
	text := fit(p.now(now.Sub(p.started)), p.width)
	fmt.Fprint(p.w, p.before, text, p.after)
}

// fit returns the longest of the texts, which come from the longest to the shortest, that is narrower
// than the terminal: a line that wraps could not be removed. If none is, it cuts the last one. The
// end of a line says how far the run is, so a text with a shorter name is better than a cut one.
func fit(texts []string, width int) string {
	for _, t := range texts {
		if width <= 0 || utf8.RuneCountInString(t) < width {
			return t
		}
	}
	return string([]rune(texts[len(texts)-1])[:width-1])
}

// progressText returns the text of the line after time d: "3 of 12 kernels, 1 of 2 files, reduce:
// emulation, 1 of 4 blocks, 2.5 M warp instructions, 9 s". Counts of one are left out. Shorter texts
// follow: with less of the kernel's name, which can be long (templates), and then without what ends
// soon or changes little.
func progressText(s driver.Progress, d time.Duration) []string {
	time := fmt.Sprintf("%.0f s", d.Seconds())
	kernels, files := "", ""
	if s.Kernels > 1 || s.Files > 1 {
		kernels = fmt.Sprintf("%d of %d kernels, ", s.KernelsDone, s.Kernels)
	}
	if s.Files > 1 {
		files = fmt.Sprintf("%d of %d files, ", s.FilesDone, s.Files)
	}
	blocks, few := "", ""
	if s.Blocks > 0 {
		blocks = blocksText(s.BlocksDone, s.Blocks, s.Steps) + ", "
		few = fmt.Sprintf("%d of %d blocks, ", s.BlocksDone, s.Blocks)
	}
	name := func(n int) string { return fmt.Sprintf("%s: %s, ", shortName(s.Kernel, n), s.Engine) }
	return []string{
		kernels + files + name(40) + blocks + time,
		kernels + files + name(20) + blocks + time,
		kernels + files + name(20) + few + time,
		kernels + name(12) + few + time,
		kernels + few + time,
		kernels + time,
	}
}

// launchText returns the text of the line for a program after time d: "launch 3 of reduce(int*), 1
// of 4 blocks, 2.5 M warp instructions, 9 s", and shorter ones.
func launchText(l *exec.Progress, d time.Duration) []string {
	text := func(n int, blocks string) string {
		return fmt.Sprintf("launch %d of %s, %s, %.0f s", l.Launch, shortName(l.Kernel, n), blocks, d.Seconds())
	}
	if l.Blocks == 0 { // on a GPU
		records := fmt.Sprintf("%d records", l.Records)
		return []string{text(40, records), text(20, records), text(12, records)}
	}
	few := fmt.Sprintf("%d of %d blocks", l.BlocksDone, l.Blocks)
	return []string{text(40, blocksText(l.BlocksDone, l.Blocks, l.Steps)), text(40, few), text(20, few),
		text(12, few)}
}

// blocksText says how far an emulation is.
func blocksText(done, blocks, steps uint64) string {
	return fmt.Sprintf("%d of %d blocks, %.1f M warp instructions", done, blocks, float64(steps)/1e6)
}

// shortName cuts a name to n runes, so that a cut does not split a character.
func shortName(name string, n int) string {
	if r := []rune(name); len(r) > n {
		return string(r[:n-3]) + "..."
	}
	return name
}

// clear removes the line before other output. The next draw puts it back.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// erase is clear with p.mu held.
func (p *progress) erase() {
	if p.shown {
		fmt.Fprint(p.w, p.remove)
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
