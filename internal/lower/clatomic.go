package lower

import (
	"fmt"
	"strings"
)

// The atomic functions of OpenCL C, section 6.15.12. Each overload is inline assembly: one PTX
// instruction with the state space of the pointer, the order and the scope. Fences of OpenCL order
// one address space only; a ".pragma" carries that to the detector (atomicMode).

// clLegacy maps the functions of OpenCL 1.x to operations of PTX. They are relaxed and have device
// scope (6.15.12.8), which is the meaning of atom without .sem and .scope (PTX ISA 9.7.13.5). inc
// and dec add 1 and -1.
var clLegacy = map[string]string{
	"add": "add", "sub": "add", "inc": "add", "dec": "add", "xchg": "exch", "cmpxchg": "cas",
	"min": "min", "max": "max", "and": "and", "or": "or", "xor": "xor",
}

// atomicType is an element type of atomics, with its names in PTX.
type atomicType struct {
	clType
	atomic string // type of the object: atomic_int
	reg    string // constraint of inline assembly: r
	ptx    string // type of the instruction: s32
}

// clAtomics are all types of atomics.
var clAtomics = []atomicType{
	{clInts[4], "atomic_int", "r", "s32"}, {clInts[5], "atomic_uint", "r", "u32"},
	{clInts[6], "atomic_long", "l", "s64"}, {clInts[7], "atomic_ulong", "l", "u64"},
	{clFloats[0], "atomic_float", "f", "f32"}, {clFloats[1], "atomic_double", "d", "f64"},
}

// ptxType returns the type suffix of an operation.
func (t atomicType) ptxType(op string) string {
	switch op {
	case "exch", "cas", "and", "or", "xor":
		return fmt.Sprintf("b%d", 8*t.size)
	case "add":
		if t.ptx == "s64" {
			return "u64"
		}
	}
	return t.ptx
}

// atomicSpaces returns the address spaces of atomic objects with their suffixes in PTX.
func (g *clGen) atomicSpaces() [][2]string {
	out := [][2]string{{"__global", ".global"}, {"__local", ".shared"}}
	if g.generic {
		out = append(out, [2]string{"__generic", ""})
	}
	return out
}

// legacyAtomic defines atomic_OP and atom_OP of OpenCL 1.x.
func (g *clGen) legacyAtomic(name string) {
	op := name[strings.IndexByte(name, '_')+1:]
	ptx := clLegacy[op]
	for _, t := range clAtomics[:5] {
		if t.float && op != "xchg" {
			continue
		}
		for _, space := range g.atomicSpaces() {
			params := []string{fmt.Sprintf("volatile %s %s *p", space[0], t.name)}
			value := "v"
			switch op {
			case "cmpxchg":
				params = append(params, t.name+" c")
			case "sub":
				value = "-v"
			case "inc":
				value = "(" + t.name + ")1"
			case "dec":
				value = "(" + t.name + ")-1"
			}
			if op != "inc" && op != "dec" {
				params = append(params, t.name+" v")
			}
			g.function(t.name, name, params,
				fmt.Sprintf("%s r; %s return r;", t.name, t.atom("atom"+space[1], ptx, value)))
		}
	}
}

// atom returns the assembly of one read-modify-write of *p with value; cas also uses c. instr is
// the instruction up to the operation.
func (t atomicType) atom(instr, op, value string) string {
	compare, in := "", ""
	typ, reg := t.ptxType(op), t.reg
	result := "r"
	if t.float && op != "add" { // an operation on bits
		unsigned := clInteger(t.size, false).name
		reg = map[int]string{4: "r", 8: "l"}[t.size]
		value = fmt.Sprintf("__builtin_astype(%s, %s)", value, unsigned)
		in = fmt.Sprintf("%s t; ", unsigned)
		result = "t"
	}
	operands := fmt.Sprintf(`"l"(p), "%s"(%s)`, reg, value)
	if op == "cas" {
		c := "c"
		if t.float {
			c = fmt.Sprintf("__builtin_astype(c, %s)", clInteger(t.size, false).name)
		}
		compare = ", %3"
		operands = fmt.Sprintf(`"l"(p), "%s"(%s), "%s"(%s)`, reg, c, reg, value)
	}
	s := fmt.Sprintf(`%s__asm__ volatile("%s.%s.%s %%0, [%%1], %%2%s;" : "=%s"(%s) : %s : "memory");`,
		in, instr, op, typ, compare, reg, result, operands)
	if result == "t" {
		s = "{ " + s + fmt.Sprintf(" r = __builtin_astype(t, %s); }", t.name)
	}
	return s
}

