package reduce

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// scope are the names of a block. Those of outer ones are visible in it.
type scope struct {
	names  map[string]string
	ranges map[string]*numbered // by the name before the number
	outer  *scope
}

// numbered are the registers of a declaration such as %r<8>: those that are used get consecutive
// numbers.
type numbered struct {
	to    string
	count int64
	used  []int64 // ascending
}

// find returns the new name of a name that is visible in a scope.
func (s *scope) find(name string) (string, bool) {
	for ; s != nil; s = s.outer {
		if to, ok := s.names[name]; ok {
			return to, true
		}
		for i := len(name); i > 0 && name[i-1] >= '0' && name[i-1] <= '9'; i-- {
			n, err := strconv.ParseInt(name[i-1:], 10, 64)
			d := s.ranges[name[:i-1]]
			if err != nil || d == nil || n >= d.count || strconv.FormatInt(n, 10) != name[i-1:] {
				continue
			}
			if at, ok := slices.BinarySearch(d.used, n); ok {
				return fmt.Sprint(d.to, at), true
			}
		}
	}
	return "", false
}

// note records that a register of a range is used, if the name is one.
func (s *scope) note(name string) {
	for ; s != nil; s = s.outer {
		if _, ok := s.names[name]; ok {
			return
		}
		for i := len(name); i > 0 && name[i-1] >= '0' && name[i-1] <= '9'; i-- {
			n, err := strconv.ParseInt(name[i-1:], 10, 64)
			d := s.ranges[name[:i-1]]
			if err != nil || d == nil || n >= d.count || strconv.FormatInt(n, 10) != name[i-1:] {
				continue
			}
			if at, ok := slices.BinarySearch(d.used, n); !ok {
				d.used = slices.Insert(d.used, at, n)
			}
			return
		}
	}
}

// body renames a function: its name, its parameters, and what is in it.
func (r *renamer) body(f *ptx.Func, top *scope) {
	if to, ok := top.find(f.Name); ok {
		r.replace(f.NameSpan, to)
	}
	s := &scope{names: map[string]string{}, ranges: map[string]*numbered{}, outer: top}
	maps.DeleteFunc(r.counts, func(stem string, _ int) bool {
		return strings.HasPrefix(stem, "%") || strings.HasPrefix(stem, "range ")
	})
	for _, v := range slices.Concat(f.Results, f.Params) {
		for i := range v.Names {
			r.declare(s.names, v.Names[i].Name, r.stem(v, "p"))
		}
		r.variable(v, s)
	}
	for _, v := range f.Params {
		if to := s.names[v.Names[0].Name]; f.Entry && to != "" {
			r.params[f.Name] = append(r.params[f.Name], to)
			r.names.Params[v.Names[0].Name] = to
		}
	}
	for _, d := range f.Dirs {
		r.directive(d, s)
	}
	if f.Body != nil {
		r.block(f.Body, s)
	}
}

// stem is what the new names of a declaration begin with.
func (r *renamer) stem(v *ptx.Var, param string) string {
	switch v.Space {
	case "reg":
		return "%x"
	case "param":
		return param
	}
	return v.Space
}

// block renames what a block declares, then what uses it: labels may be used before.
func (r *renamer) block(b *ptx.Block, outer *scope) {
	s := &scope{names: map[string]string{}, ranges: map[string]*numbered{}, outer: outer}
	for st := range b.Stmts() {
		switch st.Kind() {
		case ptx.StmtLabel:
			r.declare(s.names, st.Label(), "$L")
		case ptx.StmtNode:
			r.declared(st.Node(), s)
		}
	}
	noteUses(b, s)
	for st := range b.Stmts() {
		switch st.Kind() {
		case ptx.StmtLabel:
			start, _ := r.c.at(st.Span())
			if to, ok := s.find(st.Label()); ok {
				r.changes = append(r.changes, change{start, start + len(st.Label()), to})
			}
		case ptx.StmtInst:
			r.instruction(st.Inst(), s)
		case ptx.StmtLoc:
			r.loc(st.Loc())
		case ptx.StmtNode:
			if inner, ok := st.Node().(*ptx.Block); ok {
				r.block(inner, s)
			} else {
				r.node(st.Node(), s)
			}
		}
	}
}

