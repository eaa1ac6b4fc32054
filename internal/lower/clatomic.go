package lower

import (
	"fmt"
	"strings"
)

// Atomic functions, 6.15.12, by the PTX instruction with the state space of the pointer.

// clLegacy are the functions of OpenCL 1.x: relaxed, and of device scope (6.15.12.8), which is what atom means
// without .sem and .scope (PTX ISA 9.7.13.5). inc and dec add 1 and -1.
var clLegacy = map[string]string{
	"add": "add", "sub": "add", "inc": "add", "dec": "add", "xchg": "exch", "cmpxchg": "cas",
	"min": "min", "max": "max", "and": "and", "or": "or", "xor": "xor",
}

// atomicType is a type of atomics with its PTX names.
type atomicType struct {
	clType
	atomic string // atomic_int
	reg    string // constraint of inline assembly
	ptx    string // s32
}

var clAtomics = []atomicType{
	{clInts[4], "atomic_int", "r", "s32"}, {clInts[5], "atomic_uint", "r", "u32"},
	{clInts[6], "atomic_long", "l", "s64"}, {clInts[7], "atomic_ulong", "l", "u64"},
	{clFloats[0], "atomic_float", "f", "f32"}, {clFloats[1], "atomic_double", "d", "f64"},
}

// ptxType is the type suffix that an operation takes.
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

// atomicSpaces are the address spaces of atomic objects, and what PTX calls them.
func (g *clGen) atomicSpaces() [][2]string {
	out := [][2]string{{"__global", ".global"}, {"__local", ".shared"}}
	if g.generic {
		out = append(out, [2]string{"__generic", ""})
	}
	return out
}

// legacyAtomic is atomic_OP and atom_OP.
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
			g.function(t.name, name, params, fmt.Sprintf("%s r; %s return r;", t.name, t.atom("atom"+space[1], ptx, value)))
		}
	}
}

// atom is the assembly of one read-modify-write of *p by a value, for cas with c.
func (t atomicType) atom(instr, op, value string) string {
	compare, in := "", ""
	typ, reg := t.ptxType(op), t.reg
	result := "r"
	if t.float && op != "add" { // bits
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
	s := fmt.Sprintf(`%s__asm__ volatile("%s.%s.%s %%0, [%%1], %%2%s;" : "=%s"(%s) : %s : "memory");`, in, instr, op, typ, compare, reg, result, operands)
	if result == "t" {
		s = "{ " + s + fmt.Sprintf(" r = __builtin_astype(t, %s); }", t.name)
	}
	return s
}

// clOrders are the memory orders that an operation may have, with what PTX calls them. Sequential consistency is
// acquire and release here: its total order synchronizes nothing more.
func clOrders(name string) map[string]string {
	switch {
	case strings.HasPrefix(name, "load"):
		return map[string]string{"acquire": "acquire", "seq_cst": "acquire"}
	case strings.HasPrefix(name, "store"), name == "flag_clear":
		return map[string]string{"release": "release", "seq_cst": "release"}
	}
	return map[string]string{"acquire": "acquire", "release": "release", "acq_rel": "acq_rel", "seq_cst": "acq_rel"}
}

// switched is the operation in each order and scope; do writes it for one. The inliner leaves the one that constants
// choose.
func clSwitched(name string, do func(sem, scope string) string) string {
	var b strings.Builder
	scopes := func(sem string) {
		fmt.Fprintf(&b, "switch (scope) { case memory_scope_device: %s break; case memory_scope_all_svm_devices: %s break; default: %s break; } ",
			do(sem, "gpu"), do(sem, "sys"), do(sem, "cta"))
	}
	orders := clOrders(name)
	b.WriteString("switch (order) { ")
	for _, o := range []string{"acquire", "release", "acq_rel", "seq_cst"} {
		if sem := orders[o]; sem != "" {
			fmt.Fprintf(&b, "case memory_order_%s: ", o)
			scopes(sem)
			b.WriteString("break; ")
		}
	}
	b.WriteString("default: ")
	scopes("relaxed")
	b.WriteString("} ")
	return b.String()
}

// atomic is atomic_OP and atomic_OP_explicit of 2.0.
func (g *clGen) atomic(name string) {
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

// atomicForms writes the forms of one name for a type and a space: without order and scope, with an order, with both.
func (g *clGen) atomicForms(name, op string, t atomicType, space [2]string) {
	ret := t.name
	params := []string{fmt.Sprintf("volatile %s %s *p", space[0], t.atomic)}
	var do func(sem, scope string) string
	rmw := func(op, value string) {
		do = func(sem, scope string) string {
			return t.atom(fmt.Sprintf("atom.%s.%s%s", sem, scope, space[1]), op, value)
		}
	}
	orders, after, pre := []string{"memory_order order"}, "return r;", t.name+" r; "
	switch op {
	case "load":
		do = func(sem, scope string) string {
			return fmt.Sprintf(`__asm__ volatile("ld.%s.%s%s.%s %%0, [%%1];" : "=%s"(r) : "l"(p) : "memory");`, sem, scope, space[1], t.ptx, t.reg)
		}
	case "store", "flag_clear":
		ret, after, pre = "void", "", ""
		value := "v"
		if op == "store" {
			params = append(params, t.name+" v")
		} else {
			value = "0"
		}
		do = func(sem, scope string) string {
			return fmt.Sprintf(`__asm__ volatile("st.%s.%s%s.%s [%%0], %%1;" : : "l"(p), "%s"(%s) : "memory");`, sem, scope, space[1], t.ptx, t.reg, value)
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
	body := pre + clSwitched(op, do) + after
	const device = "memory_scope scope = memory_scope_device; "
	if !strings.HasSuffix(name, "_explicit") {
		g.function(ret, name, params, "memory_order order = memory_order_seq_cst; "+device+body)
		return
	}
	g.function(ret, name, append(params, orders...), device+body)
	g.function(ret, name, append(append(params, orders...), "memory_scope scope"), body)
}

// compareExchange writes the forms of a compare-and-swap. It has the order of success also when it fails.
func (g *clGen) compareExchange(name string, t atomicType, space [2]string) {
	for _, expected := range g.spaces(false) {
		params := []string{fmt.Sprintf("volatile %s %s *p", space[0], t.atomic), fmt.Sprintf("%s %s *e", expected, t.name), t.name + " v"}
		bits := clInteger(t.size, true).name
		body := fmt.Sprintf("%s r, c = *e; ", t.name) + clSwitched("compare_exchange", func(sem, scope string) string {
			return t.atom(fmt.Sprintf("atom.%s.%s%s", sem, scope, space[1]), "cas", "v")
		}) + fmt.Sprintf("if (__builtin_astype(r, %s) == __builtin_astype(c, %s)) return true; *e = r; return false;", bits, bits)
		const device = "memory_scope scope = memory_scope_device; "
		if !strings.HasSuffix(name, "_explicit") {
			g.function("bool", name, params, "memory_order order = memory_order_seq_cst; "+device+body)
			continue
		}
		params = append(params, "memory_order order", "memory_order failure")
		g.function("bool", name, params, device+body)
		g.function("bool", name, append(params, "memory_scope scope"), body)
	}
}

// atomicInit is an ordinary store (6.15.12.1).
func (g *clGen) atomicInit(name string) {
	for _, t := range clAtomics {
		for _, space := range g.atomicSpaces() {
			g.function("void", name, []string{fmt.Sprintf("volatile %s %s *p", space[0], t.atomic), t.name + " v"},
				fmt.Sprintf("*(%s %s *)p = v;", space[0], t.name))
		}
	}
}
