package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/ir/irtest"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/memory"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// env is an execution outside loops, without parameters that are known.
type env struct {
	c     *smt.Context
	guard smt.Term
	drawn []string // the unknown values, in order
}

func (e *env) Guard() smt.Term                          { return e.guard }
func (e *env) Counters() []smt.Term                     { return nil }
func (e *env) Fixed(*ir.Var, int, int) (smt.Term, bool) { return 0, false }
func (e *env) SignExtend(t smt.Term) smt.Term           { return e.c.SExt(t, 64) }
func (e *env) Pause()                                   {}
func (e *env) Unknown(kind string, w int) smt.Term {
	name := fmt.Sprintf("%s%s%d", symbol.Private, kind, len(e.drawn))
	e.drawn = append(e.drawn, name)
	return e.c.Var(name, w)
}

const arraySize = 16

// bench has a kernel with one instruction of each kind, which a test executes in any order.
type bench struct {
	*env
	t    *rapid.T
	m    *memory.Model
	s    memory.State
	a    *thread.Object
	f    *ir.Func
	vars map[string]uint64
	mem  [3][arraySize]byte // contents at the start of each interval
	now  [arraySize]byte    // what the thread sees
	tag  int                // the interval
}

func (b *bench) instr(op string) *ir.Instr {
	for _, in := range b.f.Blocks[0].Instrs {
		if in.Text() == op {
			return in
		}
	}
	b.t.Fatalf("no %s", op)
	return nil
}

