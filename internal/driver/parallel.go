package driver

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"heddle/internal/ir"
)

// each examines several kernels at a time. What a kernel reports comes in the order of the kernels,
// for any number of workers: a job that has something to report waits for those before it (Turn),
// so that its effects on the state of the run (findings, verdicts, which comments and baselines are
// used) are those of one worker. A job without findings waits only at its end.
func (d *Driver) each(m *Module, kernels []*ir.Func, work func(*Job)) {
	n := d.opt.Workers
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	n = max(min(n, len(kernels)), 1)
	var crash crash
	var wg sync.WaitGroup
	slots := make(chan struct{}, n)
	var before chan struct{}
	for _, k := range kernels {
		job := d.Job(m, k)
		job.sum, job.before = &Summary{}, before
		done := make(chan struct{})
		before = done
		slots <- struct{}{}
		wg.Go(func() {
			defer func() {
				job.Turn()
				d.sum.add(job.sum)
				close(done)
				<-slots
			}()
			defer crash.keep()
			job.logged(work)
		})
	}
	wg.Wait()
	crash.raise()
}

// crash carries the first panic of several goroutines to the one that waits for them, where it can
// be reported.
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
