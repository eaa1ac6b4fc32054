package prove

import (
	"context"
	"fmt"
	"strings"

	"heddle/internal/event"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
)

// shapeText prints dimensions, with * for those that are arbitrary.
func shapeText(d event.Dim3, free [3]bool) string {
	var parts []string
	for i, n := range []uint32{d.X, d.Y, d.Z} {
		if free[i] {
			parts = append(parts, "*")
		} else {
			parts = append(parts, fmt.Sprint(n))
		}
	}
	return "(" + strings.Join(parts, ",") + ")"
}

// assumeSteps bounds the query whether assumptions contradict each other.
const assumeSteps = 50_000_000

// assume adds the conditions of --assume to the thread. It returns why that is impossible; empty:
// it succeeded. Conditions that contradict each other would prove everything, so they are an error.
// If the query is not decided within assumeSteps, the proof goes on.
func (p *Proof) assume(ctx context.Context, th *lockstep.Thread) string {
	for _, e := range p.opt.Assume {
		t, err := e.Term(th.Context, func(name string) (smt.Term, bool) { return p.named(th, name) })
		if err != nil {
			return "--assume " + err.Error()
		}
		th.Assumed = append(th.Assumed, t)
	}
	if len(p.opt.Assume) == 0 {
		return ""
	}
	a := th.Context.Decide(ctx, th.Assumed, &sat.Solver{Steps: assumeSteps})
	if a.Status == smt.Unsat {
		return "the assumptions contradict each other: no launch and no arguments satisfy all of them"
	}
	return ""
}

// unwind restricts each loop to its first iterations, as --unwind requests. The result holds for
// these only, so the caller never reports it as a proof.
func (p *Proof) unwind(th *lockstep.Thread) {
	if p.opt.Unwind == 0 {
		return
	}
	c := th.Context
	for i := range th.Loops {
		l := &th.Loops[i]
		n := c.Const(uint64(p.opt.Unwind), c.Width(l.Counter))
		th.Assumed = append(th.Assumed, c.Ult(l.Counter, n), c.Ule(l.Last, n))
	}
}

// named returns the term for a name in an assumption: an integer parameter, or a dimension of the
// launch. It fails for pointers, floats and structs, whose values an assumption cannot constrain.
func (p *Proof) named(th *lockstep.Thread, name string) (smt.Term, bool) {
	for i, d := range "xyz" {
		switch name {
		case fmt.Sprintf("blockDim.%c", d):
			return th.Ntid[i], true
		case fmt.Sprintf("gridDim.%c", d):
			return th.Nctaid[i], true
		}
	}
	for i, v := range p.Job.Kernel.Params {
		integer := v.Type != isa.NoType && !v.Type.IsFloat() && v.Size == v.Type.Size()
		if p.Config.Args[i].Name != name || v.Pointer || !integer || v.Size > 8 {
			continue
		}
		w := 8 * v.Size
		if k, fixed := p.Fixed[i]; fixed {
			return th.Context.Const(k, w), true
		}
		if k, given := th.Given[lockstep.ParamName(v, 0, w)]; given {
			return th.Context.Const(k, w), true
		}
		return th.Context.Var(lockstep.ParamName(v, 0, w), w), true
	}
	return 0, false
}

// sizes returns a function for the sizes of arrays in bytes: those of variables, and of dynamic
// shared memory whose size is not a guess; with --bounds also those of buffers whose size the
// launch specifies. It returns nil for a search for places of barriers, which asks for races only.
func (p *Proof) sizes() func(*lockstep.Object) (uint64, bool) {
	if p.Paths {
		return nil
	}
	return func(o *lockstep.Object) (uint64, bool) {
		given := func(key string) bool {
			return p.opt.Bounds || !p.Config.Origins[key].Guessed()
		}
		if o.Var.Space != event.Param {
			switch {
			case !o.Var.Unsized:
				return uint64(o.Var.Size), o.Var.Size > 0
			case o.Space == event.Shared:
				return uint64(p.Config.DynShared), given("shared")
			}
			return 0, false
		}
		for i, v := range p.Job.Kernel.Params {
			if v != o.Var {
				continue
			}
			a := &p.Config.Args[i]
			switch {
			case a.Local != nil:
				return uint64(a.Local.Size), given("arg " + a.Name)
			case !p.opt.Bounds:
				return 0, false
			case a.Buffer != nil && o.Field == 0:
				return a.Buffer.Size, a.Buffer.Size > 0
			}
			for _, f := range a.Fields {
				if f.Offset == o.Field && f.Buffer != nil {
					return f.Buffer.Size, f.Buffer.Size > 0
				}
			}
		}
		return 0, false
	}
}

// pointers says which pointer arguments of the launch point into one buffer, or behind its start.
// The first argument with a buffer names its array.
func (p *Proof) pointers() map[lockstep.Pointer]lockstep.Target {
	out := map[lockstep.Pointer]lockstep.Target{}
	first := map[*launch.Buffer]lockstep.Pointer{}
	p.eachPointer(func(t target) {
		of, again := first[t.buffer]
		if !again {
			of, first[t.buffer] = t.ptr, t.ptr
		}
		if again || t.at > 0 {
			out[t.ptr] = lockstep.Target{Of: of, Offset: t.at}
		}
	})
	return out
}

// target is a pointer among the arguments, and where it points.
type target struct {
	ptr     lockstep.Pointer
	name    string
	buffer  *launch.Buffer
	at      uint64 // in bytes from the start of the buffer
	guessed bool   // at is a guess
}

// eachPointer calls visit for each pointer among the arguments.
func (p *Proof) eachPointer(visit func(target)) {
	for i, v := range p.Job.Kernel.Params {
		a := &p.Config.Args[i]
		if a.Buffer != nil {
			visit(target{lockstep.Pointer{Param: v}, a.Name, a.Buffer, a.Offset, a.Guessed})
		}
		for _, f := range a.Fields {
			visit(target{lockstep.Pointer{Param: v, Field: f.Offset},
				fmt.Sprintf("%s+%d", a.Name, f.Offset), f.Buffer, f.At, f.Guessed})
		}
	}
}

// shared names the arguments of the launch that point into one buffer, for each such buffer: "a and
// b point into one buffer". Where one of them points to by a guess is a part of it.
func (p *Proof) shared() []string {
	names := map[*launch.Buffer][]string{}
	guesses := map[*launch.Buffer]string{}
	var order []*launch.Buffer
	p.eachPointer(func(t target) {
		b := t.buffer
		if names[b] = append(names[b], t.name); len(names[b]) == 2 {
			order = append(order, b)
		}
		if t.guessed {
			guesses[b] += fmt.Sprintf(", %s at byte %d of it (guessed)", t.name, t.at)
		}
	})
	var out []string
	for _, b := range order {
		out = append(out, strings.Join(names[b], " and ")+" point into one buffer"+guesses[b])
	}
	return out
}

// guessedPlaces lists the arguments that point to a guessed place of a buffer that they share.
func (p *Proof) guessedPlaces() string {
	var out []string
	p.eachPointer(func(t target) {
		if t.guessed {
			out = append(out, fmt.Sprintf("place of %s in the buffer that it shares", t.name))
		}
	})
	return strings.Join(out, ", ")
}
