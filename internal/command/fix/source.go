package fix

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"heddle/internal/edit"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lower"
	"heddle/internal/repair"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// A repair is found on the PTX, which can express every change. sourceFixer expresses it in the
// source, if it can: it turns the places of the plan into places between statements, has package
// syntax rewrite the function, compiles the result, and asks the judge of the kernel again. What
// the judge does not accept is not shown.
type sourceFixer struct {
	f     *fixer
	user  *source.File // the text of file
	unit  *syntax.Unit
	edits []edit.Edit // of the kernels so far
	// rewritten are the functions that repairs of package repair changed, repaired their kernels.
	rewritten map[*syntax.Func]*rewritten
	repaired  []repairedKernel

	compiled int           // texts
	compiles time.Duration // that took
}

// newSourceFixer reads the statements of a file; nil if it has none. An input that clang cannot
// read as a source, such as PTX, is not an error.
func newSourceFixer(ctx context.Context, f *fixer) (*sourceFixer, error) {
	s := &sourceFixer{f: f, rewritten: map[*syntax.Func]*rewritten{}}
	file, files := f.file, f.d.Files()
	err := lower.AST(ctx, file.Input, f.opt.Common.Lower, func(t *lower.Tree) error {
		if file.Content != nil {
			f.d.AddText(file.Name, file.Content)
		}
		var err error
		s.unit, err = syntax.Read(files, t, t.OpenCL, t.User)
		return err
	})
	var no *lower.InputError
	if errors.As(err, &no) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if s.user = files.Named(file.Name); s.user == nil || s.user.Content == nil {
		return nil, nil
	}
	return s, nil
}

// sourceChange is a change of the source in progress: a candidate is a subset of its steps.
type sourceChange struct {
	*sourceFixer
	kernel  *ir.Func
	uniform func(fn *syntax.Func) func(from, to int) bool
	// again are the functions of which the rewrite for kernels before is made anew
	again map[*syntax.Func]bool
}

// step is a part of a change in one function: a statement that is inserted, a barrier that is
// dropped, an assignment that is split in two with a text between, or a statement that is replaced.
// Offsets are bytes in the file of the function.
type step struct {
	fn      *syntax.Func
	insert  *syntax.Insert
	drop    int // offset in a barrier; -1: none
	split   int // offset in an assignment; -1: none
	block   bool
	replace string // of split: the text between the parts
	at      int    // of replace
	object  bool   // it is about an mbarrier
}

// notInSource is why a change has no form in the source.
type notInSource struct{ why string }

func (e *notInSource) Error() string { return e.why }

func notInSourcef(format string, args ...any) error {
	return &notInSource{fmt.Sprintf(format, args...)}
}

// place returns the function and the offset of what an instruction was compiled from. It is the
// innermost function of the inline stack that the unit knows. Only the user's file is changed: a
// header may be part of other programs.
func (s *sourceFixer) place(in *ir.Instr) (*syntax.Func, int, error) {
	if in == nil {
		return nil, 0, notInSourcef("a place in the PTX does not belong to any statement")
	}
	for fr := in.Loc; fr != nil; fr = fr.Parent {
		fn := s.unit.FuncOf(fr.Pos)
		if fn == nil {
			continue
		}
		off, ok := fn.File.Offset(fr.Pos)
		switch {
		case !ok:
			return nil, 0, notInSourcef("the source position of an instruction is unknown")
		case fn.File != s.user:
			return nil, 0, notInSourcef("the change would be in %s, which other files may include",
				fn.File.Name)
		}
		return fn, off, nil
	}
	return nil, 0, notInSourcef("%s does not belong to any statement of the file", in.Text())
}

// touchesMemory reports whether an instruction is one that a barrier may have to be before or
// after.
func touchesMemory(in *ir.Instr) bool {
	// a barrier orders nothing there
	own := in.Space == event.Param || in.Space == event.Const || in.Space == event.Local
	return in.Row != nil && in.Loc != nil &&
		(in.Row.Effect != 0 && !own || in.IsCall() || in.Action() == isa.ActTensorAllocate)
}

// onTensor reports whether an instruction is about tensor memory, for which CUDA has no statement: it
// is in an asm statement, and often in a function that has nothing else.
func onTensor(in *ir.Instr) bool {
	if in == nil {
		return false
	}
	switch in.Action() {
	case isa.ActTensorAllocate, isa.ActTensorAccess, isa.ActTensorAsync, isa.ActTensorWait:
		return true
	}
	return false
}

// around returns the instructions that touch memory before and after a point, in its block.
func around(k *ir.Func, p repair.Point) (before, after *ir.Instr) {
	b := k.Block(p.Block)
	for i, in := range b.Instrs {
		switch {
		case i < p.Index && touchesMemory(in):
			before = in
		case i >= p.Index && after == nil && touchesMemory(in):
			after = in
		}
	}
	return before, after
}

