package reduce

import (
	"strings"

	"heddle/internal/ptx"
)

// registers returns the types of the registers that a function declares, by name. A name that ends
// with "<" stands for a range: the name, followed by a number.
func registers(f *ptx.Func) map[string]string {
	out := map[string]string{}
	add := func(v *ptx.Var) {
		for _, n := range v.Names {
			name := n.Name
			if n.Range > 0 {
				name += "<"
			}
			out[name] = v.Type
		}
	}
	for _, v := range f.Params {
		if v.Space == "reg" {
			add(v)
		}
	}
	for s := range statements(f.Body) {
		if s.Kind() != ptx.StmtNode {
			continue
		}
		if v, ok := s.Node().(*ptx.Var); ok && v.Space == "reg" {
			add(v)
		}
	}
	return out
}

// registerType returns the type of a register; empty for another name.
func registerType(regs map[string]string, name string) string {
	if t, ok := regs[name]; ok {
		return t
	}
	prefix := strings.TrimRight(name, "0123456789")
	return regs[prefix+"<"]
}

// sourcesFrom returns the index of the first operand that is not a result.
func sourcesFrom(in ptx.Inst) int {
	switch in.Opcode() {
	case "st", "red", "stu", "bar", "barrier", "multimem", "cp", "mbarrier", "prefetch":
		return 0
	case "call", "bra", "brx":
		return in.Operands().Len()
	}
	return min(1, in.Operands().Len())
}

// operands are the registers that instructions read, special ones included: 0 takes their place.
func operands(c *Candidate) []edit { return c.constants(zeroFor) }

// ones are the same registers, if they are integers: 1 takes their place. A divisor, a bound or a
// stride of 0 often changes more than any other number.
func ones(c *Candidate) []edit {
	return c.constants(func(in ptx.Inst, o ptx.Operand, regs map[string]string) (string, bool) {
		zero, ok := zeroFor(in, o, regs)
		return "1", ok && zero == "0"
	})
}

// constants are edits that put a constant in the place of a register that an instruction reads.
func (c *Candidate) constants(constant func(ptx.Inst, ptx.Operand, map[string]string) (string,
	bool)) []edit {
	var out []edit
	for _, f := range c.functions() {
		regs := registers(f)
		for _, in := range c.instructions(f) {
			for _, o := range in.Operands().From(sourcesFrom(in)).All() {
				each(o, func(o ptx.Operand) {
					if text, ok := constant(in, o, regs); ok {
						out = append(out, edit{changes: []change{c.replace(o.Span(), text)}})
					}
				})
			}
		}
	}
	return out
}

// zeroFor returns the constant that may take the place of a register; false for other operands and
// for predicates, of which there are no constants.
func zeroFor(in ptx.Inst, o ptx.Operand, regs map[string]string) (string, bool) {
	if o.Kind() != ptx.Name {
		return "", false
	}
	t := registerType(regs, o.Name())
	switch {
	case t == "pred", t == "" && !strings.HasPrefix(o.Name(), "%"):
		return "", false
	case spells(in, "f64") && t != "b32" && t != "f32":
		return "0d0000000000000000", t == "f64" || !spells(in, "s32", "u32", "s64", "u64")
	case spells(in, "f32") && t != "b64" && t != "f64" && !spells(in, "s32", "u32", "s64", "u64"),
		t == "f32":
		return "0f00000000", true
	}
	return "0", true
}

// numbers are those that an instruction reads and that are neither 0 nor the number of a barrier or
// a label: 0 takes their place. Of an address with an offset, the offset goes.
func numbers(c *Candidate) []edit {
	var out []edit
	add := func(o ptx.Operand, text string) {
		out = append(out, edit{changes: []change{c.replace(o.Span(), text)}})
	}
	for _, f := range c.functions() {
		for _, in := range c.instructions(f) {
			for _, o := range in.Operands().All() {
				each(o, func(o ptx.Operand) {
					switch o.Kind() {
					case ptx.Int:
						if v, _ := o.Int(); v != 0 {
							add(o, "0")
						}
					case ptx.Float:
						if bits, single := o.Float(); bits != 0 && single {
							add(o, "0f00000000")
						} else if bits != 0 {
							add(o, "0d0000000000000000")
						}
					case ptx.Binary:
						if o.Y().Kind() == ptx.Int {
							add(o, o.X().Text())
						}
					}
				})
			}
		}
	}
	return out
}

// forwarding removes an instruction whose result and one of whose sources are registers of the same
// type: the source takes the place of the result in all instructions of the function.
func forwarding(c *Candidate) []edit {
	var out []edit
	for _, f := range c.functions() {
		regs, list := registers(f), c.instructions(f)
		for _, in := range list {
			ops := in.Operands()
			if ops.Len() < 2 || sourcesFrom(in) != 1 || ops.At(0).Kind() != ptx.Name {
				continue
			}
			dst := ops.At(0).Name()
			t := registerType(regs, dst)
			seen := map[string]bool{dst: true}
			for _, o := range ops.From(1).All() {
				if o.Kind() != ptx.Name || t == "" || seen[o.Name()] || registerType(regs, o.Name()) != t {
					continue
				}
				seen[o.Name()] = true
				out = append(out, c.forward(in, list, dst, o.Name()))
			}
		}
	}
	return out
}

// forward removes in, and reads from instead of dst everywhere else.
func (c *Candidate) forward(in ptx.Inst, list []ptx.Inst, dst, from string) edit {
	e := edit{changes: []change{c.cut(in.Span())}}
	for _, other := range list {
		if other == in {
			continue
		}
		if g, ok := other.Guard(); ok && g.Name == dst {
			_, end := c.at(g.Span)
			e.changes = append(e.changes, change{end - len(dst), end, from})
		}
		for _, o := range other.Operands().All() {
			each(o, func(o ptx.Operand) {
				if o.Kind() == ptx.Name && o.Name() == dst {
					start, _ := c.at(o.Span()) // without a component, such as .x
					e.changes = append(e.changes, change{start, start + len(dst), from})
				}
			})
		}
	}
	return e
}
