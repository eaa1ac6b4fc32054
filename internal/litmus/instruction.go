package litmus

import (
	"slices"
	"strings"

	"heddle/internal/event"
)

var orders = map[string]event.Order{"weak": event.Weak, "relaxed": event.Relaxed,
	"acquire": event.Acquire, "release": event.Release, "acq_rel": event.AcqRel, "sc": event.SeqCst,
	"volatile": event.Relaxed, "mmio": event.Relaxed}

var scopes = map[string]event.Scope{"cta": event.CTA, "cluster": event.Cluster, "gpu": event.GPU,
	"sys": event.Sys}

var functions = map[string]Fn{"add": Add, "sub": Sub, "mul": Mul, "div": Div, "and": And, "or": Or,
	"xor": Xor, "exch": Exch, "cas": CAS}

var branches = map[string]Relation{"beq": Eq, "bne": Ne, "blt": Lt, "ble": Le, "bgt": Gt, "bge": Ge}

// proxies are instructions of other proxies (PTX ISA 8.6), in the words of the format.
var proxies = map[string]string{"tld": "texture", "suld": "surface", "cold": "constant",
	"sust": "surface", "suatom": "surface", "sured": "surface"}

// opcode is an opcode with its modifiers.
type opcode struct {
	pos   Pos
	name  string
	parts []string // modifiers that have not been used
}

// take removes the first modifier that a table has, and returns what it stands for.
func take[V any](o *opcode, table map[string]V) (v V, name string, ok bool) {
	for i, p := range o.parts {
		if v, ok = table[p]; ok {
			o.parts = slices.Delete(o.parts, i, i+1)
			return v, p, true
		}
	}
	return v, "", false
}

// instruction reads one instruction of a thread, or nothing, or a label.
func (r *reader) instruction(th int) {
	if r.tok.text == "|" || r.tok.text == ";" {
		return
	}
	t := r.name("an instruction")
	if r.accept(":") {
		if _, twice := r.labels[th][t.text]; twice {
			r.fail(t.pos, "label %s is defined twice in P%d", t.text, r.ids[th])
		}
		r.labels[th][t.text] = len(r.test.Threads[th].Code)
		return
	}
	o := &opcode{pos: t.pos, name: t.text}
	for r.accept(".") {
		o.parts = append(o.parts, r.name("a modifier").text)
	}
	in := Inst{Pos: t.pos}
	r.decode(th, o, &in)
	if len(o.parts) > 0 {
		r.fail(t.pos, "%s has no modifier .%s here", o.name, o.parts[0])
	}
	in.Text = strings.Join(strings.Fields(r.text[t.at:r.tok.at]), " ")
	r.test.Threads[th].Code = append(r.test.Threads[th].Code, in)
}

// decode reads the rest of an instruction.
func (r *reader) decode(th int, o *opcode, in *Inst) {
	if proxy, ok := proxies[o.name]; ok {
		r.unsupported(o.pos, "%s accesses memory through the %s proxy", o.name, proxy)
	}
	if rel, ok := branches[o.name]; ok {
		in.Op, in.Cond = Branch, rel
		in.A = r.operand(th)
		r.expect(",")
		in.B = r.operand(th)
		r.expect(",")
		r.target(th)
		return
	}
	switch o.name {
	case "ld":
		r.load(th, o, in)
	case "st":
		in.Op = Store
		r.order(o, in, event.Weak, event.Weak, event.Relaxed, event.Release)
		in.Loc = r.memory()
		r.expect(",")
		in.A = r.operand(th)
	case "atom", "red":
		r.atomic(th, o, in)
	case "fence", "membar":
		r.fence(o, in)
	case "bar", "barrier":
		r.barrier(th, o, in)
	case "add", "sub", "mul", "div":
		in.Op, in.Fn = Compute, functions[o.name]
		r.compute(th, in)
	case "goto":
		in.Op = Goto
		r.target(th)
	default:
		r.fail(o.pos, "unknown instruction %s", o.name)
	}
}

// target reads the label of a branch.
func (r *reader) target(th int) {
	t := r.name("a label")
	r.jumps = append(r.jumps, jump{th, len(r.test.Threads[th].Code), t.text, t.pos})
}

// operand reads a register or a constant.
func (r *reader) operand(th int) Operand {
	if r.tok.kind == word {
		return Operand{IsReg: true, Reg: r.register(th, r.advance())}
	}
	return Operand{Value: r.integer("a register or a constant")}
}