// next returns the first instructions that touch memory on the paths from the end of a block, in
// the order of the text. A block without such an instruction is passed through, so the result is
// what each path does first.
func next(k *ir.Func, from ir.BlockID) []*ir.Instr {
	var out []*ir.Instr
	seen := map[ir.BlockID]bool{}
	var walk func(ir.BlockID)
	walk = func(id ir.BlockID) {
		for _, s := range k.Block(id).Succs {
			if seen[s] {
				continue
			}
			seen[s] = true
			if i := slices.IndexFunc(k.Block(s).Instrs, touchesMemory); i >= 0 {
				out = append(out, k.Block(s).Instrs[i])
			} else {
				walk(s)
			}
		}
	}
	walk(from)
	slices.SortFunc(out, func(a, b *ir.Instr) int { return a.Index - b.Index })
	return out
}

// anywhere returns an instruction with a place, at a point or after it; else one before it.
func anywhere(k *ir.Func, p repair.Point) *ir.Instr {
	b := k.Block(p.Block)
	for _, in := range b.Instrs[min(p.Index, len(b.Instrs)):] {
		if in.Loc != nil {
			return in
		}
	}
	for _, in := range slices.Backward(b.Instrs) {
		if in.Loc != nil {
			return in
		}
	}
	return nil
}

// insert is a step that puts a statement next to that of an instruction.
func (s *sourceFixer) insert(in *ir.Instr, after bool, text string, block bool) (step, error) {
	fn, off, err := s.place(in)
	if err != nil {
		return step{}, err
	}
	at := &syntax.Insert{At: off, After: after, Text: text, Block: block}
	return step{fn: fn, drop: -1, split: -1, insert: at}, nil
}

// point returns the steps, best first, each of which may express what a plan does at a point.
//
// Candidates are before the access that follows, after the one that precedes, between two halves of
// the statement that holds both, and at the ends of the blocks around. appendNew keeps one of each.
func (s *sourceFixer) point(k *ir.Func, p repair.Point, text string, block bool) []step {
	before, after := around(k, p)
	var out []step
	add := func(in *ir.Instr, behind bool) {
		if st, err := s.insert(in, behind, text, block); err == nil {
			out = appendNew(out, st)
		}
	}
	if strings.HasPrefix(text, asmStatement) || onTensor(before) || onTensor(after) {
		// A call is better than the function that it calls, which others call too.
		if in := s.inKernel(after); in != nil {
			add(in, false)
		}
		if in := s.inKernel(before); in != nil {
			add(in, true)
		}
	}
	if after != nil {
		add(after, false)
	}
	if before != nil {
		add(before, true)
	}
	if before != nil && after != nil {
		f1, o1, err1 := s.place(before)
		f2, o2, err2 := s.place(after)
		if err1 == nil && err2 == nil && f1 == f2 && s.unit.SameStatement(f1, o1, o2) {
			out = append(out, step{fn: f1, drop: -1, split: o2, replace: text, block: block})
		}
	}
	if at := anywhere(k, p); at != nil {
		add(at, false)
		add(at, true)
		for _, in := range []*ir.Instr{at, before} {
			fn, off, err := s.place(in)
			if err != nil {
				continue
			}
			for _, near := range s.unit.Near(fn, off) {
				near.Text, near.Block = text, block
				st := step{fn: fn, drop: -1, split: -1, insert: &near}
				out = appendNew(out, st)
			}
		}
	}
	// after a condition is where the branches begin
	if after == nil && len(k.Block(p.Block).Succs) > 1 {
		for _, in := range next(k, p.Block) {
			add(in, false)
		}
	}
	s.newRanker(k).rank(out, p)
	return out
}

// inKernel returns an instruction that was inlined as if it were at the call in the kernel itself;
// nil for any other.
func (s *sourceFixer) inKernel(in *ir.Instr) *ir.Instr {
	if in == nil || in.Loc == nil {
		return nil
	}
	for fr := in.Loc.Parent; fr != nil; fr = fr.Parent {
		if fn := s.unit.FuncOf(fr.Pos); fn != nil && fn.Kernel {
			out := *in
			out.Loc = fr
			return &out
		}
	}
	return nil
}

func sameStep(a, b step) bool {
	if a.fn != b.fn || a.drop != b.drop || a.split != b.split || a.at != b.at ||
		a.replace != b.replace || (a.insert == nil) != (b.insert == nil) {
		return false
	}
	return a.insert == nil || *a.insert == *b.insert
}

