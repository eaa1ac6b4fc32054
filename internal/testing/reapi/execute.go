package reapi

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"
)

// operation is one execution.
type operation struct {
	name     string
	action   *repb.Digest
	inline   []string
	response *repb.ExecuteResponse // not nil: it has ended
	done     chan struct{}         // closed with response
	broken   chan struct{}         // closed to end its streams
	waiters  int
	canceled bool // nobody waits any more
}

// stream is what both methods of Execution send to.
type stream interface {
	Send(*longrunningpb.Operation) error
	Context() context.Context
}

// Execute implements Execution.
func (s *Server) Execute(r *repb.ExecuteRequest, to repb.Execution_ExecuteServer) error {
	if r.InstanceName != s.opt.Instance {
		return status.Errorf(codes.InvalidArgument, "no instance %q", r.InstanceName)
	}
	op := &operation{action: r.ActionDigest, inline: r.InlineOutputFiles,
		done: make(chan struct{}), broken: make(chan struct{})}
	if r.SkipCacheLookup {
		s.Counts.SkipCache.Add(1)
	} else if got := s.store.result(r.ActionDigest); got != nil {
		op.response = &repb.ExecuteResponse{Result: s.inline(got, op.inline), CachedResult: true}
		close(op.done)
	}
	if op.response == nil {
		if missing := s.missing(r.ActionDigest); missing != "" {
			return status.Error(codes.FailedPrecondition, missing)
		}
	}
	s.mu.Lock()
	op.name = s.name()
	s.operations[op.name] = op
	if op.response == nil {
		s.queue = append(s.queue, op)
	}
	s.mu.Unlock()
	s.signal()
	return s.follow(op, to)
}

// WaitExecution implements Execution.
func (s *Server) WaitExecution(r *repb.WaitExecutionRequest, to repb.Execution_WaitExecutionServer) error {
	s.Counts.Waits.Add(1)
	s.mu.Lock()
	op := s.operations[r.Name]
	s.mu.Unlock()
	if op == nil {
		return status.Error(codes.NotFound, "no such operation")
	}
	return s.follow(op, to)
}

// missing names what the store lacks of an action.
func (s *Server) missing(action *repb.Digest) string {
	var a repb.Action
	var c repb.Command
	var root repb.Directory
	if !s.store.message(action, &a) || !s.store.message(a.CommandDigest, &c) ||
		!s.store.message(a.InputRootDigest, &root) {
		return "the action, its command or its input root is missing"
	}
	for _, f := range root.Files {
		if _, ok := s.store.get(f.Digest.Hash); !ok {
			return "an input is missing: " + f.Name
		}
	}
	return ""
}

// signal wakes a worker.
func (s *Server) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// follow sends the state of an operation until it ends. An operation that nobody follows is
// canceled.
func (s *Server) follow(op *operation, to stream) error {
	s.mu.Lock()
	op.waiters++
	broken := op.broken
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if op.waiters--; op.waiters == 0 && errors.Is(to.Context().Err(), context.Canceled) &&
			s.ctx.Err() == nil {
			op.canceled = true
			if cancel := s.running[op]; cancel != nil {
				cancel(context.Canceled)
			}
		}
	}()
	if err := to.Send(&longrunningpb.Operation{Name: op.name}); err != nil {
		return err
	}
	select {
	case <-op.done:
	case <-broken:
		return status.Error(codes.Unavailable, "the stream was broken")
	case <-to.Context().Done():
		return to.Context().Err()
	}
	response, err := anypb.New(op.response)
	if err != nil {
		return err
	}
	return to.Send(&longrunningpb.Operation{Name: op.name, Done: true,
		Result: &longrunningpb.Operation_Response{Response: response}})
}

