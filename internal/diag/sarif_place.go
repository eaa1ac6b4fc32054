package diag

import (
	"fmt"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"heddle/internal/source"
)

// srcRoot is the base of relative URIs.
const srcRoot = "%SRCROOT%"

// operation is one place of a finding and what happened there.
type operation struct {
	span   source.Span
	stack  []source.Frame
	text   string
	thread string
}

// operations returns the places of a finding: for a race first its first operation.
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

// location returns where a span is; the whole input if it is nowhere, and nil if there is none.
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

// logical says in which function a location is.
func (s *SARIF) logical(l *sarif.Location, function string) {
	if function != "" {
		l.AddLogicalLocation(sarif.NewLogicalLocation().WithFullyQualifiedName(function).WithKind("function"))
	}
}

// stack returns the inline stack of an operation, innermost first (3.44); nil where there is only one frame.
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

func (s *SARIF) frame(f source.Frame) *sarif.Location {
	l := s.location(source.Span{Start: f.Pos}, "")
	if l != nil {
		s.logical(l, f.Func)
	}
	return l
}

// codeFlow returns a race as a thread flow for each of its two threads (3.36, 3.37): the kernel's entry, the
// calls of the inline stack, the access. Nothing else is known of the way there; which barriers of the whole
// block lie behind is said at the access.
func (s *SARIF) codeFlow(d *Diagnostic) *sarif.CodeFlow {
	ops := d.operations()
	if len(ops) != 2 || ops[0].thread == "" {
		return nil
	}
	flow := sarif.NewCodeFlow().WithMessage(message(d.Message))
	for i, op := range ops {
		tf := sarif.NewThreadFlow().WithID(fmt.Sprintf("(%d) %s", i+1, op.thread)).WithMessage(message(op.thread))
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

func nameOr(function string) string {
	if function == "" {
		return "a function"
	}
	return function
}

func step(l *sarif.Location, depth int, text string, kinds ...string) *sarif.ThreadFlowLocation {
	l.WithMessage(message(text))
	return sarif.NewThreadFlowLocation().WithLocation(l).WithNestingLevel(depth).WithKinds(kinds)
}

// interval says in which barrier interval operation i of a race is, if that is known: between blocks only for the
// second.
func interval(w *Witness, i int) string {
	switch {
	case w.Level == "inter-block" && i == 0:
		return ""
	case w.Interval == 0:
		return ", in barrier interval 0, before the first barrier of the whole block"
	}
	return fmt.Sprintf(", in barrier interval %d, after barrier %d of the whole block", w.Interval, w.Interval)
}
