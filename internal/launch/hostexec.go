package launch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An exec executes host code over values with unknowns, and collects the launches that it meets.
// Both arms of an if are executed unless its condition is constant; a variable that they leave with
// different values becomes unknown. What a loop assigns is unknown in it, except in loops with
// constant bounds that launch. A function of the file is executed where it is called. Whatever
// other code can change becomes unknown: it is passed by address, or by name to a function that
// heddle does not know.
//
// So it misses facts, but invents none, up to these assumptions: a variable of another file is
// changed by calls only, what other files define does not keep the address of an argument for
// later, and the branches of an #if that is not decided declare but do not assign. What it does not
// understand must not count as something that changes nothing; see modify. What the facts of a
// launch may depend on beyond the C that is followed completely is said with the launch; see
// certainty.
type exec struct {
	*hostFile
	globals  map[string]*cell
	externs  map[string]*cell // names without a declaration: members, variables of other files
	symbols  map[string]*cell // module variables of the device that the host set
	limits   map[string]*cell // kernels with cudaFuncSetAttribute: the bytes of shared memory
	frame    *frame
	journal  []change
	touched  []touch // assigned while dry is above 0
	dry      int     // above 0: only what is assigned matters
	fuel     int
	epoch    int // grows with each call that may change what pointers point to
	used     map[string]int
	texts    map[string]opaqueText
	calls    []*hostFunc // active, innermost last
	launches []HostLaunch
	visited  map[int]bool       // tokens "<<<"
	dead     map[int]bool       // those of branches whose condition is the constant false
	unsure   map[int]*Construct // what the condition of one of dead may depend on
	ran      map[*hostFunc]bool // functions that were executed, and not only rehearsed
	met      int                // launches, also those of a dry run
	escaped  []*cell            // variables whose address was kept, or to which a reference refers
	aliases  []*cell            // references to something else than a variable
	mapped   bool               // kernels may access memory that host code reads
	shared   []*cell            // extern variables, which other files may change
	isKept   map[*root]bool     // memory to which other memory points
	kept     []*root            // that of isKept whose contents were known at some time
	// last is the memory of all variables of the device, of which only the launch that left it
	// counts
	last     *cell
	switched []touch // what the cases of the innermost switch assign
	// equal has unknowns with the values that the conditions of the current path give them
	equal    map[string]int64
	depth    int        // nesting of statements
	deep     bool       // a call was not executed, because calls were nested too deeply
	lasting  bool       // variables that are declared keep the values of earlier calls
	external bool       // variables are declared with extern
	scope    hostScope  // of the variables that are declared outside of functions
	sure     *certainty // nil: heddle follows all of the host code
}

// A cell is a variable.
type cell struct {
	name string
	typ  ctype
	val  value
	// alias marks a reference to something else than a variable, or an object with a reference as a
	// member: a store to it changes what is in exec.escaped.
	alias bool
	set   bool // the code assigns it
	noted bool // memory: something was known about its contents
	held  bool // its address is kept for longer than a call
	// foreign marks a declaration with extern.
	foreign bool
	scope   hostScope
	many    bool // several variables have its name, in namespaces or classes: its value is never known
}

// A touch is an assignment to a variable, or to members of a dim3.
type touch struct {
	cell *cell
	dims uint8 // of a dim3: 1 for x, 2 for y, 4 for z
}

// allDims are all members of a dim3, and all of any other variable.
const allDims = 7

// A change is an assignment that may be undone.
type change struct {
	cell *cell
	old  value
}

// opaqueText is something unknown that stands for a text, as long as nothing that it reads changes.
type opaqueText struct {
	val   value
	epoch int
	reads []reading
}

// A reading is the value of a variable that a text read.
type reading struct {
	name string
	cell *cell
	val  value
}

// A frame has the variables of an active function, by scope, innermost last.
type frame struct {
	scopes []map[string]*cell
	lost   []touch // assigned on paths that return early
	// early says that a path has perhaps returned; what the journal has from since on, such a path
	// has not assigned.
	early bool
	since int
}

