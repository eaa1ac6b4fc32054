package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"heddle/internal/remote/rpc"
)

// CommandError says that the program ended with an exit code on a worker.
type CommandError struct {
	Exit   int32
	Stderr string // its last line
}

// Error implements error.
func (e *CommandError) Error() string {
	text := fmt.Sprintf("the command ended with exit code %d on the worker", e.Exit)
	if e.Stderr != "" {
		text += ": " + e.Stderr
	}
	return text
}

// ExitUnfit is the exit code by which the program says that the worker lacks what all actions need,
// such as a solver.
const ExitUnfit = 78

// UnfitError says that the workers lack what all actions need.
type UnfitError struct{ Why string }

// Error implements error.
func (e *UnfitError) Error() string { return "the workers cannot be used: " + e.Why }

// Delays between executions of an action, ten seconds in all: workers report as lost what they began
// while the storage is restarted.
const (
	firstRepeat = 250 * time.Millisecond
	mostRepeat  = 4 * time.Second
)

// execute has a worker execute an action, and again if the worker or one of the blobs is lost.
// damaged says that the cached result cannot be used.
func (s *Service) execute(ctx context.Context, a *Action, p *prepared, damaged bool) ([]byte, error) {
	delay := firstRepeat
	var err error
	for range mostAttempts {
		if err != nil {
			s.stats.repeated.Add(1)
			if !pause(ctx, delay) {
				return nil, err
			}
			delay = min(4*delay, mostRepeat)
		}
		if err = s.store.upload(ctx, p.blobs); err != nil {
			return nil, err
		}
		var r response
		if r, err = s.wait(ctx, p.digest, a.Output, damaged); err != nil {
			var lost *lostError
			if !errors.As(err, &lost) {
				return nil, err
			}
			s.store.forget() // it may have lost what it had
			continue
		}
		if r.result.exit != 0 {
			return nil, commandError(r.result)
		}
		var out []byte
		if out, err = s.output(ctx, a, r.result); err == nil {
			if r.cached {
				s.stats.cached.Add(1)
			} else {
				s.stats.executed.Add(1)
			}
			return out, nil
		}
		if !unusable(err) {
			return nil, err
		}
		if damaged { // the storage keeps the damaged bytes under the digest of the right ones
			break
		}
		damaged = true // the next attempt computes it again
	}
	var lost *lostError
	if errors.As(err, &lost) {
		err = fmt.Errorf("%d attempts failed, the last one because %s", mostAttempts, lost.err)
	}
	return nil, err
}

// commandError describes a result with an exit code.
func commandError(o *outcome) error {
	lines := strings.Split(strings.TrimSpace(string(o.stderr)), "\n")
	last := lines[len(lines)-1]
	if o.exit == ExitUnfit {
		return &UnfitError{last}
	}
	return &CommandError{o.exit, last}
}

// lostError says that an execution was lost, and that another one may succeed.
type lostError struct{ err error }

// Error implements error.
func (e *lostError) Error() string { return e.err.Error() }

// wait asks for the execution of an action and waits for its end. A stream that breaks is followed
// up by WaitExecution; if the server has forgotten the operation, because it was restarted, or
// reports that the worker was lost, the error is a *lostError.
func (s *Service) wait(ctx context.Context, action digest, output string, skipCache bool) (
	response, error) {
	var start writer
	start.text(1, s.store.instance)
	start.bool(3, skipCache)
	start.message(6, action.marshal())
	start.each(12, output)
	var last operation
	// While a stream is open the server need not send anything, so what counts is when it broke.
	var failing time.Time
	answered := false
	follow := func(message []byte) error {
		op, err := readOperation(message)
		if err == nil {
			last, answered = op, true
		}
		return err
	}
	first := true
	err := s.store.retrySince(ctx, s.opt.Deadline, &failing, func(ctx context.Context) error {
		method, request := api+"Execution/Execute", start
		if last.name != "" {
			method, request = api+"Execution/WaitExecution", nil
			request.text(1, last.name)
		} else if !first {
			s.stats.repeated.Add(1)
		}
		first, answered = false, false
		err := s.store.conn.Stream(ctx, method, request, follow)
		if answered {
			failing = time.Time{}
		}
		switch {
		case err == nil && !last.done:
			return &rpc.Error{Code: rpc.Unavailable, Message: "the server ended the stream of an " +
				"operation before the operation"}
		case last.done:
			return nil
		case rpc.CodeOf(err) == rpc.NotFound && last.name != "":
			last = operation{} // it was restarted
			return &rpc.Error{Code: rpc.Unavailable, Message: "the server has forgotten the operation"}
		case rpc.CodeOf(err) == rpc.FailedPrecondition, rpc.CodeOf(err) == rpc.NotFound:
			return &lostError{err} // it lacks blobs
		}
		return err
	})
	if err != nil {
		return response{}, err
	}
	if last.failure != nil {
		return response{}, ended(last.failure)
	}
	r, err := readResponse(last.response)
	switch {
	case err != nil:
		return response{}, err
	case r.status != nil:
		return response{}, ended(r.status)
	case r.result == nil:
		return response{}, &lostError{errors.New("the server reports success without a result")}
	}
	return r, nil
}

// ended returns the error of an operation that has ended without a result. Those that say that the
// action itself is at fault are final.
func ended(err error) error {
	switch rpc.CodeOf(err) {
	case rpc.InvalidArgument, rpc.DeadlineExceeded, rpc.PermissionDenied, rpc.Unauthenticated,
		rpc.Unimplemented, rpc.ResourceExhausted:
		return err
	}
	return &lostError{err}
}
