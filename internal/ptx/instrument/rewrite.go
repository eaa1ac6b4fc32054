package instrument

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// rewriter is the state of one call of Module.
type rewriter struct {
	file *source.File
	mod  *ir.Module
	opt  *Options
	res  *Result

	refused map[*ir.Func]*refusal
	at      map[int]int // offset of an instruction: where to insert text before it
	ends    map[int]int // offset of an instruction: behind it

	inserts  []insert
	variants map[string]variant // the log functions that are called
	strong   bool
	cost     map[*ir.Func]cost
	silent   map[*ir.Func]bool // nothing of it needs a log in a launch that LogAll is 0 for
}

// insert is text to insert at an offset. rank orders the insertions at one place.
type insert struct {
	at, rank int
	text     string
}

// cost is what the log calls of a function add to it.
type cost struct{ logged, merged, free, registers, params int }

// positions finds the places of instructions. Text goes in front of a .pragma that belongs to the
// instruction behind it.
func (r *rewriter) positions(tree *ptx.File) {
	r.ends = make(map[int]int)
	r.cost = make(map[*ir.Func]cost)
	for _, d := range tree.Decls {
		if f, ok := d.(*ptx.Func); ok && f.Body != nil {
			r.walk(f.Body)
		}
	}
}

func (r *rewriter) walk(b *ptx.Block) {
	pragma := -1
	for s := range b.Stmts() {
		start, _ := r.file.Offset(s.Span().Start)
		switch s.Kind() {
		case ptx.StmtInst:
			r.at[start] = start
			if pragma >= 0 {
				r.at[start] = pragma
			}
			pragma = -1
			r.ends[start], _ = r.file.Offset(s.Span().End)
		case ptx.StmtNode:
			switch n := s.Node().(type) {
			case *ptx.Block:
				r.walk(n)
			case *ptx.Directive:
				if n.Name == ".pragma" && pragma < 0 {
					pragma = start
				}
			}
		}
	}
}

// kernels decides which kernels are instrumented, and returns the functions that they can reach. A
// kernel is refused if a function that it can reach cannot be instrumented.
func (r *rewriter) kernels() []*ir.Func {
	var out []*ir.Func
	seen := make(map[*ir.Func]bool)
	launch := r.launchesGrid()
	for _, k := range r.mod.Funcs {
		if !k.Kernel || len(k.Blocks) == 0 {
			continue
		}
		info := Kernel{Func: k}
		reach := reachable(k)
		for _, f := range reach {
			for _, b := range f.Blocks {
				info.Instrs += len(b.Instrs)
			}
			if why := r.check(f); why != nil && info.Reason == "" {
				info.Reason, info.Span = why.what, why.in.Span
			}
		}
		if launch != nil && info.Reason == "" {
			info.Reason, info.Span = "a kernel of its module launches grids (dynamic parallelism), which "+
				"do not log", launch.Span
		}
		if info.Reason == "" {
			for _, f := range reach {
				if !seen[f] {
					seen[f] = true
					out = append(out, f)
				}
			}
		}
		r.res.Kernels = append(r.res.Kernels, info)
	}
	r.silence()
	return out
}

// launchesGrid returns an instruction by which a thread launches a grid; nil if there is none. Any
// kernel of the module may be launched so, and none would find its log.
func (r *rewriter) launchesGrid() *ir.Instr {
	for _, f := range r.mod.Funcs {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if ir.LaunchesGrid(in.Callee) {
					return in
				}
			}
		}
	}
	return nil
}

// silence finds the functions of which nothing needs a log in some launches: only kernels that are
// proved can reach them. A kernel that reaches another function as well is not proved, since half
// of what its threads do at barriers would be logged.
func (r *rewriter) silence() {
	r.silent = make(map[*ir.Func]bool)
	if r.opt.Proved == nil {
		return
	}
	proved := make(map[*ir.Func]bool)
	for _, k := range r.res.Kernels {
		proved[k.Func] = r.opt.Proved(k.Func)
	}
	for changed := true; changed; {
		changed = false
		clear(r.silent)
		for _, k := range r.res.Kernels {
			if k.Reason != "" {
				continue
			}
			for _, f := range reachable(k.Func) {
				was, seen := r.silent[f]
				r.silent[f] = proved[k.Func] && (was || !seen)
			}
		}
		for i := range r.res.Kernels {
			k := &r.res.Kernels[i]
			all := k.Reason == "" && proved[k.Func] && !slices.ContainsFunc(reachable(k.Func),
				func(f *ir.Func) bool { return !r.silent[f] })
			changed = changed || all != proved[k.Func]
			proved[k.Func], k.Proved = all, all
		}
	}
}