// declared records what a statement declares.
func (r *renamer) declared(n ptx.Node, s *scope) {
	switch n := n.(type) {
	case *ptx.Prototype:
		r.declare(s.names, n.Name, "prototype")
	case *ptx.Var:
		for i := range n.Names {
			name := &n.Names[i]
			if name.Range == 0 {
				r.declare(s.names, name.Name, r.stem(n, "a"))
				if r.arrays[name.Name] == "" && n.Space != "reg" {
					r.arrays[name.Name] = s.names[name.Name]
				}
				continue
			}
			r.names.Others[name.Name] = true
			s.ranges[name.Name] = &numbered{to: r.rangeName(n.Type), count: name.Range}
		}
	}
}

// rangeName is the name of a range of registers. It ends with a letter or an underscore.
func (r *renamer) rangeName(typ string) string {
	stem := map[string]string{"pred": "%p", "b16": "%rs", "b32": "%r", "b64": "%rd", "f32": "%f",
		"f64": "%fd"}[typ]
	if stem == "" {
		stem = "%v"
	}
	r.counts["range "+stem]++
	if n := r.counts["range "+stem]; n > 1 {
		return fmt.Sprintf("%s%d_", stem, n)
	}
	return stem
}

// noteUses records the numbers of registers that a block uses, nested blocks included.
func noteUses(b *ptx.Block, s *scope) {
	note := func(o ptx.Operand) {
		if o.Kind() == ptx.Name {
			s.note(o.Name())
		}
	}
	for st := range statements(b) {
		if st.Kind() != ptx.StmtInst {
			continue
		}
		in := st.Inst()
		if g, ok := in.Guard(); ok {
			s.note(g.Name)
		}
		for _, o := range in.Operands().All() {
			each(o, note)
		}
	}
}

// instruction renames the guard and the operands of an instruction.
func (r *renamer) instruction(in ptx.Inst, s *scope) {
	if g, ok := in.Guard(); ok {
		if to, ok := s.find(g.Name); ok {
			_, end := r.c.at(g.Span)
			r.changes = append(r.changes, change{end - len(g.Name), end, to})
		}
	}
	for _, o := range in.Operands().All() {
		r.operand(o, s)
	}
}

// operand renames the names in an operand. A range of labels becomes a list of the new names.
func (r *renamer) operand(o ptx.Operand, s *scope) {
	each(o, func(o ptx.Operand) {
		switch o.Kind() {
		case ptx.Name:
			if to, ok := r.resolve(o.Name(), s); ok {
				start, _ := r.c.at(o.Span())
				r.changes = append(r.changes, change{start, start + len(o.Name()), to})
			}
		case ptx.Range:
			if list, ok := labelRange(o, s); ok {
				r.replace(o.Span(), strings.Join(list, ", "))
			}
		}
	})
}

// resolve returns the new name of a name in an operand. One that nothing declares is a mistake of
// the program, or what is left of a reduction, and gets a new name too.
func (r *renamer) resolve(name string, s *scope) (string, bool) {
	if to, ok := s.find(name); ok {
		return to, true
	}
	if special(name) {
		return "", false
	}
	stem := "undeclared"
	if name[0] == '%' {
		stem = "%undeclared"
	}
	r.declare(r.named, name, stem)
	to, ok := r.named[name]
	return to, ok
}

// special reports whether PTX itself gives a name its meaning: special registers, the sink, and a
// constant.
func special(name string) bool {
	for _, family := range []string{"%envreg", "%pm", "%reserved_smem_offset"} {
		if rest, ok := strings.CutPrefix(name, family); ok && strings.Trim(rest, "_0123456789") == "" {
			return true
		}
	}
	return name == "_" || strings.TrimPrefix(name, "%") == "WARP_SZ" || known[name] ||
		ir.SregByName(name) != 0 || ir.SregByName(name+".x") != 0
}

// maxRange bounds a range of labels that is written as a list.
const maxRange = 1 << 10

