package check

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"heddle/internal/ir"
)

// each works on several kernels at a time. What a kernel reports comes in the order of the kernels, for any number
// of workers: a kernel that has something to report waits for those before it, and its effects on the state of the run
// (findings, verdicts, what comments and baselines cover) are those of one worker. A kernel without findings waits only
// at its end. The first kernel that is not done never waits, so that all come to their end.
func (d *driver) each(kernels []*ir.Func, work func(*driver, *ir.Func)) {
	n := d.opt.Workers
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	if n = min(n, len(kernels)); n <= 1 || d.opt.Trace != nil {
		for _, k := range kernels {
			work(d, k)
		}
		return
	}
	var crash crash
	var wg sync.WaitGroup
	slots := make(chan struct{}, n)
	var before chan struct{}
	for _, k := range kernels {
		one := *d
		one.sum = &Summary{Files: d.files}
		one.before = before
		done := make(chan struct{})
		before = done
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() {
				one.turn()
				d.sum.add(one.sum)
				close(done)
				<-slots
			}()
			defer crash.keep()
			work(&one, k)
		}()
	}
	wg.Wait()
	crash.raise()
}

// turn waits until the kernels before this one are done.
func (d *driver) turn() {
	if d.before != nil {
		<-d.before
	}
}

// add takes over what a part of the run came to.
func (s *Summary) add(part *Summary) {
	s.Verdicts = append(s.Verdicts, part.Verdicts...)
	s.Bugs += part.Bugs
	s.Guessed += part.Guessed
	s.InputErrors += part.InputErrors
	s.Skipped += part.Skipped
	s.Queries.Add(&part.Queries)
	s.Times.Terms += part.Times.Terms
}

// crash carries the first panic of several goroutines to the one that waits for them, where it can be reported.
type crash struct {
	once sync.Once
	text string
}

// keep is deferred by the goroutines.
func (c *crash) keep() {
	if p := recover(); p != nil {
		c.once.Do(func() { c.text = fmt.Sprintf("%v\n%s", p, debug.Stack()) })
	}
}

// raise panics if one of the goroutines did. It is called when all have ended.
func (c *crash) raise() {
	if c.text != "" {
		panic(c.text)
	}
}
