package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"heddle/internal/assume"
	"heddle/internal/diag"
)

// What a text in the arguments of a next call stands for.
const (
	sameText    = "<the text of this call>"
	patchedText = "<the patched text>"

	realGrid     = "<blocks of the grid>"
	realBlock    = "<threads of a block>"
	realArgument = "<NAME=VALUE for each argument>"
)

// parseAssumption reads one element of assume.
func parseAssumption(text string) (*assume.Expr, error) { return assume.Parse(text) }

// arguments returns the arguments of a call as JSON.
func (n *next) arguments() string {
	text, err := json.Marshal(n.Arguments)
	if err != nil {
		panic(err) // strings, numbers and arrays of strings
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
}

// again returns the arguments of a call for another one about the same source. Those that only the
// tool of this call has are left out.
func again(given any, only ...string) map[string]any {
	text, err := json.Marshal(given)
	if err != nil {
		panic(err) // strings, numbers and arrays of strings
	}
	out := map[string]any{}
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	for _, name := range only {
		delete(out, name)
	}
	if _, ok := out["text"]; ok {
		out["text"] = sameText
	}
	return out
}

// with returns arguments with one more.
func with(args map[string]any, name string, value any) map[string]any {
	args = maps.Clone(args)
	args[name] = value
	return args
}

// nextOfCheck returns the calls that make sense after one of check, verify or trace.
func (s *Server) nextOfCheck(e *examination, out *report, limit time.Duration) []next {
	same := again(e.given, "assume")
	switch out.Verdict {
	case diag.Bug.String():
		return e.nextOfBug(out, same)
	case diag.Clean.String():
		if e.tool != "verify" {
			return []next{{"verify", same, "tries to prove that no input and no schedule shows a bug"}}
		}
	case diag.Unknown.String():
		return s.nextOfUnknown(e, out, limit)
	case diag.Unsupported.String():
		if e.tool != "check" {
			return []next{{"check", numbers(same), "looks for a bug by running the kernel"}}
		}
	}
	return []next{}
}

// nextOfBug suggests a repair of the first bug, and its explanation.
func (e *examination) nextOfBug(out *report, same map[string]any) []next {
	list := []next{}
	for i := range out.Findings {
		if !out.Findings[i].isError() {
			continue
		}
		code, input := e.findings[i].Code, e.findings[i].Input
		if diag.Repairable(code, input) {
			args := numbers(same)
			if e.code.Path != "" { // which may be a directory
				args["path"] = input
			}
			list = append(list, next{"fix", args, "tries to find a repair and to verify it"})
		}
		return append(list, next{"explain", map[string]any{"topic": string(code)},
			"explains this kind of finding, with an example and its repair"})
	}
	return list
}

// nextOfUnknown suggests what may decide: more time, the launch that the kernel is meant for, or
// another engine. Without an idea it suggests nothing, so that an agent does not repeat itself.
func (s *Server) nextOfUnknown(e *examination, out *report, limit time.Duration) []next {
	switch {
	case len(out.Verdicts) == 0: // the source or the call has a mistake
		return []next{}
	case limit < s.opt.Timeout && strings.Contains(out.Verdicts[0].Reason, "time limit"):
		return []next{{e.tool, with(again(e.given), "timeout", int(s.opt.Timeout/time.Second)),
			"has more time"}}
	case e.guesses(out):
		args := again(e.given)
		args["grid"], args["block"] = realGrid, realBlock
		args["args"] = []string{realArgument}
		return []next{{e.tool, args, "examines the launch that the kernel is meant for, not a guess"}}
	case e.tool == "check":
		return []next{{"verify", again(e.given),
			"has more time for a proof, and takes assumptions (assume)"}}
	}
	return []next{}
}

// guesses reports whether findings say that the launch was guessed and matters.
func (e *examination) guesses(out *report) bool {
	return slices.ContainsFunc(out.Findings, func(f finding) bool {
		return len(f.Guessed) > 0 || f.Witness != nil && f.Witness.Status == diag.StatusGuess
	})
}

// numbers leaves out sizes that only verify accepts.
func numbers(args map[string]any) map[string]any {
	args = maps.Clone(args)
	for _, name := range []string{"grid", "block"} {
		if text, ok := args[name].(string); ok && strings.Contains(text, "*") {
			delete(args, name)
		}
	}
	return args
}