// Limits of the execution of one file. Real host code stays far below them; beyond them, launches
// are still found, without facts.
const (
	maxHostWork  = 1_000_000
	maxCallDepth = 12
	maxUnrolled  = 32 // iterations of a loop with constant bounds
)

// spend counts n steps of work. It returns false if too much was done.
func (x *exec) spend(n int) bool {
	x.fuel -= n
	return x.fuel > 0
}

// fresh returns a name for something unknown that no other has. Launches show it without the number
// if they have no other of that name.
func (x *exec) fresh(name string) string {
	x.used[name]++
	if n := x.used[name]; n > 1 {
		return fmt.Sprintf("%s#%d", name, n)
	}
	return name
}

// object returns something unknown.
func (x *exec) object(name string) value {
	return value{kind: anObject, obj: &object{name: x.fresh(name), members: map[string]value{}}}
}

// unknownOf returns an unknown value of a type.
func (x *exec) unknownOf(t ctype, name string) value {
	if t.class == classDim && t.ptr == 0 && t.array == 0 {
		name = x.fresh(name)
		return value{kind: aDim, dim: [3]*Expr{unknown(name + ".x"), unknown(name + ".y"),
			unknown(name + ".z")}}
	}
	if t.ptr > 0 || t.array != 0 {
		r := newRoot(x.fresh(name))
		r.unknown = t.array == 0
		return value{kind: aPointer, root: r, off: number(0), elem: t.elemSize()}
	}
	if t.class == classInteger {
		v := integer(unknown(x.fresh(name)))
		if t.size > 0 {
			v.size, v.unsigned, v.narrow = max(t.size, 4), t.unsigned && t.size >= 4, t.size < 4
		}
		return v
	}
	v := x.object(name)
	v.elem = t.elem
	v.real = t.class == classFloating
	return v
}

// local returns the variable of a name in the active function; nil if there is none.
func (x *exec) local(name string) *cell {
	if x.frame == nil || !x.spend(len(x.frame.scopes)/maxScopes) {
		return nil
	}
	for _, s := range slices.Backward(x.frame.scopes) {
		if c, ok := s[name]; ok {
			return c
		}
	}
	return nil
}

// variable returns the variable of a name; nil if there is none.
func (x *exec) variable(name string) *cell {
	if c := x.local(name); c != nil {
		return c
	}
	if c, ok := x.globals[name]; ok {
		return c
	}
	return x.externs[name]
}

// extern declares a name that the file does not declare.
func (x *exec) extern(name string) *cell {
	c := &cell{name: name}
	c.val = x.unknownOf(c.typ, name)
	x.externs[name] = c
	return c
}

// assign sets a variable.
func (x *exec) assign(c *cell, v value) { x.assignPart(c, v, allDims) }

// assignPart sets a variable to a value that differs from the present one in some members of a dim3
// only.
func (x *exec) assignPart(c *cell, v value, dims uint8) {
	if v.kind == nothing || c.many {
		v = x.unknownOf(c.typ, c.name)
	}
	x.spend(1)
	x.journal = append(x.journal, change{c, c.val})
	if x.dry > 0 {
		x.touched = append(x.touched, touch{c, dims})
		if v.kind == aPointer {
			x.retain(v.root) // the variable is forgotten
		}
		for _, p := range []value{c.val, v} { // a later iteration may write through it
			if p.kind == aPointer {
				x.touched = append(x.touched, touch{p.root.mem, allDims})
			}
		}
	}
	c.val = v
	c.noted = c.noted || v.kind == aMemory && v.noted()
}

// forget makes a variable unknown.
func (x *exec) forget(c *cell) {
	if c.val.kind == aMemory {
		x.assign(c, value{kind: aMemory, n: c.val.n, fill: -1})
		return
	}
	if c.val.kind == aPointer { // it may still be that
		x.retain(c.val.root)
	}
	x.assign(c, value{})
}

// rollback undoes the assignments after mark.
func (x *exec) rollback(mark int) {
	for i := len(x.journal) - 1; i >= mark; i-- {
		x.journal[i].cell.val = x.journal[i].old
	}
	x.journal = x.journal[:mark]
	if x.frame != nil {
		x.frame.since = min(x.frame.since, mark)
	}
}