func newBench(t *rapid.T) *bench {
	reg := map[int]string{1: "h", 2: "h", 4: "w", 8: "d"}
	var body []irtest.Stmt
	for _, size := range []int{1, 2, 4, 8} {
		at := irtest.Mem{Base: "s"}
		body = append(body, irtest.Op(fmt.Sprintf("st.shared.u%d", 8*size), at, reg[size]),
			irtest.Op(fmt.Sprintf("ld.shared.u%d", 8*size), reg[size], at))
	}
	body = append(body, irtest.Op("bar.sync", "_", 0), irtest.Op("bar.sync", "_", 0), irtest.Op("ret"))
	f := irtest.Fun("k", irtest.Regs("h u16", "w u32", "d u64"), irtest.Var("s", event.Shared, arraySize, 16),
		irtest.Block("b", body...))
	k, err := kernel.Analyze(f, kernel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := smt.New()
	b := &bench{env: &env{c: c, guard: smt.True}, t: t, f: f, vars: map[string]uint64{}}
	b.m = memory.New(c, k, b.env, memory.Options{})
	b.a = b.m.Object(f.Vars[0], 0)
	b.m.Begin()
	for _, in := range f.Blocks[0].Instrs { // what a first pass learns
		if kernel.IsStore(in) || in.ReadsMemory() {
			b.m.Leads(in, b.place(0))
		}
	}
	b.m.Begin()
	b.s = b.m.Entry()
	for i := range b.mem {
		for j := range b.mem[i] {
			b.mem[i][j] = byte(rapid.IntRange(0, 255).Draw(t, "byte"))
		}
	}
	b.now = b.mem[0]
	return b
}

func (b *bench) place(off smt.Term) []memory.Place {
	if off == 0 {
		off = b.c.Const(0, 64)
	}
	return []memory.Place{{Cond: smt.True, Object: b.a, Offset: off}}
}

// offset draws an offset that is aligned to a size: a constant, or a variable with its value.
func (b *bench) offset(size int) (smt.Term, int) {
	at := rapid.IntRange(0, arraySize/size-1).Draw(b.t, "element")
	if rapid.Bool().Draw(b.t, "constant") {
		return b.c.Const(uint64(at*size), 64), at * size
	}
	name := fmt.Sprintf("o%d", rapid.IntRange(0, 2).Draw(b.t, "index"))
	if v, ok := b.vars[name]; ok {
		if int(v) >= arraySize/size { // a variable keeps its value
			return b.c.Const(uint64(at*size), 64), at * size
		}
		at = int(v)
	}
	b.vars[name] = uint64(at)
	return b.c.MulConst(b.c.Var(name, 64), uint64(size)), int(b.vars[name]) * size
}

// condition draws a condition, with its value.
func (b *bench) condition() (smt.Term, bool) {
	name := fmt.Sprintf("p%d", rapid.IntRange(0, 2).Draw(b.t, "condition"))
	if _, ok := b.vars[name]; !ok {
		b.vars[name] = uint64(rapid.IntRange(0, 1).Draw(b.t, "holds"))
	}
	return b.c.BoolVar(name), b.vars[name] == 1
}

// store stores, perhaps under a guard; taken says whether the thread is here.
func (b *bench) store(taken bool) {
	size := 1 << rapid.IntRange(0, 3).Draw(b.t, "size")
	in := b.instr(fmt.Sprintf("st.shared.u%d", 8*size))
	off, at := b.offset(size)
	v := uint64(rapid.Uint64().Draw(b.t, "value")) >> (64 - 8*size)
	if at+size > arraySize {
		return // beyond the end: not what the model is about
	}
	b.guard = smt.True
	if rapid.IntRange(0, 2).Draw(b.t, "guarded") == 0 {
		p, holds := b.condition()
		b.guard, taken = p, taken && holds
	}
	b.m.Store(in, b.place(off), []smt.Term{b.c.Const(v, 8*size)}, &b.s)
	b.guard = smt.True
	if taken {
		for i := range size {
			b.now[at+i] = byte(v >> (8 * i))
		}
	}
}

// storeAnywhere stores a byte through a pointer that may lead to any array.
func (b *bench) storeAnywhere(taken bool) {
	in := b.instr("st.shared.u8")
	v, at := byte(rapid.IntRange(0, 255).Draw(b.t, "byte")), rapid.IntRange(0, arraySize-1).Draw(b.t, "at")
	anywhere := []memory.Place{{Cond: smt.True, Offset: b.c.Var("pointer", 64)}}
	b.m.Store(in, anywhere, []smt.Term{b.c.Const(uint64(v), 8)}, &b.s)
	if taken {
		b.now[at] = v
	}
}

// load loads, and compares with what the thread sees if it is here. It reports whether the value
// is known.
func (b *bench) load(taken bool) (known bool) {
	size := 1 << rapid.IntRange(0, 3).Draw(b.t, "size")
	in := b.instr(fmt.Sprintf("ld.shared.u%d", 8*size))
	off, at := b.offset(size)
	if at+size > arraySize {
		return false
	}
	var want uint64
	for i := size - 1; i >= 0; i-- {
		want = want<<8 | uint64(b.now[at+i])
	}
	before := len(b.drawn)
	v := b.m.Load(memory.Load{Instr: in, Places: b.place(off), Size: size}, &b.s)
	m := &smt.Model{Vars: map[string]uint64{}}
	for name, val := range b.vars {
		m.Vars[name] = val
	}
	for _, name := range b.drawn[before:] { // an unknown value may be the right one
		m.Vars[name] = want
	}
	e := b.c.Evaluate(m)
	e.Else = b.contents
	if got := e.Value(v); taken && got != want {
		b.t.Fatalf("load of %d bytes at %d is %#x, want %#x: %s with %v", size, at, got, want, b.c.String(v), b.vars)
	}
	return len(b.drawn) == before
}

// contents are the functions for memory at the start of an interval.
func (b *bench) contents(f string, args []uint64) uint64 {
	_, w, instances, ok := symbol.ParseMemory(f)
	if !ok || !instances {
		b.t.Fatalf("function %s", f)
	}
	of := 0 // the entry
	if args[1] != 0 {
		of = 1 + int(args[1]-1-uint64(b.instr("bar.sync").Index))
	}
	var v uint64
	for i := w/8 - 1; i >= 0; i-- {
		if at := int(args[0]) + i; at < arraySize {
			v = v<<8 | uint64(b.mem[of][at])
		}
	}
	return v
}

// barrier passes one of the two barriers: other threads may have changed everything.
func (b *bench) barrier() {
	if b.tag == 2 {
		return
	}
	var in *ir.Instr
	n := 0
	for _, x := range b.f.Blocks[0].Instrs {
		if kernel.IsBlockBarrier(x) {
			if n == b.tag {
				in = x
			}
			n++
		}
	}
	b.tag++
	b.m.Pass(&b.s, []smt.Term{b.c.Const(uint64(in.Index)+1, thread.TagWidth)}, func(int) bool { return true })
	b.m.Barrier(in, &b.s)
	b.now = b.mem[b.tag]
}

// TestViews: what a thread loads is what a concrete array of bytes holds, over its own stores of
// any size at any offsets, guards, branches and barriers.
func TestViews(t *testing.T) {
	known, loads := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		b := newBench(t)
		step := func(taken bool) {
			switch rapid.IntRange(0, 15).Draw(t, "step") {
			case 0:
				b.storeAnywhere(taken)
			case 1, 2, 3, 4, 5, 6:
				b.store(taken)
			default:
				loads++
				if b.load(taken) {
					known++
				}
			}
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 8).Draw(t, "kind") {
			case 0:
				b.barrier()
			case 1: // two paths
				p, holds := b.condition()
				other := b.s.Clone()
				for range rapid.IntRange(0, 3).Draw(t, "then") {
					step(holds)
				}
				b.s, other = other, b.s
				for range rapid.IntRange(0, 3).Draw(t, "else") {
					step(!holds)
				}
				states, paths := []*memory.State{&other, &b.s}, []smt.Term{p, b.c.Not(p)}
				tags := b.m.JoinTags(states, paths)
				b.s = b.m.Join(0, states, paths)
				b.s.Tags = tags
			default:
				step(true)
			}
		}
	})
	if known < loads/10 {
		t.Errorf("only %d of %d loads are known: the test shows little", known, loads)
	}
}