// free reports whether a site is not logged while LogAll is 0.
func (r *rewriter) free(s *Site) bool {
	switch {
	case s.Ticket:
		return false
	case r.silent[s.Func]:
		return true
	}
	return s.What == Access && r.opt.Free != nil && r.opt.Free(s.Instr)
}

// test sets skipReg, in a block of its own, to whether a free site is to be skipped.
const (
	skipReg  = "%" + Prefix + "p"
	valueReg = "%" + Prefix + "v"
	test     = ".reg .pred " + skipReg + ";\n.reg .b32 " + valueReg + ";\nld.global.u32 " + valueReg +
		", [" + LogAll + "];\nsetp.eq.u32 " + skipReg + ", " + valueReg + ", 0;\n"
)

// unless puts text that is inserted before an instruction behind a test of LogAll, if free is set.
// The label stands before the instruction, or the end of the body, which gets its ret.
func (r *rewriter) unless(free bool, in *ir.Instr, number int, text string) string {
	if !free {
		return text
	}
	label := fmt.Sprintf("$%sskip%d", Prefix, number)
	out := fmt.Sprintf("{\n%s@%s bra %s;\n}\n%s%s:\n", test, skipReg, label, text, label)
	if start, _ := r.file.Offset(in.Span.Start); in.Action() == isa.ActReturn {
		if _, ok := r.at[start]; !ok {
			out += "ret;\n"
		}
	}
	return out
}

// bound bounds the registers of the instrumented kernels that have no bound of their own, so that a
// block of 1024 threads can still be launched: the logging needs registers, and a launch that works
// without it could otherwise fail for want of them.
func (r *rewriter) bound(tree *ptx.File) {
	bodies := make(map[string]*ptx.Func)
	for _, d := range tree.Decls {
		if f, ok := d.(*ptx.Func); ok && f.Entry && f.Body != nil {
			bodies[f.Name] = f
		}
	}
	for i := range r.res.Kernels {
		k := r.res.Kernels[i].Func
		f := bodies[k.Name]
		if r.res.Kernels[i].Reason == "" && f != nil && k.MaxNTID.Count() == 0 &&
			k.ReqNTID.Count() == 0 && k.MaxRegisters == 0 {
			at, _ := r.file.Offset(f.Body.Span().Start)
			r.insert(at, -1, ".maxntid 1024\n")
		}
	}
}

// reachable is ir.ReachableFuncs, and for a kernel with indirect calls everything whose address the
// module takes.
func reachable(k *ir.Func) []*ir.Func {
	funcs := ir.ReachableFuncs(k)
	indirect := false
	for _, f := range funcs {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				indirect = indirect || in.Action() == isa.ActCall && in.Callee == nil && len(in.Targets) == 0
			}
		}
	}
	if !indirect {
		return funcs
	}
	for _, t := range ir.AddressTaken(k.Module) {
		for _, f := range ir.ReachableFuncs(t) {
			if !slices.Contains(funcs, f) {
				funcs = append(funcs, f)
			}
		}
	}
	return funcs
}

// check returns why a function cannot be instrumented; nil if it can.
func (r *rewriter) check(f *ir.Func) *refusal {
	if why, ok := r.refused[f]; ok {
		return why
	}
	why := r.examine(f)
	r.refused[f] = why
	return why
}

func (r *rewriter) examine(f *ir.Func) *refusal {
	for _, b := range f.Blocks {
		carry := false
		for _, in := range b.Instrs {
			s, logged, why := classify(f, in, r.opt)
			if why != "" {
				return &refusal{in, why}
			}
			if logged && s.What != Nothing {
				if why := r.operands(f, in); why != "" {
					return &refusal{in, why}
				}
			}
			if in.ReadsCarry() && carry {
				what := fmt.Sprintf("a call between %s and what set its carry flag changes the flag", in.Text())
				return &refusal{in, what}
			}
			switch {
			case in.Has(isa.CC):
				carry = false
			case logged:
				carry = true
			}
		}
	}
	return nil
}

// operands returns why the operands of an instruction cannot be arguments of a log call.
func (r *rewriter) operands(f *ir.Func, in *ir.Instr) string {
	for i := range in.Src {
		o := &in.Src[i]
		switch {
		case o.Kind == ir.Mem && len(o.Elems) == 0, o.Kind == ir.Imm, o.Kind == ir.Register,
			o.Kind == ir.Vector:
		default:
			return fmt.Sprintf("an operand of %s is not logged", in.Text())
		}
		bad := false
		o.EachReg(func(id ir.RegID) { bad = bad || strings.Contains(f.Regs[id].Name, ".") })
		if bad {
			return fmt.Sprintf("a component of a vector register as an operand of %s is not logged",
				in.Text())
		}
	}
	return ""
}