// returned notes that a path perhaps returns from the function, with what the journal has up to
// mark.
func (f *frame) returned(mark int) {
	if !f.early || mark < f.since {
		f.early, f.since = true, mark
	}
}

// mergeReturns makes unknown what some paths through a function assign and others do not, which
// return early.
func (x *exec) mergeReturns(f *frame) {
	x.forgetAll(f.lost)
	if !f.early {
		return
	}
	var order []*cell
	before := make(map[*cell]value)
	for _, ch := range x.journal[min(f.since, len(x.journal)):] {
		if _, ok := before[ch.cell]; !ok {
			before[ch.cell] = ch.old
			order = append(order, ch.cell)
		}
	}
	for _, c := range order {
		if d := differing(c.val, before[c]); d != 0 {
			x.forgetPart(c, d)
		}
	}
}

// alternatives executes arms, of which a run takes one, and merges the states after them. Of two
// arms, a run takes the first where cond is not 0; nil if that is unknown. It returns true if all
// arms end the function or the iteration of a loop.
func (x *exec) alternatives(cond *Expr, arms ...func() bool) bool {
	mark := len(x.journal)
	var after []map[*cell]value
	var order []*cell
	for _, arm := range arms {
		ends := arm()
		state := make(map[*cell]value)
		for _, ch := range x.journal[mark:] {
			if _, ok := state[ch.cell]; !ok {
				state[ch.cell] = ch.cell.val
				order = append(order, ch.cell)
			}
		}
		x.spend(len(state))
		x.rollback(mark)
		if ends && x.frame != nil {
			x.frame.returned(mark)
			for _, c := range order {
				if v, ok := state[c]; ok {
					x.frame.lost = append(x.frame.lost, touch{c, differing(c.val, v)})
				}
			}
		}
		if !ends {
			after = append(after, state)
		}
	}
	if len(after) == 0 {
		return true
	}
	done := make(map[*cell]bool)
	for _, c := range order {
		if done[c] {
			continue
		}
		done[c] = true
		vals := make([]value, len(after))
		for i, state := range after {
			v, ok := state[c]
			if !ok {
				v = c.val
			}
			vals[i] = v
		}
		if len(vals) != 2 || len(arms) != 2 {
			cond = nil
		}
		x.merge(c, vals, cond)
	}
	return false
}

// rehearse executes code without its launches, undoes it, and returns the variables that it may
// assign.
func (x *exec) rehearse(code func()) []touch {
	mark, first := len(x.journal), len(x.touched)
	x.dry++
	code()
	x.dry--
	x.rollback(mark)
	out := slices.Clone(x.touched[first:])
	x.spend(len(out) / 4)
	if x.dry == 0 {
		x.touched = x.touched[:0]
	}
	return out
}

// leftIn returns the launches that left the contents of memory among what was assigned.
func leftIn(assigned []touch) map[*cell]int {
	var out map[*cell]int
	for _, t := range assigned {
		if left := t.cell.val.left; left > 0 {
			if out == nil {
				out = make(map[*cell]int)
			}
			out[t.cell] = left
		}
	}
	return out
}

// forgetAll makes what was assigned unknown.
func (x *exec) forgetAll(assigned []touch) {
	x.spend(len(assigned) / 4)
	dims := make(map[*cell]uint8)
	for _, t := range assigned {
		dims[t.cell] |= t.dims
	}
	for _, t := range assigned {
		if d, ok := dims[t.cell]; ok {
			delete(dims, t.cell)
			x.forgetPart(t.cell, d)
		}
	}
}

// forgetPart makes members of a dim3 unknown, or any other variable.
func (x *exec) forgetPart(c *cell, dims uint8) {
	if c.val.kind != aDim || dims == allDims {
		x.forget(c)
		return
	}
	v, fresh := c.val, x.unknownOf(ctype{class: classDim}, c.name)
	for i := range v.dim {
		if dims>>i&1 != 0 {
			v.dim[i] = fresh.dim[i]
		}
	}
	x.assignPart(c, v, dims)
}