// asmStatement begins the statements that fenceText writes for what CUDA has no function for.
const asmStatement = `asm volatile("`

// fenceText is the statement of CUDA that compiles to a fence of the PTX; empty if there is none.
// Any scope but sys and cta becomes the device, which includes a cluster. What CUDA has no function
// for is an asm statement: a proxy fence, the barrier of a cluster, a wait for bulk groups.
func fenceText(ptx string) string {
	if isStatement.MatchString(ptx) {
		return asmStatement + strings.Join(strings.Fields(ptx), " ") + `" ::: "memory");`
	}
	f := isFence.FindStringSubmatch(ptx)
	if f == nil {
		return ""
	}
	switch f[1] {
	case "sys":
		return "__threadfence_system();"
	case "cta":
		return "__threadfence_block();"
	}
	return "__threadfence();"
}

// uniformIn reports of ranges of a function whether all threads of a block reach them, by the
// control flow of the kernel. A range counts as uniform if one unguarded instruction in it is in a
// uniform block. The rewrite relies on it, and the judge checks the compiled result.
func (s *sourceFixer) uniformIn(k *ir.Func,
	x *repair.Transformer) func(*syntax.Func) func(from, to int) bool {
	return func(fn *syntax.Func) func(from, to int) bool {
		type place struct {
			off  int
			even bool
		}
		var spots []place
		var last *source.Frame // of the instruction before in the text
		for _, b := range k.Blocks {
			stale := true
			for _, in := range b.Instrs {
				if stale = stale && in.Loc == last && !touchesMemory(in); stale {
					continue // its place is a leftover of another block
				}
				last = in.Loc
				for fr := in.Loc; fr != nil; fr = fr.Parent {
					if s.unit.FuncOf(fr.Pos) != fn {
						continue
					}
					if off, ok := fn.File.Offset(fr.Pos); ok {
						spots = append(spots, place{off, x.Uniform(b.ID) && in.Guard == ir.NoReg})
					}
				}
			}
		}
		return func(from, to int) bool {
			for _, sp := range spots {
				if from <= sp.off && sp.off < to && sp.even {
					return true
				}
			}
			return false
		}
	}
}

// edited returns the edits of steps, after those of the kernels before, and by function. The steps
// of one function are one rewrite, since they may affect the same statements.
func (c *sourceChange) edited(steps []step) ([]edit.Edit, map[*syntax.Func]*rewritten, error) {
	rewrites := map[*syntax.Func]*syntax.Rewrite{}
	var funcs []*syntax.Func
	for _, st := range steps {
		rw := rewrites[st.fn]
		if rw == nil {
			rw = &syntax.Rewrite{Replace: map[int]string{}}
			if c.uniform != nil {
				rw.Uniform = c.uniform(st.fn)
			}
			rewrites[st.fn] = rw
			funcs = append(funcs, st.fn)
		}
		switch {
		case st.insert != nil && st.insert.Text == "": // the barrier stays
		case st.insert != nil:
			rw.Inserts = append(rw.Inserts, *st.insert)
		case st.drop >= 0:
			rw.Drop = append(rw.Drop, st.drop)
		case st.split >= 0:
			rw.Split = append(rw.Split, syntax.Insert{At: st.split, Text: st.replace, Block: st.block})
		default:
			rw.Replace[st.at] = st.replace
		}
	}
	out, made := c.before(), map[*syntax.Func]*rewritten{}
	for _, fn := range funcs {
		e, err := c.unit.Rewrite(fn, rewrites[fn])
		if err != nil {
			return nil, nil, err
		}
		out = append(out, e...)
		of := func(st step) bool { return st.fn != fn }
		made[fn] = &rewritten{slices.DeleteFunc(slices.Clone(steps), of), e}
	}
	return out, made, edit.Check(c.user, out)
}

// compile compiles a patched source to PTX.
func (s *sourceFixer) compile(ctx context.Context, text []byte) ([]byte, error) {
	in := s.f.file.Input
	in.Content = text
	began := time.Now()
	defer func() { s.compiled, s.compiles = s.compiled+1, s.compiles+time.Since(began) }()
	results, err := lower.Lower(ctx, in, s.f.opt.Common.Lower)
	if err != nil {
		return nil, notInSourcef("the compiler rejects the changed source: %v", err)
	}
	if len(results) != 1 {
		return nil, notInSourcef("the changed source compiles to %d modules of PTX", len(results))
	}
	if lost := results[0].Omitted; len(lost) > len(s.f.in.Lowered.Omitted) {
		return nil, notInSourcef("the compiler rejects a kernel of the changed source: %s: %s",
			lost[0].Demangled, lost[0].Reason)
	}
	return results[0].PTX, nil
}
