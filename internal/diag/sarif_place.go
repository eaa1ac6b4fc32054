package diag

import (
	"fmt"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"heddle/internal/source"
)

// srcRoot is the base of relative URIs.
const srcRoot = "%SRCROOT%"

// operation is one place of a finding and what happened there. thread is empty if the finding is
// not a race.
type operation struct {
	span   source.Span
	stack  []source.Frame
	text   string
	thread string
}

// operations returns the places of a finding in the order of execution: for a race, Related[0]
// holds the first access and Span the second.
func (d *Diagnostic) operations() []operation {
	text := d.Label
	if text == "" {
		text = d.Message
	}
	own := operation{span: d.Span, stack: d.Stack, text: text}
	var others []operation
	for _, r := range d.Related {
		others = append(others, operation{span: r.Span, stack: r.Stack, text: r.Message})
	}
	if w := d.Witness; w != nil && w.First.Op != "" && len(others) == 1 {
		others[0].text = "(1) " + w.First.Op + " by " + w.First.Thread
		others[0].thread = w.First.Thread
		own.text = "(2) " + w.Second.Op + " by " + w.Second.Thread
		own.thread = w.Second.Thread
		return []operation{others[0], own}
	}
	return append([]operation{own}, others...)
}

// location returns the location of a span. For an invalid span it returns the input as a whole, and
// nil if there is no input either.
func (s *SARIF) location(span source.Span, input string) *sarif.Location {
	name, r := placeOf(s.files, span, input)
	if name == "" {
		return nil
	}
	uri, below := s.paths.uri(name)
	at := sarif.NewArtifactLocation().WithURI(uri)
	if below {
		at.WithURIBaseID(srcRoot)
	}
	phys := sarif.NewPhysicalLocation().WithArtifactLocation(at)
	if r.line > 0 {
		reg := sarif.NewRegion().WithStartLine(r.line)
		if r.col > 0 {
			reg.WithStartColumn(r.col)
		}
		if r.endLine > 0 {
			reg.WithEndLine(r.endLine).WithEndColumn(r.endCol)
		}
		phys.WithRegion(reg)
	}
	return sarif.NewLocation().WithPhysicalLocation(phys)
}

// logical adds the function to a location.
func (s *SARIF) logical(l *sarif.Location, function string) {
	if function != "" {
		l.AddLogicalLocation(sarif.NewLogicalLocation().WithFullyQualifiedName(function).
			WithKind("function"))
	}
}

// stack returns the inline stack of an operation, innermost first (3.44), and nil for a single
// frame.
func (s *SARIF) stack(p operation) *sarif.Stack {
	if len(p.stack) < 2 {
		return nil
	}
	st := sarif.NewStack().WithMessage(message(p.text))
	for _, f := range p.stack {
		if l := s.frame(f); l != nil {
			st.AddFrame(sarif.NewStackFrame().WithLocation(l))
		}
	}
	if len(st.Frames) == 0 {
		return nil
	}
	return st
}

// frame returns the location of a stack frame with its function, or nil if it has none.
func (s *SARIF) frame(f source.Frame) *sarif.Location {
	l := s.location(source.Span{Start: f.Pos}, "")
	if l != nil {
		s.logical(l, f.Func)
	}
	return l
}

// codeFlow returns one thread flow for each of the two threads of a race (3.36, 3.37): the kernel's
// entry, the calls of the inline stack, and the access. The rest of the path is not recorded. The
// last step names the barrier interval of the access.
func (s *SARIF) codeFlow(d *Diagnostic) *sarif.CodeFlow {
	ops := d.operations()
	if len(ops) != 2 || ops[0].thread == "" {
		return nil
	}
	flow := sarif.NewCodeFlow().WithMessage(message(d.Message))
	for i, op := range ops {
		tf := sarif.NewThreadFlow().WithID(fmt.Sprintf("(%d) %s", i+1,
			op.thread)).WithMessage(message(op.thread))
		if l := s.location(d.Witness.Entry, ""); l != nil {
			s.logical(l, d.Kernel)
			tf.AddLocation(step(l, 0, op.thread+" enters the kernel", "enter", "function"))
		}
		depth := 0
		for j := len(op.stack) - 1; j > 0; j-- { // outermost first
			if l := s.frame(op.stack[j]); l != nil {
				depth++
				tf.AddLocation(step(l, depth, "calls "+nameOr(op.stack[j-1].Func), "call", "function"))
			}
		}
		l := s.location(op.span, "")
		if l == nil {
			return nil
		}
		tf.AddLocation(step(l, depth+1, op.text+interval(d.Witness, i), "danger"))
		flow.AddThreadFlow(tf)
	}
	return flow
}

// nameOr names a function whose name was not recorded.
func nameOr(function string) string {
	if function == "" {
		return "a function"
	}
	return function
}

// step makes one step of a thread flow. The kinds are words of 3.38.
func step(l *sarif.Location, depth int, text string, kinds ...string) *sarif.ThreadFlowLocation {
	l.WithMessage(message(text))
	return sarif.NewThreadFlowLocation().WithLocation(l).WithNestingLevel(depth).WithKinds(kinds)
}

// interval returns the barrier interval of operation i of a race as text. Between blocks it is
// known for the second operation only, since each block counts its own barriers.
func interval(w *Witness, i int) string {
	switch {
	case w.Level == "inter-block" && i == 0:
		return ""
	case w.Interval == 0:
		return ", in barrier interval 0, before the first block-wide barrier"
	}
	return fmt.Sprintf(", in barrier interval %d, after block-wide barrier %d",
		w.Interval, w.Interval)
}
