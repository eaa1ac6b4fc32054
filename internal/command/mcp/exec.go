package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/source"
)

// program is how the program of exec ended.
type program struct {
	Code        int      `json:"program_exit_code"`
	Ended       string   `json:"ended,omitempty"`
	Launches    uint64   `json:"launches"`
	Unsupported []string `json:"unsupported_functions,omitempty"`
	Output      string   `json:"output,omitempty"`
}

// mostOutput bounds the bytes of a program's output that a result has.
const mostOutput = 8000

// exec answers a call of exec.
func (s *Server) exec(ctx context.Context, _ *call, in *execInput) (*answer, error) {
	if in.Path == "" {
		return nil, errors.New("no source; give the path of a CUDA C++ file with a main function")
	}
	path, err := s.roots.find(in.Path)
	if err != nil {
		return nil, err
	}
	low, err := s.compile(in.Defines, in.Includes, in.Arch)
	if err != nil {
		return nil, err
	}
	if !s.opt.Trust {
		file := driver.Input{Input: lower.Input{Name: path}}
		if err := s.checkIncludes(&file, &low); err != nil {
			return nil, err
		}
	}
	var found collected
	files := source.NewSet()
	var printed output
	p := &Program{File: path, Args: in.Args, Lower: low, Output: &printed,
		Printer: func(set *source.Set) diag.Printer { files = set; return &found }}
	if err := s.opt.Program(ctx, p); err != nil {
		return nil, err
	}
	out := found.report(files, worst(found.verdicts, false), false)
	out.Program = &program{p.Code, p.Ended, p.Launches, p.Unsupported, printed.String()}
	e := &examination{tool: "exec", code: &codeInput{Path: in.Path}, collected: found}
	if out.Verdict == diag.Bug.String() {
		out.Next = e.nextOfBug(out, map[string]any{"path": in.Path})
	}
	text := found.text(out, files, false)
	if p.Ended != "" {
		text += fmt.Sprintf("program: %s\n", p.Ended)
	}
	return &answer{object: out, text: text}, nil
}

// output keeps the first bytes of what a program prints.
type output struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, b[:min(len(b), mostOutput-len(o.text))]...)
	return len(b), nil
}

// String returns what was kept.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.ToValidUTF8(string(o.text), "\uFFFD")
}