// memory reads a location, perhaps in brackets.
func (r *reader) memory() int {
	bracket := r.accept("[")
	t := r.name("a location")
	if isRegister(t.text) {
		r.unsupported(t.pos, "the address in register %s", t.text)
	}
	loc := r.location(t)
	if bracket {
		r.expect("]")
	}
	return loc
}

// order takes the order and the scope of an operation. Without an order it has the given default;
// the scope of a strong operation is that of the device if none is written (PTX ISA 9.7.13.5).
func (r *reader) order(o *opcode, in *Inst, byDefault event.Order, allowed ...event.Order) {
	order, name, ok := take(o, orders)
	if !ok {
		order = byDefault
	}
	if !slices.Contains(allowed, order) {
		r.fail(o.pos, "%s has no order .%s", o.name, name)
	}
	scope, word, scoped := take(o, scopes)
	switch {
	case order == event.Weak && scoped:
		r.fail(o.pos, "a weak %s has no scope, found .%s", o.name, word)
	case name == "volatile" || name == "mmio": // 8.4.1, 8.4.2: relaxed at system scope
		scope = event.Sys
	case order != event.Weak && !scoped:
		scope = event.GPU
	}
	in.Order, in.Scope = order, scope
}

// load reads a load from memory, or the copy of a value into a register.
func (r *reader) load(th int, o *opcode, in *Inst) {
	plain := len(o.parts) == 0
	r.order(o, in, event.Weak, event.Weak, event.Relaxed, event.Acquire)
	in.Dst = r.register(th, r.name("a register"))
	r.expect(",")
	if plain && (r.tok.kind != word && r.tok.text != "[" || isRegister(r.tok.text)) {
		in.Op, in.Fn, in.A = Compute, Copy, r.operand(th)
		return
	}
	in.Op, in.Loc = Load, r.memory()
}

// compute reads the operands of arithmetic.
func (r *reader) compute(th int, in *Inst) {
	in.Dst = r.register(th, r.name("a register"))
	r.expect(",")
	in.A = r.operand(th)
	r.expect(",")
	in.B = r.operand(th)
}

// atomic reads atom or red. The format gives red the orders of atom; its read acquires nothing
// (PTX ISA 8.8).
func (r *reader) atomic(th int, o *opcode, in *Inst) {
	in.Op = Atom
	if o.name == "red" {
		in.Op = Red
	}
	r.order(o, in, event.Relaxed, event.Relaxed, event.Acquire, event.Release, event.AcqRel)
	fn, name, ok := take(o, functions)
	if !ok {
		r.fail(o.pos, "%s has no operation, such as .add", o.name)
	}
	if in.Op == Red && (fn == Exch || fn == CAS) {
		r.fail(o.pos, "red has no operation .%s", name)
	}
	in.Fn = fn
	if in.Op == Atom {
		in.Dst = r.register(th, r.name("a register"))
		r.expect(",")
	}
	in.Loc = r.memory()
	r.expect(",")
	in.A = r.operand(th)
	if fn == CAS { // A is compared, B is new
		r.expect(",")
		in.B = r.operand(th)
	}
}

// fence reads a fence. One without an order is acq_rel, and membar is fence.sc (PTX ISA 9.7.13.4).
func (r *reader) fence(o *opcode, in *Inst) {
	in.Op = Fence
	if slices.Contains(o.parts, "proxy") {
		r.unsupported(o.pos, "a proxy fence, %s.%s", o.name, strings.Join(o.parts, "."))
	}
	if o.name == "fence" {
		if !slices.ContainsFunc(o.parts, func(p string) bool { _, ok := scopes[p]; return ok }) {
			r.fail(o.pos, "fence needs a scope, such as .gpu")
		}
		r.order(o, in, event.AcqRel, event.AcqRel, event.SeqCst, event.Acquire, event.Release)
		return
	}
	levels := map[string]event.Scope{"cta": event.CTA, "gl": event.GPU, "sys": event.Sys}
	level, _, ok := take(o, levels)
	if !ok {
		r.fail(o.pos, "membar needs .cta, .gl or .sys")
	}
	in.Order, in.Scope = event.SeqCst, level
}

// barrier reads bar.cta.sync or bar.cta.arrive.
func (r *reader) barrier(th int, o *opcode, in *Inst) {
	in.Op = Bar
	take(o, map[string]bool{"cta": true})
	what, _, ok := take(o, map[string]bool{"sync": false, "arrive": true})
	if !ok {
		r.unsupported(o.pos, "%s without .sync or .arrive", o.name)
	}
	in.Arrive = what
	in.Name[0] = r.operand(th)
	if r.accept(",") {
		in.Name[1] = r.operand(th)
	}
	if r.accept(",") {
		in.Count, in.HasCount = r.operand(th), true
	}
}