// TestResolve: an address is split into the arrays and offsets that it may be.
func TestResolve(t *testing.T) {
	f := irtest.Fun("k", irtest.Var("s", event.Shared, 64, 16), irtest.Var("r", event.Shared, 64, 16),
		irtest.Block("b", irtest.Op("ret")))
	k, err := kernel.Analyze(f, kernel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := smt.New()
	m := memory.New(c, k, &env{c: c, guard: smt.True}, memory.Options{})
	s, r := m.Base(m.Object(f.Vars[0], 0)), m.Base(m.Object(f.Vars[1], 0))
	i, p, q := c.Var("i", 64), c.BoolVar("p"), c.BoolVar("q")
	for _, tt := range []struct {
		name, want string
		addr       smt.Term
	}{
		{"a base", "s+0", s},
		{"an index", "s+|i|", c.Add(s, i)},
		{"a 32-bit address", "s+8", c.AddConst(c.Extract(s, 0, 32), 8)},
		{"a choice", "s+|i| r+|i|", c.Add(c.Ite(p, s, r), i)},
		{"a choice of choices", "s+0 r+0 s+4", c.Ite(p, s, c.Ite(q, r, c.AddConst(s, 4)))},
		{"no base", "?", i},
		{"two bases", "?", c.Add(s, r)},
		{"twice a base", "?", c.MulConst(s, 2)},
		{"a base in the offset", "?", c.Add(s, c.UDiv(r, c.Const(2, 64)))},
	} {
		var got []string
		for _, at := range m.Resolve(tt.addr) {
			if at.Object == nil {
				got = append(got, "?")
				continue
			}
			off := c.String(at.Offset)
			if v, ok := c.Value(at.Offset); ok {
				off = fmt.Sprint(v)
			}
			got = append(got, at.Object.Name+"+"+off)
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s leads to %s, want %s", tt.name, text, tt.want)
		}
	}
}

// TestArguments: arguments of calls hold what was stored, in parts and put together.
func TestArguments(t *testing.T) {
	f := irtest.Fun("k", irtest.Block("b", irtest.Op("ret")))
	k, err := kernel.Analyze(f, kernel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := smt.New()
	e := &env{c: c, guard: smt.True}
	m := memory.New(c, k, e, memory.Options{})
	m.Begin()
	s := m.Entry()
	v := &ir.Var{Name: "param", Space: event.Param, Size: 16}
	if !m.IsArgument(&ir.Operand{Var: v}) {
		t.Fatal("not an argument")
	}
	load := func(off, size int) string {
		n := len(e.drawn)
		r := m.LoadArgument(v, off, size, &s)
		if len(e.drawn) > n {
			return "?"
		}
		k, _ := c.Value(r)
		return fmt.Sprintf("%#x", k)
	}
	m.StoreArgument(v, 0, 4, c.Const(0x44332211, 32), &s)
	m.StoreArgument(v, 4, 4, c.Const(0x88776655, 32), &s)
	for _, tt := range []struct {
		off, size int
		want      string
	}{{0, 4, "0x44332211"}, {2, 2, "0x4433"}, {0, 8, "0x8877665544332211"}, {2, 4, "0x66554433"}, {8, 4, "?"}} {
		if got := load(tt.off, tt.size); got != tt.want {
			t.Errorf("%d bytes at %d: %s, want %s", tt.size, tt.off, got, tt.want)
		}
	}
	m.StoreArgument(v, 8, 8, c.Const(1, 64), &s)
	if got := load(0, 16); got != "?" {
		t.Errorf("16 bytes, which no term of at most 64 bits has, are %s", got)
	}
	m.StoreArgument(v, 3, 1, c.Const(0, 8), &s)
	if got := load(0, 4); got != "?" {
		t.Errorf("a word of which a byte was overwritten is %s", got)
	}
}