// work is one worker: it executes queued operations until the server ends.
func (s *Server) work() {
	for {
		s.mu.Lock()
		var op *operation
		for len(s.queue) > 0 && op == nil {
			op, s.queue = s.queue[0], s.queue[1:]
			if op.canceled {
				op = nil
			}
		}
		var ctx context.Context
		var cancel context.CancelCauseFunc
		if op != nil {
			ctx, cancel = context.WithCancelCause(s.ctx)
			s.running[op] = cancel
		}
		more := len(s.queue) > 0
		s.mu.Unlock()
		if more {
			s.signal()
		}
		if op == nil {
			select {
			case <-s.wake:
				continue
			case <-s.ctx.Done():
				return
			}
		}
		response := s.perform(ctx, op)
		cancel(nil)
		s.mu.Lock()
		delete(s.running, op)
		op.response = response
		s.mu.Unlock()
		close(op.done)
	}
}

// perform executes the command of an operation and stores its result.
func (s *Server) perform(ctx context.Context, op *operation) *repb.ExecuteResponse {
	failed := func(code codes.Code, text string) *repb.ExecuteResponse {
		return &repb.ExecuteResponse{Status: status.New(code, text).Proto()}
	}
	var a repb.Action
	var c repb.Command
	var root repb.Directory
	if !s.store.message(op.action, &a) || !s.store.message(a.CommandDigest, &c) ||
		!s.store.message(a.InputRootDigest, &root) {
		return failed(codes.FailedPrecondition, "an input is missing")
	}
	dir, err := os.MkdirTemp(s.dir, "action-*")
	if err != nil {
		return failed(codes.Internal, err.Error())
	}
	defer os.RemoveAll(dir)
	for _, f := range root.Files {
		data, ok := s.store.get(f.Digest.Hash)
		if !ok {
			return failed(codes.FailedPrecondition, "an input is missing: "+f.Name)
		}
		if err := s.place(filepath.Join(dir, f.Name), f, data); err != nil {
			return failed(codes.Internal, err.Error())
		}
	}
	cmd := exec.CommandContext(ctx, c.Arguments[0], c.Arguments[1:]...)
	if !filepath.IsAbs(cmd.Path) {
		cmd.Path = filepath.Join(dir, c.Arguments[0])
		cmd.Err = nil
	}
	cmd.Dir, cmd.Env = dir, []string{}
	for _, v := range c.EnvironmentVariables {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Run()
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errKilled):
		s.Counts.Killed.Add(1)
		return failed(codes.Unavailable, "the worker disappeared while it executed the action")
	case cause != nil:
		s.Counts.Canceled.Add(1)
		return failed(codes.Canceled, cause.Error())
	case cmd.ProcessState == nil:
		return failed(codes.Internal, err.Error())
	}
	s.Counts.Executed.Add(1)
	result := &repb.ActionResult{ExitCode: int32(cmd.ProcessState.ExitCode()), StderrRaw: stderr.Bytes()}
	for _, path := range c.OutputPaths {
		data, err := os.ReadFile(filepath.Join(dir, path))
		if err == nil {
			result.OutputFiles = append(result.OutputFiles,
				&repb.OutputFile{Path: path, Digest: s.store.put(data)})
		}
	}
	if result.ExitCode == 0 && !a.DoNotCache {
		s.store.keep(op.action, result)
	}
	return &repb.ExecuteResponse{Result: s.inline(result, op.inline)}
}

// place writes an input. Executables are large and the same for all actions: they are links to one
// copy, as in the caches of real workers.
func (s *Server) place(path string, f *repb.FileNode, data []byte) error {
	if !f.IsExecutable {
		return os.WriteFile(path, data, 0o400)
	}
	one, _ := s.programs.LoadOrStore(f.Digest.Hash, sync.OnceValues(func() (string, error) {
		kept := filepath.Join(s.dir, f.Digest.Hash)
		return kept, os.WriteFile(kept, data, 0o500)
	}))
	kept, err := one.(func() (string, error))()
	if err != nil {
		return err
	}
	return os.Link(kept, path)
}