// clOrders returns the memory orders that an operation may have besides relaxed, with their names
// in PTX. Sequential consistency is mapped to acquire and release: its total order adds no
// synchronization.
func clOrders(name string) map[string]string {
	switch {
	case strings.HasPrefix(name, "load"):
		return map[string]string{"acquire": "acquire", "seq_cst": "acquire"}
	case strings.HasPrefix(name, "store"), name == "flag_clear":
		return map[string]string{"release": "release", "seq_cst": "release"}
	}
	return map[string]string{"acquire": "acquire", "release": "release", "acq_rel": "acq_rel",
		"seq_cst": "acq_rel"}
}

// atomicMode is an order and a scope of an operation.
type atomicMode struct {
	sem, scope string // of PTX
	// part is set if the operation orders only the address space of the atomic object, as all orders
	// but seq_cst do: global and local happens-before are separate relations (OpenCL 2.0, 3.3.6).
	part bool
}

// instr returns the assembly up to the operation: "atom.acquire.gpu.global", after a .pragma if
// part is set.
func (m atomicMode) instr(opcode, space string) string {
	text := fmt.Sprintf("%s.%s.%s%s", opcode, m.sem, m.scope, space)
	if m.part && space != "" {
		text = fmt.Sprintf(`.pragma \"heddle.order %s\";\n\t%s`, space[1:], text)
	}
	return text
}

// clSwitched returns a switch over all orders and scopes; do returns the operation for one of them.
// With constant arguments, the inliner removes all cases but one. An order that OpenCL does not
// allow for the operation executes the default case, relaxed. PTX has no scope below the block, and
// with that of the block a race between sub-groups would be missed: such a kernel is unsupported,
// as it calls a function without a body.
func clSwitched(name string, do func(m atomicMode) string) string {
	var b strings.Builder
	scopes := func(sem string, part bool) {
		fmt.Fprintf(&b, "switch (scope) { case memory_scope_device: %s break; case "+
			"memory_scope_all_svm_devices: %s break; case memory_scope_sub_group: case "+
			"memory_scope_work_item: memory_scope_sub_group_and_work_item_are_not_supported(); break; "+
			"default: %s break; } ",
			do(atomicMode{sem, "gpu", part}), do(atomicMode{sem, "sys", part}),
			do(atomicMode{sem, "cta", part}))
	}
	orders := clOrders(name)
	b.WriteString("switch (order) { ")
	for _, o := range []string{"acquire", "release", "acq_rel", "seq_cst"} {
		if sem := orders[o]; sem != "" {
			fmt.Fprintf(&b, "case memory_order_%s: ", o)
			scopes(sem, o != "seq_cst")
			b.WriteString("break; ")
		}
	}
	b.WriteString("default: ")
	scopes("relaxed", false)
	b.WriteString("} ")
	return b.String()
}

// atomic defines atomic_OP or atomic_OP_explicit of OpenCL 2.0, for every type that has the
// operation: floats have no min, max or bit operations, and atomic_flag is a 32-bit integer.
func (g *clGen) atomic(name string) {
	if !g.generic {
		return // the atomic types do not exist before 2.0 either
	}
	op := strings.TrimSuffix(strings.TrimPrefix(name, "atomic_"), "_explicit")
	for _, t := range clAtomics {
		if strings.HasPrefix(op, "flag") {
			if t.name != "int" {
				continue
			}
			t.atomic = "atomic_flag"
		}
		if t.float && strings.HasPrefix(op, "fetch") && op != "fetch_add" && op != "fetch_sub" {
			continue
		}
		for _, space := range g.atomicSpaces() {
			g.atomicForms(name, op, t, space)
		}
	}
}

