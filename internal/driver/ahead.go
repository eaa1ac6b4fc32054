package driver

import (
	"context"
	"sync"
	"time"

	"heddle/internal/crash"
	"heddle/internal/lower"
)

// Files are examined one after the other, and compiled some files ahead: most of the time of a small
// file is that of the compiler, whose processes wait for each other. What a file reports, it
// reports when it is examined, so that the output does not depend on how far ahead this is.

// compiled is what lowering a file gave.
type compiled struct {
	results []*lower.Result
	err     error
	took    time.Duration
}

// ahead compiles files in their order.
type ahead struct {
	ctx     context.Context
	files   []chan compiled // each gets one value
	slots   chan struct{}   // for files that are being compiled, or compiled and not examined
	working sync.WaitGroup
	crash   crash.First
}

// compileAhead begins to compile the files, on all cores that the run may use.
func (d *Driver) compileAhead(ctx context.Context, inputs []Input) *ahead {
	a := &ahead{ctx: ctx, files: make([]chan compiled, len(inputs)),
		slots: make(chan struct{}, d.opt.Cores())}
	for i := range a.files {
		a.files[i] = make(chan compiled, 1)
	}
	opt := d.opt.Lower
	a.working.Go(func() {
		for i, file := range inputs {
			select {
			case a.slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			a.working.Go(func() {
				var c compiled
				defer func() { a.files[i] <- c }() // nothing after a panic, which end passes on
				defer a.crash.Keep()
				c = compile(ctx, file, opt)
			})
		}
	})
	return a
}

// compile lowers one file.
func compile(ctx context.Context, file Input, opt lower.Options) compiled {
	start := time.Now()
	results, err := lower.Lower(ctx, file.Input, opt)
	return compiled{results, err, time.Since(start)}
}

// take returns what was compiled of file i, once it is.
func (a *ahead) take(i int) compiled {
	select {
	case c := <-a.files[i]:
		<-a.slots
		return c
	case <-a.ctx.Done():
		return compiled{err: a.ctx.Err()}
	}
}

// end waits for the compilers, which a cancelled run stops.
func (a *ahead) end() {
	a.working.Wait()
	a.crash.Raise()
}
