package mcp

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"heddle/internal/driver"
)

// answer is the result of a call: an object with the output schema of the tool, the same for those
// who read text only, and whether the tool could not do its work.
type answer struct {
	object any
	text   string
	failed bool
}

// result returns the message for an answer.
func (a *answer) result() *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: a.text}},
		StructuredContent: a.object, IsError: a.failed}
}

// call is one call while it runs.
type call struct {
	progress *progress
	limit    time.Duration
}

// timed is the input of a tool, which may ask for a time.
type timed interface{ seconds() int }

// handler returns the handler of a tool, which decodes the arguments, waits for its turn, limits
// the time, and turns errors and panics into results that the agent sees.
func handler[In any, P interface {
	*In
	timed
}](s *Server, name string, known []string,
	work func(context.Context, *call, P) (*answer, error)) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (res *sdk.CallToolResult, err error) {
		defer func() {
			if p := recover(); p != nil {
				res, err = failure(s.crashed(name, p)), nil
			}
		}()
		in := P(new(In))
		if err := decode(name, req.Params.Arguments, known, in); err != nil {
			return failure(err), nil
		}
		if n := in.seconds(); n < 0 {
			return failure(fmt.Errorf("timeout: %d; expected a number of seconds above 0", n)), nil
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if !quick(in) {
			defer context.AfterFunc(s.end, cancel)()
		}
		c := &call{limit: s.limit(in.seconds()), progress: startProgress(ctx, req, name)}
		defer c.progress.stop()
		done, ok := s.turn(ctx, in)
		if !ok {
			return nil, errCancelled
		}
		defer done()
		limited, cancelTime := context.WithTimeoutCause(ctx, c.limit, callLimit(c.limit))
		defer cancelTime()
		out, err := work(limited, c, in)
		switch {
		case ctx.Err() != nil:
			return nil, errCancelled
		case err != nil:
			return failure(err), nil
		}
		return out.result(), nil
	}
}

// errCancelled ends a call that the client has cancelled or whose client is gone. The protocol asks
// for no answer, and the transport sends none.
var errCancelled = &jsonrpc.Error{Code: codeCancelled, Message: "the call was cancelled"}

// quick reports whether a call only looks something up. It needs no turn, and is answered also if
// the input ends meanwhile.
func quick(in timed) bool {
	_, ok := in.(*explainInput)
	return ok
}

// turn waits until a call may run, and returns what ends its turn. It returns false if the call is
// cancelled before.
func (s *Server) turn(ctx context.Context, in timed) (done func(), ok bool) {
	if quick(in) {
		return func() {}, true
	}
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots }, true
	case <-ctx.Done():
		return nil, false
	}
}

// workers is how many kernels a call examines at a time.
func (s *Server) workers() int { return max(1, runtime.GOMAXPROCS(0)/cap(s.slots)) }

// callLimit is the cause of the end of a call that takes too long.
type callLimit time.Duration

// Error is a clause that verdicts quote.
func (l callLimit) Error() string {
	return fmt.Sprintf("the time limit of %v of this call was reached", time.Duration(l))
}

// failure is the result of a call that could not do its work.
func failure(err error) *sdk.CallToolResult {
	return (&answer{text: "error: " + err.Error(), failed: true}).result()
}

// crashed reports a panic, which is a bug in heddle, to the user, and returns what the agent is
// told.
func (s *Server) crashed(tool string, p any) error {
	text := fmt.Sprint(p)
	s.opt.Log(fmt.Sprintf("internal error in a call of %s: %s\n%s", tool, text, debug.Stack()))
	first, _, _ := strings.Cut(text, "\n") // the driver adds the stack of its goroutine
	return fmt.Errorf("internal error: %s. This is a bug in heddle, not in the kernel; other calls "+
		"are not affected. The standard error of heddle mcp has the details for a report", first)
}

// progress tells the client once a second how far a call is, if the client asks for it.
type progress struct {
	mu   sync.Mutex
	text string
	done chan struct{}
	wait sync.WaitGroup
}

// progressInterval is the time between two notifications.
const progressInterval = time.Second

// startProgress begins to notify the client of a request.
func startProgress(ctx context.Context, req *sdk.CallToolRequest, text string) *progress {
	p := &progress{text: text, done: make(chan struct{})}
	token := req.Params.GetProgressToken()
	if token == nil {
		return p
	}
	began := time.Now()
	p.wait.Go(func() {
		tick := time.NewTicker(progressInterval)
		defer tick.Stop()
		for {
			select {
			case <-p.done:
				return
			case <-tick.C:
			}
			p.mu.Lock()
			text := p.text
			p.mu.Unlock()
			// A client that is gone ends the call by other means.
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token,
				Message: text, Progress: time.Since(began).Seconds()})
		}
	})
	return p
}

// show records what the driver reports.
func (p *progress) show(d driver.Progress) {
	text := fmt.Sprintf("%s: %s", d.Kernel, d.Engine)
	if d.Kernels > 1 {
		text = fmt.Sprintf("%d of %d kernels, %s", d.KernelsDone, d.Kernels, text)
	}
	if d.Blocks > 0 {
		text += fmt.Sprintf(", %d of %d blocks", d.BlocksDone, d.Blocks)
	}
	p.mu.Lock()
	p.text = text
	p.mu.Unlock()
}

// stop ends the notifications: none may follow the answer.
func (p *progress) stop() {
	close(p.done)
	p.wait.Wait()
}