// atomicForms defines the overloads of one name for a type and an address space.
func (g *clGen) atomicForms(name, op string, t atomicType, space [2]string) {
	ret := t.name
	params := []string{fmt.Sprintf("volatile %s %s *p", space[0], t.atomic)}
	var do func(m atomicMode) string
	rmw := func(op, value string) {
		do = func(m atomicMode) string { return t.atom(m.instr("atom", space[1]), op, value) }
	}
	after, pre := "return r;", t.name+" r; "
	switch op {
	case "load":
		do = func(m atomicMode) string {
			return fmt.Sprintf(`__asm__ volatile("%s.%s %%0, [%%1];" : "=%s"(r) : "l"(p) : "memory");`,
				m.instr("ld", space[1]), t.ptx, t.reg)
		}
	case "store", "flag_clear":
		ret, after, pre = "void", "", ""
		value := "v"
		if op == "store" {
			params = append(params, t.name+" v")
		} else {
			value = "0"
		}
		do = func(m atomicMode) string {
			return fmt.Sprintf(`__asm__ volatile("%s.%s [%%0], %%1;" : : "l"(p), "%s"(%s) : "memory");`,
				m.instr("st", space[1]), t.ptx, t.reg, value)
		}
	case "flag_test_and_set":
		ret, after = "bool", "return r != 0;"
		rmw("exch", "1")
	case "compare_exchange_strong", "compare_exchange_weak":
		g.compareExchange(name, t, space)
		return
	case "exchange":
		params = append(params, t.name+" v")
		rmw("exch", "v")
	default:
		params = append(params, t.name+" v")
		value := "v"
		if op == "fetch_sub" {
			value = "-v"
		}
		rmw(strings.NewReplacer("fetch_sub", "add", "fetch_", "").Replace(op), value)
	}
	g.atomicOverloads(atomicFunc{ret, name, params, []string{"memory_order order"}, t, space},
		pre+clSwitched(op, do)+after)
}

// atomicFunc is an atomic function for one type and one address space.
type atomicFunc struct {
	ret, name string
	params    []string // without order and scope
	orders    []string // parameters of the _explicit forms
	t         atomicType
	space     [2]string // of OpenCL and of PTX
}

// atomicOverloads defines a function without order and scope, or its _explicit forms: with orders,
// and with orders and scope. A function for generic pointers tests at run time which address space
// the pointer is in.
func (g *clGen) atomicOverloads(a atomicFunc, body string) {
	const device = "memory_scope scope = memory_scope_device; "
	forms := []struct {
		params []string
		set    string
	}{{a.params, "memory_order order = memory_order_seq_cst; " + device}}
	if strings.HasSuffix(a.name, "_explicit") {
		params := append(a.params, a.orders...)
		forms[0].params, forms[0].set = params, device
		forms = append(forms, forms[0])
		forms[1].params, forms[1].set = append(params[:len(params):len(params)], "memory_scope scope"), ""
	}
	for _, f := range forms {
		if a.space[1] != "" {
			g.function(a.ret, a.name, f.params, f.set+body)
			continue
		}
		args := ""
		for _, p := range f.params[1:] {
			args += ", " + p[strings.LastIndexAny(p, " *")+1:]
		}
		call := func(space string) string {
			return fmt.Sprintf("%s((volatile %s %s *)__heddle_as%s(p)%s)", a.name, space, a.t.atomic, space,
				args)
		}
		text := fmt.Sprintf("if (__heddle_is_local(p)) return %s; return %s;", call("__local"),
			call("__global"))
		if a.ret == "void" {
			text = fmt.Sprintf("if (__heddle_is_local(p)) %s; else %s;", call("__local"), call("__global"))
		}
		g.function(a.ret, a.name, f.params, text)
	}
}

// compareExchange defines the overloads of a compare-and-swap. A failed one has the order of
// success too.
func (g *clGen) compareExchange(name string, t atomicType, space [2]string) {
	for _, expected := range g.spaces(false) {
		params := []string{fmt.Sprintf("volatile %s %s *p", space[0], t.atomic),
			fmt.Sprintf("%s %s *e", expected, t.name), t.name + " v"}
		bits := clInteger(t.size, true).name
		body := fmt.Sprintf("%s r, c = *e; ", t.name) + clSwitched("compare_exchange",
			func(m atomicMode) string {
				return t.atom(m.instr("atom", space[1]), "cas", "v")
			}) + fmt.Sprintf("if (__builtin_astype(r, %s) == __builtin_astype(c, %s)) return true; *e = r; "+
			"return false;", bits, bits)
		orders := []string{"memory_order order", "memory_order failure"}
		g.atomicOverloads(atomicFunc{"bool", name, params, orders, t, space}, body)
	}
}

// atomicInit defines atomic_init, an ordinary store (6.15.12.1).
func (g *clGen) atomicInit(name string) {
	if !g.generic {
		return
	}
	for _, t := range clAtomics {
		for _, space := range g.atomicSpaces() {
			g.function("void", name, []string{fmt.Sprintf("volatile %s %s *p", space[0], t.atomic),
				t.name + " v"},
				fmt.Sprintf("*(%s %s *)p = v;", space[0], t.name))
		}
	}
}