// merge sets a variable to what two or more paths leave in it: what they do not agree on is
// unknown, or decided by cond where that decides between two paths.
func (x *exec) merge(c *cell, vals []value, cond *Expr) {
	left := vals[0].left
	for _, v := range vals {
		if v.left == 0 {
			left = 0
		}
	}
	defer x.leftBy(c, left)
	if v, ok := either(cond, vals); ok {
		if d := differing(c.val, v); d != 0 {
			x.assignPart(c, v, d)
		}
		return
	}
	apart := uint8(0)
	for _, v := range vals {
		apart |= differing(v, vals[0])
	}
	if apart != allDims {
		if d := differing(c.val, vals[0]); d != 0 {
			x.assignPart(c, vals[0], d)
		}
	}
	if apart == 0 {
		return
	}
	for _, v := range vals {
		if v.kind == aPointer {
			x.retain(v.root)
		}
	}
	x.forgetPart(c, apart)
}

// either returns the value that is the first of vals where cond is not 0, and else the second;
// false if it cannot be expressed.
func either(cond *Expr, vals []value) (value, bool) {
	if cond == nil || vals[0].kind != vals[1].kind || vals[0].same(vals[1]) || isReal(vals[0]) ||
		isReal(vals[1]) || vals[0].unsigned != vals[1].unsigned {
		return value{}, false
	}
	out := vals[0]
	switch out.kind {
	case anInteger:
		out.n = operation(OpCond, cond, vals[0].n, vals[1].n)
		return out, out.n != nil
	case aDim:
		for i := range out.dim {
			if sameExpr(vals[0].dim[i], vals[1].dim[i]) {
				continue
			}
			if out.dim[i] = operation(OpCond, cond, vals[0].dim[i], vals[1].dim[i]); out.dim[i] == nil {
				return value{}, false
			}
		}
		return out, true
	}
	return value{}, false
}

// differing returns the members in which two values of a dim3 differ, or all if other values do.
func differing(v, w value) uint8 {
	switch {
	case v.same(w):
		return 0
	case v.kind != aDim || w.kind != aDim:
		return allDims
	}
	out := uint8(0)
	for i := range v.dim {
		if !sameExpr(v.dim[i], w.dim[i]) {
			out |= 1 << i
		}
	}
	return out
}

// repeat executes the body of a loop: code executes one iteration, and again evaluates the
// condition, where nil means that it is unknown. A loop that launches and has no jumps is executed
// iteration by iteration as long as its condition is constant.
func (x *exec) repeat(jumps bool, again func() *Expr, code func() bool) {
	if x.dry > 0 {
		again()
		code()
		return
	}
	met := x.met
	var left map[*cell]int
	cells := x.rehearse(func() {
		first := len(x.touched)
		again()
		ends := code()
		again()
		if !ends {
			left = leftIn(x.touched[first:])
		}
	})
	if x.met > met && !jumps {
		for range maxUnrolled {
			n, ok := again().Constant()
			if !ok {
				break
			}
			if n == 0 {
				return
			}
			if code() {
				break
			}
		}
	}
	x.forgetAll(cells)
	if n, ok := again().Constant(); ok && n == 0 {
		return
	}
	for _, t := range cells { // what a later iteration finds
		x.leftBy(t.cell, left[t.cell])
	}
	x.alternatives(nil, code, func() bool { return false })
	x.forgetAll(cells)
}

// under executes code on a path on which cond holds, where holds is false if its negation does:
// launches on it have the values that equations in it give to unknowns.
func (x *exec) under(cond *Expr, holds bool, code func() bool) bool {
	outer := x.equal
	defer func() { x.equal = outer }()
	op := OpEq
	if !holds {
		op = OpNe
	}
	if cond != nil && cond.Op == op {
		for i, e := range cond.Args {
			if n, ok := cond.Args[1-i].Constant(); ok && e.Op == OpUnknown {
				x.equal = maps.Clone(outer)
				if x.equal == nil {
					x.equal = make(map[string]int64)
				}
				x.equal[e.Name] = n
			}
		}
	}
	return code()
}

