package mcp

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/engine/trace"
	"heddle/internal/source"
)

// The tools check, verify and trace are one: they ask different engines.

// traced is what one block did in a trace.
type traced struct {
	Kernel    string `json:"kernel"`
	Block     string `json:"block"`
	Threads   int    `json:"threads"`
	Commands  uint64 `json:"commands"`
	Barriers  uint64 `json:"dynamic_barriers"`
	Addresses int    `json:"shared_addresses"`
}

// mostTraces bounds the blocks of a result.
const mostTraces = 20

// check answers a call of check.
func (s *Server) check(ctx context.Context, c *call, in *checkInput) (*answer, error) {
	return s.examine(ctx, c, &examination{tool: "check", code: &in.codeInput, launch: &in.launchInput,
		given: in, opt: check.Options{Mode: check.Check}})
}

// verify answers a call of verify.
func (s *Server) verify(ctx context.Context, c *call, in *verifyInput) (*answer, error) {
	e := &examination{tool: "verify", code: &in.codeInput, launch: &in.launchInput, given: in,
		opt: check.Options{Mode: check.Verify}, any: new(anyDims)}
	for _, text := range in.Assume {
		expr, err := parseAssumption(text)
		if err != nil {
			return nil, err
		}
		e.opt.Prove.Assume = append(e.opt.Prove.Assume, expr)
	}
	return s.examine(ctx, c, e)
}

// trace answers a call of trace.
func (s *Server) trace(ctx context.Context, c *call, in *traceInput) (*answer, error) {
	e := &examination{tool: "trace", code: &in.codeInput, launch: &in.launchInput, given: in,
		opt: check.Options{Mode: check.Trace}}
	e.opt.Run.Seeds = 1 // a trace covers all schedules
	e.opt.Trace.Stats = func(t trace.Stats) {
		if len(e.traces) < mostTraces {
			e.traces = append(e.traces, traced{t.Kernel, t.Block.String(), t.Threads, t.Commands,
				t.Barriers, t.Addresses})
		}
	}
	return s.examine(ctx, c, e)
}

// examination is one call of check, verify or trace.
type examination struct {
	tool   string
	code   *codeInput
	launch *launchInput
	given  any // the arguments, for the next call
	any    *anyDims
	opt    check.Options
	traces []traced
	collected
}

// collected are the findings and verdicts of a run. It implements diag.Printer.
type collected struct {
	findings []diag.Diagnostic
	verdicts []diag.Verdict
}

// Finding implements diag.Printer.
func (c *collected) Finding(d *diag.Diagnostic) error {
	c.findings = append(c.findings, *d)
	return nil
}

// Verdict implements diag.Printer.
func (c *collected) Verdict(v *diag.Verdict) error {
	c.verdicts = append(c.verdicts, *v)
	return nil
}

// Close implements diag.Printer.
func (c *collected) Close() error { return nil }

// examine runs the engines for a call.
func (s *Server) examine(ctx context.Context, c *call, e *examination) (*answer, error) {
	common, inputs, err := s.prepare(c, e.code, e.launch, e.any)
	if err != nil {
		return nil, err
	}
	e.opt.Options = common
	if e.any != nil {
		e.opt.Prove.Any.Grid, e.opt.Prove.Any.Block = e.any.grid, e.any.block
	}
	sum, err := check.Inputs(ctx, e.opt, inputs, func(d diag.Diagnostic) { _ = e.Finding(&d) })
	if err != nil {
		return nil, err
	}
	e.verdicts = sum.Verdicts
	inline := e.code.Path == ""
	out := e.report(sum.Files, worst(sum.Verdicts, sum.InputErrors > 0 || sum.Skipped > 0 &&
		len(sum.Verdicts) == 0), inline)
	out.Traces = e.traces
	out.Next = s.nextOfCheck(e, out, c.limit)
	text := e.text(out, sum.Files, inline)
	// Nothing was examined because of a mistake in the call or in the source.
	failed := sum.InputErrors > 0 && !slices.ContainsFunc(sum.Verdicts, examined)
	return &answer{object: out, text: text, failed: failed}, nil
}

// examined reports whether a verdict is on a kernel that was looked at.
func examined(v diag.Verdict) bool { return v.Kernel != "" }

// report returns the object for what was collected.
func (c *collected) report(files *source.Set, kind diag.VerdictKind, inline bool) *report {
	out := &report{Schema: SchemaVersion, Verdict: kind.String(), Verdicts: []verdict{},
		Findings: []finding{}, Next: []next{}}
	// A finding keeps its place among those of its severity.
	slices.SortStableFunc(c.findings, func(a, b diag.Diagnostic) int {
		return cmp.Compare(b.Severity, a.Severity)
	})
	out.Findings = c.objects(files, inline)
	out.Verdicts = fitting(len(c.verdicts), mostVerdicts, func(i int) verdict {
		return verdictOf(&c.verdicts[i], files)
	})
	n, m := len(c.findings)-len(out.Findings), len(c.verdicts)-len(out.Verdicts)
	if n > 0 || m > 0 {
		out.Truncated = fmt.Sprintf("%d findings and %d verdicts are left out; give a file instead of "+
			"a directory, or name one kernel", n, m)
	}
	return out
}

// objects returns the objects of the first findings. The command that reproduces a finding would
// need a text in a file.
func (c *collected) objects(files *source.Set, inline bool) []finding {
	return fitting(len(c.findings), mostFindings, func(i int) finding {
		if inline {
			c.findings[i].Reproduce = ""
		}
		return findingOf(&c.findings[i], files)
	})
}

// text returns the report for those who read text only: what heddle check prints.
func (c *collected) text(out *report, files *source.Set, inline bool) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %s\n\n", out.Verdict, counts(out))
	p := diag.NewText(&b, files, false)
	for i := range out.Findings {
		_ = p.Finding(&c.findings[i]) // a buffer has no errors
	}
	p.Verbose = true // with what a verdict assumes
	for i := range out.Verdicts {
		_ = p.Verdict(&c.verdicts[i])
	}
	_ = p.Close()
	return endText(b.String(), out.Truncated, out.Next)
}

// counts sums a report up.
func counts(out *report) string {
	errors := 0
	for i := range out.Findings {
		if out.Findings[i].isError() {
			errors++
		}
	}
	return fmt.Sprintf("%s, %s", counted(len(out.Verdicts), "verdict"), counted(errors, "error"))
}

// counted returns a number with its noun.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// endText bounds a text and adds what was left out and the next calls.
func endText(text, truncated string, list []next) string {
	text, short := shorten(strings.TrimRight(text, "\n")+"\n", mostText)
	if short {
		text += "... (the rest is in the structured content)\n"
	}
	if truncated != "" {
		text += "truncated: " + truncated + "\n"
	}
	for _, n := range list {
		text += "next: " + n.Tool + " " + n.arguments() + ": " + n.Why + "\n"
	}
	return text
}
