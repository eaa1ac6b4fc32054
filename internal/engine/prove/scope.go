package prove

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/verify"
)

// Scope describes what a proof covers, in a few words: the launch shape first if it is a guess, and
// what the user did not ask for but has to accept, such as an index that is assumed to stay in its
// array. Details has the rest.
func (p *Proof) Scope(r *verify.Result) string {
	all := "all threads, all inputs"
	s := all + " for " + p.shape()
	if p.guessedShape() {
		s = "for " + p.shape() + ": " + all
	}
	if file := p.Config.Saved; file != "" {
		s = fmt.Sprintf("for the launch saved in %s, %s: %s", file, p.shape(), all)
		if file == launch.PathExec {
			s = fmt.Sprintf("for a launch that the program makes, %s: %s", p.shape(), all)
		}
	}
	if given := p.given(); len(given) > 0 {
		s += ", with " + strings.Join(given, ", ")
	}
	assumed := func(a lockstep.Assertion) bool { return a.Kind == lockstep.Assumed }
	if slices.ContainsFunc(r.Thread.Assertions, assumed) || len(r.Thread.Given) > 0 {
		s += ", where the kernel's requirements hold"
	}
	for _, same := range p.shared() {
		s += ", where " + same
	}
	if p.lockstep() {
		s += ", lanes of a warp in lock step"
	}
	if p.opt.OnlyIntraBlock || p.OneBlock {
		s += "; races between blocks were not checked"
	}
	if n := p.Config.Oversize; n > 0 {
		s += fmt.Sprintf("; a block needs %d bytes of shared memory, more than any GPU has", n)
	}
	var assuming []string
	for _, e := range p.opt.Assume {
		assuming = append(assuming, e.Text)
	}
	for _, f := range p.opt.Axioms {
		assuming = append(assuming, "the axioms in "+f.Name)
	}
	if n := len(r.Unbounded); n > 0 {
		text := p.stays(&r.Unbounded[0])
		if n > 1 {
			text += fmt.Sprintf(", and %d more accesses", n-1)
		}
		assuming = append(assuming, text)
	}
	if text := p.unplaced(); text != "" {
		assuming = append(assuming, text)
	}
	if text := p.beyond(); text != "" {
		assuming = append(assuming, text)
	}
	assuming = append(assuming, p.unreadKeys()...)
	assuming = append(assuming, p.special(r)...)
	if len(assuming) > 0 {
		s += "; assuming " + strings.Join(assuming, ", ")
	}
	return s
}

// unreadKeys names what the metadata of the launch has that heddle does not know.
func (p *Proof) unreadKeys() (out []string) {
	for _, key := range p.Config.Unread {
		out = append(out, "that the launch does not depend on "+key)
	}
	return out
}

// unplaced names the pointers that may alias others although the host code has the launch, because
// it does not tell where they point; empty if there is nothing that they could alias. What the
// proof assumes of pointers in general is in Details.
func (p *Proof) unplaced() string {
	if p.realPointers() || p.pointerCount() < 2 {
		return ""
	}
	names := p.Config.Unplaced
	if p.Config.Host == 0 && p.unread() != "" { // by a launch of which nothing is known
		for _, v := range p.Job.Kernel.Params {
			if v.Pointer {
				names = append(names, v.Shown())
			}
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) == 1:
		return "that " + names[0] + " does not alias"
	case len(names) > shownNames:
		names = append(slices.Clone(names[:shownNames-1]),
			fmt.Sprintf("%d more pointers", len(names)-shownNames+1))
	}
	return "that " + strings.Join(names, ", ") + " do not alias"
}

// beyond names a construct of the host code that heddle may not follow completely, if what the
// proof takes from the host code may depend on it: the shape of the launch, numbers, and that
// pointers point to different memory.
func (p *Proof) beyond() string {
	k, c := p.Job.Kernel, p.Config
	apart := p.pointerCount() > 1
	at := p.Job.Module.Facts.Beyond(k, c, func(fact string) bool {
		switch {
		case fact == "grid":
			return p.tied != nil || c.Origins[fact] == launch.FromHost && p.opt.Any.Grid == [3]bool{}
		case fact == "block":
			return p.tied != nil || c.Origins[fact] == launch.FromHost && p.opt.Any.Block == [3]bool{}
		}
		for i, v := range k.Params {
			name := c.Args[i].Name
			_, fixed := p.Fixed[i]
			switch {
			case fact != "arg "+name:
			case v.Pointer:
				return apart && !slices.Contains(c.Unplaced, name)
			case len(v.PtrFields) > 0:
				return apart
			default:
				return p.tied != nil || fixed && c.Origins[fact] == launch.FromHost
			}
		}
		return false
	})
	if at == nil {
		return ""
	}
	return fmt.Sprintf("that the launch does not depend on line %d (%s)", at.Span.Start.Line(), at.What)
}