// outside makes unknown what a call of unknown code may change.
func (x *exec) outside() {
	x.epoch++
	x.spend((len(x.escaped) + len(x.mutableGlobals) + len(x.shared)) / 16)
	x.dropKept()
	for _, c := range x.escaped {
		x.forget(c)
	}
	for _, name := range x.mutableGlobals {
		if c := x.globals[name]; c != nil && !c.typ.fixed {
			x.forget(c)
		}
	}
	for _, c := range x.shared {
		x.forget(c)
	}
	for _, name := range sortedKeys(x.externs) {
		if c := x.externs[name]; c.set {
			x.forget(c)
		}
	}
}

// elsewhere makes unknown what a function may change that the file declares and another file
// defines: the global variables that other files can name.
func (x *exec) elsewhere() {
	for _, name := range sortedKeys(x.globals) {
		if c := x.globals[name]; !c.typ.static && !c.typ.fixed {
			x.forget(c)
		}
	}
}

// declare adds a variable to the innermost scope. Two declarations of one name in a scope are the
// branches of an #if, or at file scope those of two namespaces: their values must agree.
func (x *exec) declare(name string, t ctype, v value, perhaps bool) *cell {
	scope := x.globals
	if x.frame != nil {
		scope = x.frame.scopes[len(x.frame.scopes)-1]
	}
	hidden := x.frame == nil && x.hidden[name]
	if v.kind == nothing || x.lasting || hidden || x.scope.class && !t.static {
		v = x.unknownOf(t, name)
	}
	if old, ok := scope[name]; ok && (perhaps || x.frame == nil) {
		apart := x.frame == nil && !perhaps
		switch {
		case x.external:
			return old
		case old.foreign && apart:
			old.foreign, old.typ = false, t
			x.assign(old, v)
			return old
		}
		if !old.val.same(v) || apart && !t.fixed {
			old.many = old.many || apart
			if old.typ.class != t.class || old.typ.bytes() != t.bytes() {
				old.typ = ctype{}
			}
			x.forget(old)
		}
		return old
	}
	switch {
	case !t.automatic:
	case v.kind == anInteger && v.narrow: // of the narrowest type, to be sure
		t.class, t.size, t.truth = classInteger, 1, true
	case v.kind == anInteger && v.size > 0:
		t.class, t.size, t.unsigned = classInteger, v.size, v.unsigned
	}
	c := &cell{name: name, typ: t, val: v, many: hidden, alias: t.ptr == 0 && t.rec != nil && t.rec.refs,
		foreign: x.external, scope: x.scope}
	scope[name] = c
	if x.keepsThis && t.rec != nil && t.ptr == 0 {
		x.hold(c)
	}
	return c
}

// inline computes a call of a function of the file whose body is one return statement.
func (x *exec) inline(qualifier, name string, targs []token, args []value) value {
	f := x.function(qualifier, name, len(args), x.caller())
	if f == nil || f.result == nil || len(args) < len(f.params) || len(x.calls) >= maxCallDepth {
		return value{}
	}
	returns := f.returns
	if f.generic != "" {
		returns = x.deduced(f, targs, args)[f.generic]
	}
	outer := x.frame
	x.enter(f, targs, args)
	v := x.eval(f.result)
	if v.kind != nothing {
		v = convert(v, returns)
	}
	x.leave(outer)
	return v
}

// enter begins the execution of a function: its parameters get the values of args.
func (x *exec) enter(f *hostFunc, targs []token, args []value) {
	scope := make(map[string]*cell)
	types := x.deduced(f, targs, args)
	parts := splitList(targs)
	for i, name := range f.template {
		c := &cell{name: name}
		if i < len(parts) {
			if n := x.eval(parts[i]).integer(); n != nil {
				c.val = integer(n).of(0, false) // of the type of the parameter
			}
		}
		if c.val.kind == nothing {
			c.val = x.object(name)
		}
		scope[name] = c
	}
	for i, p := range f.params {
		c := &cell{name: p.name, typ: p.typ, alias: p.typ.ptr == 0 && p.typ.rec != nil && p.typ.rec.refs}
		if i < len(args) {
			t := p.typ
			if p.generic != "" {
				t = types[p.generic]
			}
			c.val = convert(args[i], t)
		}
		if c.val.kind == nothing {
			c.val = x.unknownOf(p.typ, p.name)
		}
		scope[p.name] = c
	}
	x.frame = &frame{scopes: []map[string]*cell{scope}}
	x.calls = append(x.calls, f)
}

