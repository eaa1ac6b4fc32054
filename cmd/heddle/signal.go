package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// A command ends early for three causes, each the cause of its context: a signal, output that
// cannot be written, and --total-timeout. It then stops the engines and the programs that it
// started, removes its temporary directories and prints what it has.

// exitSignal is what shells add to the number of a signal in the exit code of a program that it
// ended.
const exitSignal = 128

// signalNames are the signals that end a command early.
var signalNames = map[syscall.Signal]string{
	syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP",
}

// signalError is the cause of a context that a signal ended.
type signalError struct{ syscall.Signal }

// Error is a clause that verdicts quote.
func (e signalError) Error() string { return "the run was interrupted by " + signalNames[e.Signal] }

// impatience is the time after a signal from which on a further one ends the process at once. An
// earlier one is the same again: timeout(1) sends its signal to the process and to its group.
const impatience = time.Second

// catchSignals cancels with a signalError at the first signal. A later one ends the process. SIGHUP
// stays ignored where it is already (nohup). The function that it returns ends that.
//
// SIGPIPE is caught as well, with no effect of its own: the default would end the process without
// removing anything. A pipe without a reader shows itself as an error of writing (output), which
// also tells the pipe of the results from that of a solver.
func catchSignals(cancel context.CancelCauseFunc) (stop func()) {
	caught, pipe := make(chan os.Signal, 1), make(chan os.Signal, 1)
	for sig := range signalNames {
		if sig != syscall.SIGHUP || !signal.Ignored(sig) {
			signal.Notify(caught, sig)
		}
	}
	signal.Notify(pipe, syscall.SIGPIPE)
	go func() {
		first, ok := <-caught
		if !ok {
			return
		}
		number, _ := first.(syscall.Signal)
		cancel(signalError{number})
		for start := time.Now(); ; {
			if _, ok := <-caught; !ok {
				return
			}
			if time.Since(start) > impatience {
				os.Exit(exitSignal + int(number))
			}
		}
	}()
	return func() {
		signal.Stop(caught)
		signal.Stop(pipe)
		close(caught)
	}
}

// errOutput is the cause of a context that ends because the output cannot be written.
var errOutput = errors.New("the results cannot be written")

// output is the standard output of a command. After the first error of writing, which it keeps, it
// ends the command: work whose results nobody can see is in vain. It is safe for concurrent use.
type output struct {
	w      io.Writer
	cancel context.CancelCauseFunc

	mu  sync.Mutex
	err error
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(b)
	if err != nil {
		o.err = err
		o.cancel(errOutput)
	}
	return n, err
}

// failure is the first error of writing.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Fd is the descriptor of the file below, for questions about the terminal.
func (o *output) Fd() uintptr { return descriptor(o.w) }

// descriptor returns the file descriptor of a stream; one that no file has if it is not a file,
// such as a buffer of a test.
func descriptor(w any) uintptr {
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// bestEffort is a stream for what accompanies the results: an error of writing to it changes
// neither the results nor the exit code.
type bestEffort struct{ io.Writer }

// Write implements io.Writer.
func (b bestEffort) Write(p []byte) (int, error) {
	_, _ = b.Writer.Write(p)
	return len(p), nil
}

// Fd is the descriptor of the file below.
func (b bestEffort) Fd() uintptr { return descriptor(b.Writer) }

// input is the standard input of a command, whose reads end with the context: a terminal or a pipe
// may never send a byte.
type input struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader. A read that the end of the context interrupts stays blocked in the
// background, with a buffer of its own.
func (in input) Read(b []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, context.Cause(in.ctx)
	}
	type result struct {
		n   int
		err error
	}
	own, done := make([]byte, min(len(b), 1<<16)), make(chan result, 1)
	go func() {
		n, err := in.r.Read(own)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(b, own[:r.n]), r.err
	case <-in.ctx.Done():
		return 0, context.Cause(in.ctx)
	}
}

// totalTime is the cause of a context that --total-timeout ended.
type totalTime time.Duration

// Error is a clause that verdicts quote.
func (t totalTime) Error() string {
	return "the total time limit of " + time.Duration(t).String() + " was reached"
}

// limited returns a context that ends after a time, 0 for never, with totalTime as its cause.
func limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, totalTime(d))
}