// labelRange returns the new names of N<5>: those of N0 to N4.
func labelRange(o ptx.Operand, s *scope) ([]string, bool) {
	n, _ := o.Y().Int()
	if n > maxRange {
		return nil, false
	}
	var list []string
	for i := range n {
		to, ok := s.find(fmt.Sprint(o.Name(), i))
		if !ok {
			return nil, false
		}
		list = append(list, to)
	}
	return list, len(list) > 0
}

// variable renames the names of a declaration and what their initialisers name.
func (r *renamer) variable(v *ptx.Var, s *scope) {
	for i := range v.Names {
		n := &v.Names[i]
		start, end := r.c.at(n.Span)
		switch d := s.ranges[n.Name]; {
		case n.Range > 0 && d != nil && len(d.used) > 0:
			r.changes = append(r.changes, change{start, end, fmt.Sprintf("%s<%d>", d.to, len(d.used))})
		case n.Range > 0 && d != nil:
			r.changes = append(r.changes, change{start, end, d.to + "<1>"})
		default:
			if to, ok := s.find(n.Name); ok {
				r.changes = append(r.changes, change{start, start + len(n.Name), to})
			}
		}
		if n.Init != nil {
			r.initialiser(n.Init, s)
			r.maskText(v, n.Init)
		}
	}
}

// initialiser renames the names in an initialiser.
func (r *renamer) initialiser(in *ptx.Init, s *scope) {
	if in.Value.Kind() != ptx.NoOperand && in.Member == "" { // that of a sampler is a word of PTX
		r.operand(in.Value, s)
	}
	for _, x := range in.List {
		r.initialiser(x, s)
	}
}

// arguments renames the functions in arguments of a launch. Parameters are numbers there.
func (r *renamer) arguments(args []launch.ArgSpec) []launch.ArgSpec {
	out := slices.Clone(args)
	for i := range out {
		if to, ok := r.names.Functions[out[i].Text]; ok && out[i].Kind == launch.ArgFunc {
			out[i].Text = to
		}
	}
	return out
}

// saved renames what a saved launch names: its kernel, buffers and variables. What the program has
// no variable for is a buffer like others.
func (r *renamer) saved(s *launch.Saved) *launch.Saved {
	if s == nil {
		return nil
	}
	next := *s
	next.Path, next.Kernel = "", cmp.Or(r.names.Functions[s.Kernel], s.Kernel)
	next.Demangled = next.Kernel
	next.Buffers = slices.Clone(s.Buffers)
	for i := range next.Buffers {
		b := &next.Buffers[i]
		b.Name = r.fresh("buffer")
		if to := cmp.Or(r.named[b.Variable], r.arrays[b.Variable]); to != "" || !own(b.Variable) {
			b.Variable = to
		}
	}
	return &next
}

// maskText replaces the letters and digits of a text in an initialiser of bytes. Conversions of
// printf stay, since they say what is printed.
func (r *renamer) maskText(v *ptx.Var, in *ptx.Init) {
	if v.Type != "b8" && v.Type != "u8" && v.Type != "s8" {
		return
	}
	var spans []source.Span
	var text []byte
	var collect func(*ptx.Init) bool
	collect = func(in *ptx.Init) bool {
		for _, x := range in.List {
			if !collect(x) {
				return false
			}
		}
		if in.Value.Kind() == ptx.NoOperand {
			return true
		}
		b, _ := in.Value.Int()
		if in.Value.Kind() != ptx.Int || b > 0x7e || b < ' ' && b != 0 && b != '\n' && b != '\t' {
			return false
		}
		spans, text = append(spans, in.Span), append(text, byte(b))
		return true
	}
	if !collect(in) {
		return
	}
	for i, b := range masked(text) {
		if b != text[i] {
			r.replace(spans[i], strconv.Itoa(int(b)))
		}
	}
}

// masked returns a text with x for each letter and 0 for each digit outside conversions of printf.
func masked(text []byte) []byte {
	out := slices.Clone(text)
	conversion := false
	for i, b := range text {
		letter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
		digit := b >= '0' && b <= '9'
		switch {
		case conversion:
			conversion = digit || strings.IndexByte(" +-#.*lhzjt", b) >= 0
		case b == '%':
			conversion = true
		case letter:
			out[i] = 'x'
		case digit:
			out[i] = '0'
		}
	}
	return out
}