// pointerCount counts the pointers of the kernel that may lead to the same memory.
func (p *Proof) pointerCount() int {
	n := p.variables()
	for _, v := range p.Job.Kernel.Params {
		if v.Pointer {
			n++
		}
		n += len(v.PtrFields)
	}
	return n
}

// shownNames is how many pointers a line names.
const shownNames = 6

// variables counts the global variables of the kernel that host code can point to: it asks for
// their address, or they are managed.
func (p *Proof) variables() int {
	f, n := p.Job.Module.Facts, 0
	if f == nil {
		return 0
	}
	for _, v := range ir.ReachableVars(p.Job.Kernel) {
		if v.Space == event.Global && f.Addressable(v) {
			n++
		}
	}
	return n
}

// noTexture is assumed of a kernel that reads textures and writes global memory: PTX has no address
// for what a texture reads.
const noTexture = "that the kernel writes no memory behind its textures and surfaces"

// noConstant is assumed of a kernel that may store to constant memory or to a parameter, which is
// invalid: what these hold is taken to be what it was.
const noConstant = "that the kernel stores nothing to constant memory or to its parameters"

// noWrap is assumed where many iterations or threads may add to a counter.
const noWrap = "that counters of atomic additions do not wrap around"

// shape prints the grid and the block, with what is arbitrary and what is guessed.
func (p *Proof) shape() string {
	g, any := p.Config.Geometry, p.opt.Any
	part := func(key, dims string, free bool) string {
		if !free && p.Config.Origins[key].Guessed() {
			dims += " (guessed)"
		}
		return key + " " + dims
	}
	grid, block := launch.Dims(g.Grid), launch.Dims(g.Block)
	if any.Is() {
		grid, block = shapeText(g.Grid, any.Grid), shapeText(g.Block, any.Block)
	}
	return part("grid", grid, any.Grid != [3]bool{}) + ", " +
		part("block", block, any.Block != [3]bool{})
}

// guessedShape reports whether the grid or the block of the proof is a guess.
func (p *Proof) guessedShape() bool { return p.guessedGrid() || p.guessedBlock() }

// guessedGrid reports whether the proof is for a grid that heddle chose.
func (p *Proof) guessedGrid() bool {
	return p.opt.Any.Grid == [3]bool{} && p.Config.Origins["grid"].Guessed()
}

// guessedBlock reports whether the proof is for blocks of a size that heddle chose.
func (p *Proof) guessedBlock() bool {
	return p.opt.Any.Block == [3]bool{} && p.Config.Origins["block"].Guessed()
}

// given lists the scalar arguments that the proof is for, with their values: what was read from
// host code is worth a look.
func (p *Proof) given() []string {
	var out []string
	for i := range p.Job.Kernel.Params {
		if _, ok := p.Fixed[i]; ok {
			a := &p.Config.Args[i]
			text := a.Name + " = " + a.Value()
			if p.Config.Origins["arg "+a.Name].Guessed() {
				text += " (guessed)"
			}
			out = append(out, text)
		}
	}
	return out
}

// Details complete Scope: limits of arbitrary launches, and everything that the proof assumes.
func (p *Proof) Details(r *verify.Result) []string {
	var out []string
	if p.opt.Any.Is() {
		out = append(out, "at most 1024 threads per block and fewer than 2^31 in each dimension")
	}
	return append(out, "assuming "+p.assumptions(r))
}

// realPointers reports whether a saved launch says where all pointer arguments point, so that
// nothing is assumed about them.
func (p *Proof) realPointers() bool {
	for i := range p.Config.Args {
		if p.Config.Origins["arg "+p.Config.Args[i].Name] != launch.FromProgram {
			return false
		}
	}
	return p.Config.Saved != ""
}

// otherLaunch returns a place where the host code of a launch may launch the kernel in a way that
// is not followed, such as through a pointer: "k.cu:4:12". It is empty if there is none.
func (p *Proof) otherLaunch() string {
	if p.Config.Host == 0 {
		return ""
	}
	return p.unread()
}

// unread returns a place where host code may launch the kernel in a way that is not followed; empty
// if there is none.
func (p *Proof) unread() string {
	if p.otherUse == nil {
		at := ""
		if f := p.Job.Files().Lookup(p.Job.Module.Name); p.Config.Saved == "" && f != nil {
			if pos := launch.Unfollowed(p.Job.Kernel, f, p.Job.Module.Facts); pos.IsValid() {
				at = p.Job.Format(pos)
			}
		}
		p.otherUse = &at
	}
	return *p.otherUse
}

