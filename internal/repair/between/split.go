package between

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/repair/hostedit"
	"heddle/internal/syntax"
)

// Divided divides the kernel at places between the statements of its body, and at its barriers of
// the grid, which may also be in one for loop of the body. The parts are launched one after the
// other, in a loop of the host if the barriers are in one. changes describe the cuts.
//
// What a part needs of the parts before it is computed again if that only takes arguments and other
// such values, or saved for each thread. The proof is in docs/theory/repair.md.
func (k *Kernel) Divided(cuts []int, changes []Change) (*Candidate, error) {
	s := &splitter{Kernel: k, p: k.patch(), saved: map[string]*savedVar{}}
	if err := s.plan(cuts); err != nil {
		return nil, err
	}
	if err := s.values(); err != nil {
		return nil, err
	}
	s.write()
	if err := s.host(); err != nil {
		return nil, err
	}
	text, err := s.p.Text()
	if err != nil {
		return nil, err
	}
	out := &Candidate{Means: Split, Text: text, Changes: changes}
	for _, part := range s.parts {
		out.Kernels = append(out.Kernels, part.name)
	}
	out.Changes = append(out.Changes, Change{fmt.Sprintf("%s is divided into %s", k.Func.Name,
		strings.Join(out.Kernels, ", ")), k.Launches[0].Whole.From})
	return out, nil
}

// splitter is the state of one division.
type splitter struct {
	*Kernel
	p     *hostedit.Patch
	steps []syntax.Step
	loop  *syntax.Step // that the host executes; nil: none
	parts []*part
	saved map[string]*savedVar // by id
	order []*savedVar
	vars  map[string]syntax.Local // of the kernel, by id
}

// part is one of the kernels that a kernel becomes.
type part struct {
	name   string
	unused []bool // of the kernel's parameters
	steps  []syntax.Step
	before []syntax.Step // what the kernel executed before, in the order of the text
	inLoop bool
	keep   []syntax.Step // of before: what is computed again
	load   []*savedVar
	store  []*savedVar
}

// savedVar is a variable that is saved for each thread.
type savedVar struct {
	syntax.Local
	param bool   // a parameter that the kernel changes
	name  string // of the buffer
}

// refuse is the error of a place.
func (s *splitter) refuse(at int, format string, args ...any) error {
	return &syntax.HostError{Pos: s.Func.File.PosAt(at), What: fmt.Sprintf(format, args...)}
}

// plan decides the parts.
func (s *splitter) plan(cuts []int) error {
	s.steps = s.Func.Steps(s.constants())
	if at, ok := s.directive(); ok {
		return s.refuse(at, "a preprocessor directive would be in one of the parts")
	}
	s.vars = map[string]syntax.Local{}
	s.declared(s.steps)
	cut := func(st *syntax.Step) bool { return st.Grid || slices.Contains(cuts, st.From) }
	var done, run []syntax.Step
	flush := func() {
		if len(run) > 0 {
			s.parts = append(s.parts, &part{steps: run, before: slices.Clone(done)})
			done, run = append(done, run...), nil
		}
	}
	for i := range s.steps {
		st := &s.steps[i]
		switch {
		case st.Loop != nil && slices.ContainsFunc(st.Body, isGrid):
			if s.loop != nil {
				return s.refuse(st.From, "a second loop has a place at which the kernel would be divided")
			}
			if slices.ContainsFunc(run, func(p syntax.Step) bool { return p.Effect != "" }) {
				flush()
			} else {
				done, run = append(done, run...), nil
			}
			if err := s.hostLoop(st, done); err != nil {
				return err
			}
			done = append(done, *st)
		case st.Grid:
			flush()
		default:
			if cut(st) {
				flush()
			}
			run = append(run, *st)
		}
	}
	flush()
	if n := s.buried(s.steps, false); n != nil {
		return s.refuse(n.From, "the place is in a loop or a conditional that a division cannot cross")
	}
	if len(s.parts) < 2 && s.loop == nil || len(s.parts) == 0 {
		return s.refuse(s.steps[0].From, "no two parts would be left")
	}
	for i, part := range s.parts {
		part.name = s.p.Fresh(fmt.Sprint(s.Func.Name, "_", i+1))
	}
	return nil
}

func isGrid(st syntax.Step) bool { return st.Grid }

// buried returns a statement that contains a barrier of the grid other than where a cut is
// possible.
func (s *splitter) buried(steps []syntax.Step, within bool) *syntax.Step {
	for i := range steps {
		st := &steps[i]
		if st.Grid {
			continue
		}
		if s.loop != nil && st.From == s.loop.From {
			if n := s.buried(st.Body, true); n != nil {
				return n
			}
			continue
		}
		if strings.Contains(s.p.Source(st.Range), "this_grid().sync()") {
			return st
		}
	}
	return nil
}