// deduced returns the types that a call of a function template gives its parameters, by name: those
// that the arguments in angle brackets are, or those of the values of args.
func (x *exec) deduced(f *hostFunc, targs []token, args []value) map[string]ctype {
	out := make(map[string]ctype)
	for i, part := range splitList(targs) {
		if i < len(f.template) {
			t, end, ok := x.parseType(part, 0)
			if !ok || end != len(part) {
				t = ctype{}
			}
			out[f.template[i]] = t
		}
	}
	for i, p := range f.params {
		if _, given := out[p.generic]; p.generic != "" && !given && i < len(args) {
			out[p.generic] = args[i].ctype()
		}
	}
	return out
}

// ctype returns the type of a value: automatic if it does not matter for what is done with the
// value, and classOther if it may.
func (v value) ctype() ctype {
	switch {
	case v.kind == anInteger && v.narrow:
		return ctype{}
	case v.kind == anInteger && v.size > 0:
		return ctype{class: classInteger, size: v.size, unsigned: v.unsigned}
	case v.kind == aFloat && v.size == 4:
		return ctype{class: classFloating, size: 4}
	}
	return ctype{automatic: true}
}

// caller returns the innermost function that is executed; nil if there is none.
func (x *exec) caller() *hostFunc {
	if len(x.calls) == 0 {
		return nil
	}
	return x.calls[len(x.calls)-1]
}

// leave ends the execution of a function; outer is the frame of its caller.
func (x *exec) leave(outer *frame) {
	x.calls = x.calls[:len(x.calls)-1]
	x.frame = outer
}

// destroy applies what destructors of the file do to the variables of scopes that end: those that
// are objects, of whatever class.
func (x *exec) destroy(scopes ...map[string]*cell) {
	if !x.destructors {
		return
	}
	for _, s := range scopes {
		for _, c := range s {
			if t := c.typ; t.ptr == 0 && (t.class == classOther || t.class == classVector && !t.plain) {
				x.outside()
				return
			}
		}
	}
}

// active returns how many calls of a function are being executed.
func (x *exec) active(f *hostFunc) int {
	n := 0
	for _, g := range x.calls {
		if g == f {
			n++
		}
	}
	return n
}

// call executes a function of the file for its effects. refs are the variables that the arguments
// name, which a parameter that is a reference shares. A call within a call of the same function
// stands for all deeper ones: nothing is known of its arguments and of what any of them changes.
func (x *exec) call(f *hostFunc, targs []token, args []value, refs []*cell) {
	again := x.active(f)
	if again == 1 {
		x.outside()
		args, refs, targs = nil, nil, nil
		if x.dry == 0 {
			x.forgetAll(x.rehearse(func() { x.call(f, nil, nil, nil) }))
		}
	}
	if len(x.calls) >= maxCallDepth || again > 1 || !x.spend(10) {
		x.outside()
		x.deep = true
		for i, p := range f.params {
			if i < len(refs) && refs[i] != nil && p.typ.ref {
				x.forget(refs[i])
			}
		}
		return
	}
	outer := x.frame
	x.enter(f, targs, args)
	for i, p := range f.params {
		switch {
		case p.mayRefer():
			c := x.frame.scopes[0][p.name]
			c.val, c.alias = x.unknownOf(ctype{}, p.name), true
			x.aliases = append(x.aliases, c)
		case p.typ.ref && i < len(refs) && refs[i] != nil:
			x.frame.scopes[0][p.name] = refs[i]
		}
	}
	x.frame.scopes = append(x.frame.scopes, map[string]*cell{})
	x.block(f.body[0], f.body[1])
	x.destroy(x.frame.scopes...)
	inner := x.frame
	x.leave(outer)
	x.mergeReturns(inner)
	if x.dry == 0 {
		x.ran[f] = true
	}
}

// plainName returns the name of something unknown without the numbers that tell it from others.
func plainName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] == '#' {
			for i+1 < len(name) && isDigit(name[i+1]) {
				i++
			}
			continue
		}
		b.WriteByte(name[i])
	}
	return b.String()
}