// special lists what a proof assumes because of what the kernel does: few kernels need any of it.
// OpenCL leaves the size of sub-groups to the device. A misaligned access is undefined, and so no
// race.
func (p *Proof) special(r *verify.Result) []string {
	var out []string
	if m := p.Job.Kernel.Module; m != nil && m.OpenCL && r.Thread.Func.UsesWarps() {
		out = append(out, "sub-groups are 32 consecutive work-items")
	}
	if r.Thread.AssumesAligned() {
		out = append(out, "accesses are aligned to their sizes")
	}
	if gridBarrier(r.Thread) != nil && p.Config.Host == 0 && p.Config.Saved == "" {
		out = append(out, "that the launch is cooperative")
	}
	if asksRegisters(p.Job.Kernel) {
		out = append(out, "that setmaxnreg finds enough registers")
	}
	if r.Thread.Textures {
		out = append(out, noTexture)
	}
	if r.Thread.WritesConst {
		out = append(out, noConstant)
	}
	if r.Counters {
		out = append(out, noWrap)
	}
	for _, o := range r.Zero {
		out = append(out, o.Name+" is 0 when the kernel starts")
	}
	return out
}

// asksRegisters reports whether threads of a kernel may wait for registers (PTX ISA 9.7.19.5).
func asksRegisters(k *ir.Func) bool {
	return ir.MayExecute(k, func(in *ir.Instr) bool {
		return in.Action() == isa.ActRegisterPool && in.Fn == isa.FnInc
	})
}

// notZero says why an array is not 0 when the kernel starts, as verify.Options.NotZero.
func (p *Proof) notZero(o *lockstep.Object) (why string, left bool) {
	key := "variable " + o.Name
	if o.Var != nil {
		name := launch.BaseName(o.Var.Shown())
		if a, set := p.Config.Symbols[name]; set && (a.Buffer != nil && !a.Buffer.Zeros() ||
			slices.ContainsFunc(a.Bits, func(b byte) bool { return b != 0 })) {
			return o.Name + " is not 0 when the kernel starts (host code)", false
		}
	}
	if i := slices.Index(p.Job.Kernel.Params, o.Var); i >= 0 {
		if i >= len(p.Config.Args) || !o.Var.Pointer {
			return "", false
		}
		a := &p.Config.Args[i]
		key = "arg " + a.Name
		if p.filled(a) {
			return fmt.Sprintf("%s is not 0 when the kernel starts (%s)", o.Name, p.Config.Origins[key]), false
		}
	}
	at := p.Config.Again[key]
	if !at.IsValid() {
		return "", false
	}
	return fmt.Sprintf("nothing sets %s to 0 again after an earlier launch (%s)", o.Name,
		p.Job.Format(at.Start)), true
}

// filled reports whether the buffer of an argument is known to hold something else than zeros.
func (p *Proof) filled(a *launch.Arg) bool {
	return a.Buffer != nil && !p.Config.Origins["arg "+a.Name].Guessed() && !a.Buffer.Zeros()
}

// assumptions lists what a proof assumes.
func (p *Proof) assumptions(r *verify.Result) string {
	s, other := "", ""
	for _, e := range p.opt.Assume {
		s += e.Text + ", "
	}
	for _, f := range p.opt.Axioms {
		s += "the axioms in " + f.Name + ", "
	}
	if len(p.shared()) > 0 {
		other = "other "
	}
	s += "that "
	if !p.realPointers() {
		s += other + "pointer arguments do not alias each other or variables, "
		if text := p.unplaced(); text != "" {
			s += "in particular " + text + ", "
		}
	}
	if m := p.Job.Kernel.Module; m != nil && m.OpenCL && !slices.ContainsFunc(m.Vars, (*ir.Var).LaunchFact) {
		s += "the global offset is 0 or __HEDDLE_GLOBAL_OFFSET, "
	}
	if p.opt.Bounds {
		s += "accesses stay in their arrays where their size is unknown, and loops end"
	} else {
		s += "accesses stay in the buffers that arguments point to, and in arrays of unknown size, and " +
			"loops end"
	}
	if at := p.otherLaunch(); at != "" {
		s += ", and that the kernel is launched only as heddle reads it: " + at +
			" uses its name in another way"
	}
	if text := p.beyond(); text != "" {
		s += ", and " + text
	}
	for _, text := range p.unreadKeys() {
		s += ", and " + text
	}
	for i := range r.Unbounded {
		s += ", and that " + p.stays(&r.Unbounded[i])
	}
	if usesFrame(r.Thread) {
		s += ", and that accesses to local arrays stay in their array where others of the thread " +
			"follow it"
	}
	if p.opt.NoWrap {
		s += ", and that signed 32-bit index arithmetic does not wrap"
	}
	if names := r.Thread.Extern; len(names) > 0 {
		s += ", and that " + strings.Join(names, ", ") + " return, access no memory but the " +
			"thread's own and do not synchronize"
	}
	for _, text := range p.special(r) {
		s += ", and " + text
	}
	return s
}

// usesFrame reports whether the thread accesses its stack frame at an offset that is not constant.
// LLVM puts all local arrays of a function into one variable, of which alone the size is known.
func usesFrame(th *lockstep.Thread) bool {
	for i := range th.Own {
		a := &th.Own[i]
		if _, fixed := th.Context.Value(a.Offset); !fixed &&
			strings.HasPrefix(a.Object.Name, "__local_depot") {
			return true
		}
	}
	return false
}
