// Package mcp is heddle mcp: a server of the Model Context Protocol, for agents that write kernels.
//
// Each tool is one question about the kernels of a file or of a text: check, verify, trace, fix,
// explain, and exec if the user allows it. The arguments of a call become the options of the
// package that answers (check, command/fix), and findings and verdicts become objects with the
// fields of docs/json.md. docs/agents.md describes the tools for their users.
//
// A call is confined. It reads files below the roots only (roots.go), which holds for what its
// input names, too: headers (include.go), the files of arguments and of positions
// (driver.Options.MayRead), the configuration. It ends after a time, with what it has found by then
// (call.go). A panic of an engine is an error of the call. Nothing but messages of the protocol is
// written to the output (transport.go).
//
// In flow Options and two streams; out flow answers. What only the command line knows, such as the
// configuration of a project, comes in as functions. Only the command line imports this package.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/source"
)

// DefaultTimeout is the time after which a call ends.
const DefaultTimeout = time.Minute

// mostCalls bounds the calls that run at a time when Options.Jobs does not: each may need as much
// memory as a run of heddle check.
const mostCalls = 4

// Options are the choices of the user who starts the server. A call cannot change them.
type Options struct {
	Roots   []string      // directories whose files calls may name
	Trust   bool          // files below the roots may name files outside
	Timeout time.Duration // of a call; 0: DefaultTimeout
	Jobs    int           // calls that run at a time; 0: one for each core, at most mostCalls
	Lower   lower.Options // the compiler; a call adds its own definitions and directories
	Version string        // of heddle
	Log     func(string)  // for the user; one line without an end

	// Project returns the files at a path, which is a file or a directory, and applies the
	// configuration of their project to opt, unless mayRead forbids to read it. Mistakes in the
	// configuration go to report.
	Project func(path string, opt *driver.Options, mayRead func(string) bool,
		report func(diag.Diagnostic)) ([]driver.Input, error)
	// Explain writes the explanation of a code or a term, or the list of all if the name is empty.
	Explain func(w io.Writer, name string) error
	// Program builds and runs a program with the rights of the user. nil: calls must not.
	Program func(context.Context, *Program) error
}

// Program is a program to build and run under detection, and what became of it.
type Program struct {
	File  string   // CUDA C++
	Args  []string // of the program
	Lower lower.Options
	// Printer returns the printer of the findings and verdicts.
	Printer func(*source.Set) diag.Printer
	Output  io.Writer // both streams of the program; safe for concurrent use

	Ended       string   // how the program ended, unless it returned 0
	Code        int      // its exit code
	Unsupported []string // functions of the CUDA runtime that it called in vain
	Launches    uint64   // of its kernels
}

// Server answers calls.
type Server struct {
	opt   Options
	roots *roots
	slots chan struct{} // one element for each call that runs
	mcp   *sdk.Server
	end   context.Context // ends the calls; set by Serve
}

// instructions tell an agent how to use the tools.
const instructions = `heddle finds data races, barrier divergence and deadlock in GPU kernels
(CUDA, OpenCL, PTX, LLVM IR) without a GPU, and proves their absence. After writing or changing a
kernel: call check. On "bug", call fix, or change the kernel as the finding says, and check again.
On "clean" or "unknown", call verify for a proof, with the launch that the kernel is meant for.
Stop at "verified", or when a call repeats the last verdict. Each result has "next" with the call
that makes sense then. Flags in messages are fields of calls: --arg n=1 is "args": ["n=1"].`

// New returns a server. It fails if a root is not a directory.
func New(opt Options) (*Server, error) {
	if opt.Timeout == 0 {
		opt.Timeout = DefaultTimeout
	}
	if opt.Jobs == 0 {
		opt.Jobs = min(runtime.GOMAXPROCS(0), mostCalls)
	}
	if opt.Log == nil {
		opt.Log = func(string) {}
	}
	low := &opt.Lower
	r, err := openRoots(opt.Roots, slices.Concat(low.Includes, low.Systems,
		[]string{low.CCCL, low.CUDAPath}))
	if err != nil {
		return nil, err
	}
	s := &Server{opt: opt, roots: r, slots: make(chan struct{}, opt.Jobs), end: context.Background()}
	s.mcp = sdk.NewServer(&sdk.Implementation{Name: "heddle", Title: "heddle", Version: opt.Version},
		&sdk.ServerOptions{
			Instructions: instructions,
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		})
	s.addTools()
	return s, nil
}

// Calls returns how many calls run at a time.
func (s *Server) Calls() int { return cap(s.slots) }

// Serve answers the calls that it reads from in until that ends, which cancels the calls that are
// running: nobody is left to read their answers. It returns nil then, and the cause of ctx if that
// ends first.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	end, cancel := context.WithCancel(ctx)
	defer cancel()
	s.end = end
	err := s.mcp.Run(ctx, newTransport(in, out, cancel))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil, errors.Is(err, io.EOF):
		return nil
	}
	return fmt.Errorf("the connection failed: %w", err)
}