// function adds the log calls of a function.
func (r *rewriter) function(f *ir.Func) {
	if f.Kernel && len(f.Blocks) > 0 {
		r.layout(f)
	}
	first := len(r.res.Sites)
	marks := r.meetings(f)
	for _, b := range f.Blocks {
		if marks[b.ID] && len(b.Instrs) > 0 {
			r.converge(f, b.Instrs[0], false)
		}
		start := len(r.res.Sites)
		for _, in := range b.Instrs {
			s, ok, _ := classify(f, in, r.opt)
			if ok {
				s.By, s.Free = len(r.res.Sites), r.free(&s)
				r.res.Sites = append(r.res.Sites, s)
			}
		}
		if !r.opt.Separate {
			r.merge(b, start)
		}
	}
	c := cost{}
	for i := first; i < len(r.res.Sites); i++ {
		s := &r.res.Sites[i]
		if s.Free {
			c.free++
		}
		switch {
		case s.What == Converge: // it has its call
			c.logged++
		case s.By != i:
			c.merged++
		default:
			c.logged++
			regs, params := r.log(i, s)
			c.registers, c.params = max(c.registers, regs), max(c.params, params)
		}
	}
	r.cost[f] = c
	if !r.opt.Lockstep {
		return
	}
	for _, b := range f.Blocks { // lanes that leave a function at different places meet again
		for _, in := range b.Instrs {
			if in.Action() == isa.ActCall && !in.EndsBlock() {
				r.converge(f, in, true)
			}
		}
	}
}

// meetings returns the blocks at which paths of a warp begin or end: the successors of branches and
// their reconvergence points (Barracuda, section 4.1: "at all branch convergence points").
func (r *rewriter) meetings(f *ir.Func) map[ir.BlockID]bool {
	if !r.opt.Lockstep {
		return nil
	}
	out := map[ir.BlockID]bool{0: !f.Kernel}
	post := ir.PostDom(f)
	for _, b := range f.Blocks {
		t := b.Terminator()
		if t == nil || len(b.Succs) < 2 && t.Guard == ir.NoReg {
			continue
		}
		for _, s := range b.Succs {
			out[s] = true
		}
		if j := post[b.ID]; j != ir.NoBlock {
			out[j] = true
		}
	}
	return out
}

// converge adds a record of the active lanes before an instruction, or behind it.
func (r *rewriter) converge(f *ir.Func, in *ir.Instr, behind bool) {
	n := len(r.res.Sites)
	s := Site{What: Converge, Instr: in, Func: f}
	s.Free = r.free(&s)
	r.res.Sites = append(r.res.Sites, s)
	start, _ := r.file.Offset(in.Span.Start)
	at, rank := r.before(in), 0
	if behind {
		at, rank = r.ends[start], 1
	}
	r.variants[markFunc] = variant{name: markFunc}
	call := fmt.Sprintf("call %s, (%d, 1);\n", markFunc, n)
	switch {
	case s.Free && behind: // where no label may stand
		call = fmt.Sprintf("{\n%s@!%s %s}\n", test, skipReg, call)
	default:
		call = r.unless(s.Free, in, n, call)
	}
	r.insert(at, rank, "\n"+call)
}

// before returns where text before an instruction goes. The implicit ret at the end of a body is at
// its brace.
func (r *rewriter) before(in *ir.Instr) int {
	start, _ := r.file.Offset(in.Span.Start)
	if at, ok := r.at[start]; ok {
		return at
	}
	return start - 1
}

func (r *rewriter) insert(at, rank int, text string) {
	r.inserts = append(r.inserts, insert{at, rank, text})
}

