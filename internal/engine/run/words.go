package run

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/cexpr"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/race"
	"heddle/internal/source"
)

// accessWords describes one access of a race: "reads `tile[t + s]`", "read".
type accessWords struct {
	verb string // with the expression of the source, if it is known
	done string
	at   source.Span // with the end of a load's expression
	// the calls that led there, innermost first
	stack []source.Frame
}

// accessOf describes an access at a site.
func (r *Run) accessOf(a *race.Access, info emu.SiteInfo) accessWords {
	var w accessWords
	w.at, w.stack = r.userPlace(info)
	does, in := "", ""
	switch {
	case isTensor(info.Instr):
		does, w.done = "reads", "read"
		if a.Kind.Writes() {
			does, w.done = "writes", "written"
		}
		in = " by " + info.Instr.Op()
	case info.Instr.Action() == isa.ActTensorAllocate:
		does, w.done = "writes", "written"
		in = " by " + info.Instr.Op()
	case isMatrix(info.Instr):
		does, w.done = "reads", "read"
		in = " by a matrix operation"
	case a.Proxy == event.TensorMapProxy:
		does, w.done = "reads", "read"
		in = " as a tensor map"
	case a.Async && a.Kind == event.Read:
		does, w.done = "copies", "copied"
		in = " asynchronously"
	case a.Async:
		does, w.done = "fills", "filled"
		in = " by an asynchronous copy"
	case a.Kind.RMW():
		does, w.done = "updates", "updated"
		in = " atomically"
	case a.Kind == event.Read:
		does, w.done = "reads", "read"
	default:
		does, w.done = "writes", "written"
	}
	expr, span, call := r.expression(a.Kind.Writes(), w.at)
	switch {
	case expr == "" || a.Async || info.Instr.Action() == isa.ActTensorAllocate:
		w.verb = does + " it" + in
	case call || a.Kind.RMW():
		w.verb = does + " it in `" + expr + "`"
	default:
		w.verb = does + " `" + expr + "`"
	}
	w.at = span
	w.done += in
	return w
}

// bothAccess says what two threads do.
func bothAccess(one, does, two, does2 string) string {
	if verb, rest, _ := strings.Cut(does, " "); does == does2 {
		return fmt.Sprintf("%s and %s both %s %s", one, two, strings.TrimSuffix(verb, "s"), rest)
	}
	return fmt.Sprintf("%s %s and %s %s", one, does, two, does2)
}

// expression returns the expression of the source that is written or read at a position, and the
// position with its end if it starts there. call says that it is a call, in which the access
// happens. It is empty if the source or its form is not known, and for Python: what its compilers
// keep in memory for an operation is not the value that the line names.
func (r *Run) expression(writes bool, at source.Span) (expr string, span source.Span, call bool) {
	line, ok := r.Job.LineAt(at.Start)
	if !ok || at.End.IsValid() || r.python(at) {
		return "", at, false
	}
	from, to, ok := cexpr.Access(line, at.Start.Col(), writes)
	if !ok {
		return "", at, false
	}
	expr = line[from-1 : to-1]
	if from == at.Start.Col() {
		at.End = source.MakePos(at.Start.File(), at.Start.Line(), to)
	}
	return expr, at, expr[len(expr)-1] == ')' && expr[0] != '*' && expr[0] != '('
}

// cause is what some races in one array and barrier interval have in common: accesses, or a part of
// the kernel in which a barrier would be between the two accesses of each of them, by the order of
// the instructions.
type cause struct {
	memory   string
	interval uint32
	accesses []*ir.Instr
	from, to int    // a barrier after from and not after to; none if they are equal
	first    string // the element of the first race
	level    race.Level
}

// alike returns a note if what orders the accesses of an earlier race of the run may order these
// too; else it is empty. separate says that this race needs a change of its own. It compares the
// places of instructions and knows nothing of control flow.
func (r *Run) alike(rc *race.Race, one, two emu.SiteInfo, mem memory) (note string, separate bool) {
	if rc.Cause != race.Unordered || len(one.Calls)+len(two.Calls) > 0 {
		return "", false
	}
	n := cause{mem.name, rc.Interval, []*ir.Instr{one.Instr, two.Instr},
		min(one.Instr.Index, two.Instr.Index), max(one.Instr.Index, two.Instr.Index), mem.String(),
		rc.Level}
	if rc.Level == race.InterBlock {
		n.to = n.from // no barrier orders these
	}
	for i := range r.causes {
		c := &r.causes[i]
		if c.memory != n.memory || c.interval != n.interval {
			continue
		}
		if slices.Contains(c.accesses, one.Instr) && slices.Contains(c.accesses, two.Instr) {
			return "these accesses are among those of the race on " + c.first, false
		}
		if from, to := max(c.from, n.from), min(c.to, n.to); from < to {
			c.from, c.to = from, to
			c.accesses = append(c.accesses, n.accesses...)
			return "a barrier that orders the race on " + c.first + " may order this one as well", false
		}
		if n.level == race.IntraWarp && c.level == race.IntraWarp {
			return "as in the race on " + c.first + ", nothing orders the lanes of the warp", true
		}
		if n.level == race.InterBlock && c.level == race.InterBlock {
			return "as in the race on " + c.first + ", nothing orders the blocks", true
		}
	}
	r.causes = append(r.causes, n)
	return "", false
}

// python reports whether a position is in Python.
func (r *Run) python(at source.Span) bool {
	f := r.Job.Files().File(at.Start.File())
	return f != nil && source.PythonName(f.Name)
}