// directive returns a preprocessor directive in the body other than a #pragma.
func (s *splitter) directive() (at int, ok bool) {
	from, _ := s.Func.File.Offset(s.Func.Span.Start)
	to, _ := s.Func.File.Offset(s.Func.Span.End)
	at = from
	for line := range strings.Lines(string(s.Func.File.Content[from:to])) {
		word, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		if ok && !strings.HasPrefix(strings.TrimSpace(word), "pragma") {
			return at, true
		}
		at += len(line)
	}
	return 0, false
}

// constants are the parameters to const elements. No other argument of a launch is the same
// variable; that different pointers lead to different memory is what the proof assumes as well,
// unless the host code shows otherwise.
func (s *splitter) constants() map[string]bool {
	out := map[string]bool{}
	for i, p := range s.params {
		typ := pointer(p.Type)
		own := strings.HasPrefix(typ, "const ") && strings.HasSuffix(typ, "*")
		for j := range s.Launches {
			l := &s.Launches[j]
			own = own && i < len(l.Args) && l.Args[i].Var != "" && alone(l, i) == nil && !stored(l, i)
		}
		out[p.Name] = own
	}
	return out
}

// stored reports whether another pointer of the host function may lead to an argument's memory.
func stored(l *syntax.HostLaunch, i int) bool {
	_, ok := l.Host.Copied(&l.Args[i])
	return ok
}

// declared collects the variables of the kernel.
func (s *splitter) declared(steps []syntax.Step) {
	for i := range steps {
		for _, v := range steps[i].Declares {
			s.vars[v.ID] = v
		}
		if l := steps[i].Loop; l != nil {
			s.vars[l.Var.ID] = l.Var
		}
		s.declared(steps[i].Body)
	}
}

// hostLoop makes the parts of a loop that the host executes. What the head and the body use must be
// the same for all threads and in all iterations: arguments and the variable of the loop.
func (s *splitter) hostLoop(st *syntax.Step, before []syntax.Step) error {
	l := st.Loop
	switch {
	case !l.Plain:
		return s.refuse(st.From, "the head of the loop does more than count one variable")
	case l.Jumps:
		return s.refuse(st.From, "the loop has a break, a continue or a return")
	}
	for _, id := range l.Uses {
		i := slices.IndexFunc(s.params, func(p syntax.Param) bool { return p.ID() == id })
		if id != l.Var.ID && (i < 0 || s.changed(id)) {
			return s.refuse(st.From, "the trips of the loop depend on more than arguments of the kernel")
		}
	}
	for _, b := range st.Body {
		if slices.Contains(b.Sets, l.Var.ID) {
			return s.refuse(b.From, "the body of the loop changes its variable")
		}
	}
	s.loop = st
	done := slices.Clone(before)
	var run []syntax.Step
	for _, b := range append(st.Body, syntax.Step{Grid: true}) {
		if !b.Grid {
			run = append(run, b)
			continue
		}
		if len(run) > 0 {
			s.parts = append(s.parts, &part{steps: run, before: slices.Clone(done), inLoop: true})
			done, run = append(done, run...), nil
		}
	}
	return s.carried(st)
}

// carried refuses a variable from before the loop that the body changes: its value would have to
// pass from one iteration to the next.
func (s *splitter) carried(st *syntax.Step) error {
	inside := map[string]bool{}
	for _, b := range st.Body {
		for _, v := range b.Declares {
			inside[v.ID] = true
		}
	}
	for _, b := range st.Body {
		for _, id := range b.Sets {
			if !inside[id] {
				return s.refuse(b.From, "%s passes from one iteration of the loop to the next",
					s.nameOf(id))
			}
		}
	}
	return nil
}

// changed reports whether a statement of the kernel assigns a variable.
func (s *splitter) changed(id string) bool {
	var any func(steps []syntax.Step) bool
	any = func(steps []syntax.Step) bool {
		return slices.ContainsFunc(steps, func(st syntax.Step) bool {
			return slices.Contains(st.Sets, id) || any(st.Body)
		})
	}
	return any(s.steps)
}

func (s *splitter) nameOf(id string) string {
	if v, ok := s.vars[id]; ok {
		return v.Name
	}
	for _, p := range s.params {
		if p.ID() == id {
			return p.Name
		}
	}
	return "a variable"
}