// text returns the text with all insertions, and with the device side in front of the first
// function.
func (r *rewriter) text(tree *ptx.File, t target) []byte {
	for i := range r.res.Kernels {
		k := &r.res.Kernels[i]
		if k.Reason != "" {
			continue
		}
		calls := false
		for _, f := range reachable(k.Func) {
			c := r.cost[f]
			k.Logged += c.logged
			k.Merged += c.merged
			k.Free += c.free
			k.Registers, k.Params = max(k.Registers, c.registers), max(k.Params, c.params)
			for _, b := range f.Blocks {
				calls = calls || slices.ContainsFunc(b.Instrs, func(in *ir.Instr) bool {
					return in.Action() == isa.ActCall
				})
			}
		}
		k.Stack = !calls && k.Logged > 0
	}
	var list []variant
	for _, name := range slices.Sorted(maps.Keys(r.variants)) {
		list = append(list, r.variants[name])
	}
	if len(list) > 0 || r.strong {
		r.insert(firstFunc(r.file, tree), -1, device(t, r.opt, list, r.strong))
	}
	slices.SortStableFunc(r.inserts, func(a, b insert) int {
		if a.at != b.at {
			return a.at - b.at
		}
		return a.rank - b.rank
	})
	var out []byte
	last := 0
	for _, e := range r.inserts {
		out = append(out, r.file.Content[last:e.at]...)
		out = append(out, e.text...)
		last = e.at
	}
	return append(out, r.file.Content[last:]...)
}

// firstFunc returns the offset of the first function or variable of a module: the log functions
// refer to nothing that the module declares.
func firstFunc(file *source.File, tree *ptx.File) int {
	for _, d := range tree.Decls {
		switch d.(type) {
		case *ptx.Func, *ptx.Var, *ptx.Prototype:
			at, _ := file.Offset(d.Span().Start)
			return at
		}
	}
	return len(file.Content)
}

// log adds the log call of a site. It returns the registers of 32 bits and the bytes of parameters
// that it needs.
func (r *rewriter) log(n int, s *Site) (registers, params int) {
	in := s.Instr
	w := &writer{f: s.Func}
	on := w.takes(in)
	args := []string{fmt.Sprint(n), on}
	v := variant{name: markFunc}
	switch s.What {
	case Access, Nothing:
		v = variant{name: accessFunc, addr: true}
		a := w.address(&in.Src[s.Access.Operand], s.Access.Space)
		args = append(args, a)
		if s.Access.Space == event.Generic {
			args[1] = w.sort(a, on)
		}
		if s.Words > 0 {
			v = variant{name: storeFunc + fmt.Sprint(s.Words), addr: true, words: s.Words}
			args = append(args, w.words(in, s)...)
		}
	case Arrive:
		v = variant{name: accessFunc, addr: true}
		args = append(args, w.barrier(in))
	case WarpSync:
		v = variant{name: accessFunc, addr: true}
		args = append(args, w.value(&in.Src[0], 4))
	case CopyIssue:
		v = variant{name: copyFunc, addr: true, words: 2, forced: true}
		args = append(args, w.address(&in.Src[0], event.Shared),
			w.address(&in.Src[1], event.Global), w.bytesRead(in, s))
	}
	if s.Ticket {
		r.end(s, w, args)
		return w.registers(), 8 + 8 + 8 // site, takes; the address; stored, active
	}
	r.variants[v.name] = v
	call := w.block(fmt.Sprintf("call %s, (%s);", v.name, strings.Join(args, ", ")))
	r.insert(r.before(in), 2, r.unless(s.Free, in, n, call))
	params = 8 + 8*v.words
	if v.addr {
		params += 8
	}
	return w.registers(), params
}

// end wraps a strong access: its lanes take the lock, perform it, log it with a ticket, and give
// the lock back. What the log call needs and the access may overwrite is kept in registers before.
func (r *rewriter) end(s *Site, w *writer, args []string) {
	in := s.Instr
	r.strong = true
	start, _ := r.file.Offset(in.Span.Start)
	active := w.reg("b32")
	on := w.reg("b32")
	w.line("mov.b32 %s, %s;", on, args[1])
	args[1] = on
	before := fmt.Sprintf("call (%s), %s, ();", active, beginFunc)
	after := ""
	stored := on
	if s.Access.Kind == event.Read {
		stored = "0"
	}
	if in.Fn == isa.FnCAS { // which stores if it finds what it compares with
		size := in.Type.Size()
		want, got, p := w.value(&in.Src[1], size), w.reg("b64"), w.reg("pred")
		stored = w.reg("b32")
		after = w.read(got, in.Dst[0].Reg, size) + fmt.Sprintf("setp.eq.b64 %s, %s, %s;\n"+
			"selp.b32 %s, %s, 0, %s;\n", p, got, want, stored, on, p)
	}
	args = append(args, stored, active)
	r.insert(r.before(in), 2, w.open(before))
	r.insert(r.ends[start], 0,
		fmt.Sprintf("\n%scall %s, (%s);\n}\n", after, endFunc, strings.Join(args, ", ")))
}
