package repair

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle/internal/isa"
	"heddle/internal/lazyregexp"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// A barrier, or one side of a race, may be in a function that the kernel calls. No edit of the
// kernel reaches it there, and an edit of the function would affect all its callers. Inlined
// specializes the call: a copy of the function, which belongs to the kernel, replaces it.
// Parameters and results become registers. PTX restricts what may be done with them before and
// after the call (PTX ISA 5.1.6.4, 9.7.12.5), so registers suffice; functions that use their
// parameters in other ways are not copied.

// inlining is the state of one pass over a kernel.
type inlining struct {
	file   *source.File
	funcs  map[string]*ptx.Func
	prefix string
	count  int
	decls  strings.Builder // registers of the copies, declared at the top of the kernel
	out    []Copied
	own    int         // instructions of the kernel so far
	within string      // the function being copied
	stack  []*ptx.Func // and its callers
	err    error
}

// Copied says where an instruction of a kernel with copies comes from.
type Copied struct {
	Func string // the function whose copy has it; empty: the kernel itself
	At   int    // index in the original kernel of the instruction, or of the call
}

// from records the origin of the next instructions. Copied must have one entry for each instruction
// of the new text, in its order: the IR of that text numbers instructions the same way.
func (n *inlining) from(count int) {
	for range count {
		n.out = append(n.out, Copied{n.within, max(n.own-1, 0)})
	}
}

// Inlined returns the text of a module in which copies of functions replace the kernel's calls by
// name, and the origin of each instruction, in text order. There is no text if the kernel calls no
// function with a body. An Unsupported error names what cannot be copied.
func Inlined(file *source.File, decls []ptx.Decl, kernel string) ([]byte, []Copied, error) {
	n := &inlining{file: file, funcs: map[string]*ptx.Func{}, prefix: freePrefix(string(file.Content))}
	var k *ptx.Func
	for _, d := range decls {
		if f, ok := d.(*ptx.Func); ok && f.Body != nil {
			if f.Entry && f.Name == kernel {
				k = f
			} else if !f.Entry {
				n.funcs[f.Name] = f
			}
		}
	}
	if k == nil {
		return nil, nil, &Unsupported{What: "the kernel has no body"}
	}
	body := n.block(k.Body, nil)
	if n.err != nil || n.count == 0 {
		return nil, nil, n.err
	}
	start, end := n.range_(k.Body.Span())
	text := slices.Clone(file.Content[:start+1])
	text = append(text, "\n"+n.decls.String()...)
	text = append(text, body...)
	return append(text, file.Content[end-1:]...), n.out, nil
}

func (n *inlining) fail(at source.Span, format string, args ...any) {
	if n.err == nil {
		n.err = &Unsupported{Span: at, What: fmt.Sprintf(format, args...)}
	}
}

// range_ returns the byte offsets of a span. They are meaningless if it sets n.err.
func (n *inlining) range_(s source.Span) (start, end int) {
	start, ok1 := n.file.Offset(s.Start)
	end, ok2 := n.file.Offset(s.End)
	if !ok1 || !ok2 {
		n.fail(s, "a position in the PTX text is unknown")
	}
	return start, end
}

func (n *inlining) text(s source.Span) string {
	start, end := n.range_(s)
	if n.err != nil {
		return ""
	}
	return string(n.file.Content[start:end])
}

// scope maps the names of a function to those in its copy.
type scope struct {
	names map[string]string // registers and labels
	moved map[*ptx.Var]bool // declarations of those registers, which the kernel has instead
	slots map[string]slot   // parameters and results, by name
	end   string            // the label at the end of the copy; empty: the kernel itself
	parts map[string]slot   // in a { } with a call: its .param variables
}

// slot is a register for a parameter.
type slot struct {
	reg  string
	size int // bytes
}

// block copies the statements of a body or of a nested { } block.
func (n *inlining) block(b *ptx.Block, s *scope) string {
	var out strings.Builder
	for st := range b.Stmts() {
		switch st.Kind() {
		case ptx.StmtLabel:
			name := st.Label()
			if s != nil && s.names[name] != "" {
				name = s.names[name]
			}
			out.WriteString(name + ":\n")
		case ptx.StmtInst:
			out.WriteString("\t" + strings.Trim(n.inst(st.Inst(), s), "\t\n") + "\n")
		case ptx.StmtLoc:
			out.WriteString("\t" + n.text(st.Span()) + "\n")
		default:
			out.WriteString(n.other(st.Node(), s))
		}
	}
	return out.String()
}

// other copies a statement that is not an instruction. Registers of a copy move to the top of the
// kernel. Other declarations are not copied: a .shared variable, for one, would exist once per copy
// instead of once.
func (n *inlining) other(node ptx.Node, s *scope) string {
	switch node := node.(type) {
	case *ptx.Block:
		inner := s.inside(node)
		if parts := n.callScope(node); parts != nil {
			inner.parts = parts
			return n.block(node, inner)
		}
		return "\t{\n" + n.block(node, inner) + "\t}\n"
	case *ptx.Var:
		if s != nil && (s.moved[node] || s.parts != nil && node.Space == "param") {
			return "" // declared as registers of the kernel
		}
		if s != nil && s.end != "" && node.Space != "reg" {
			n.fail(node.Span(),
				"a function that would have to be inlined declares .%s variables", node.Space)
		}
	case *ptx.Directive, *ptx.Comment:
	default:
		if s != nil && s.end != "" {
			n.fail(node.Span(), "a function that would have to be inlined declares more than registers")
		}
	}
	return "\t" + n.text(node.Span()) + "\n"
}

// inside returns the scope of a { } block in s, where a register that the block declares hides one
// of the same name around it (PTX ISA 5.4, 9.7.12.1).
func (s *scope) inside(b *ptx.Block) *scope {
	if s == nil {
		return &scope{}
	}
	inner := *s
	inner.names = maps.Clone(s.names)
	for st := range b.Stmts() {
		if st.Kind() != ptx.StmtNode {
			continue
		}
		if v, ok := st.Node().(*ptx.Var); ok {
			for _, name := range registers(v) {
				delete(inner.names, name)
			}
		}
	}
	return &inner
}

// registers returns the names of the registers that a declaration makes: "%r<2>" makes "%r0" and
// "%r1" (PTX ISA 5.4.6).
func registers(v *ptx.Var) (names []string) {
	for _, n := range v.Names {
		if n.Range == 0 {
			names = append(names, n.Name)
		}
		for i := range n.Range {
			names = append(names, fmt.Sprint(n.Name, i))
		}
	}
	return names
}

var word = lazyregexp.New(`[%$_A-Za-z][\w$]*`)

// renamed replaces the names of a function in a text. A word after a dot is a modifier or a vector
// component, never a name.
func (s *scope) renamed(text string) string {
	if s == nil {
		return text
	}
	at := 0
	var out strings.Builder
	for _, m := range word.FindAllStringIndex(text, -1) {
		w := text[m[0]:m[1]]
		if to := s.names[w]; to != "" && (m[0] == 0 || text[m[0]-1] != '.') {
			out.WriteString(text[at:m[0]] + to)
			at = m[1]
		}
	}
	return out.String() + text[at:]
}

// inst copies an instruction. A ret of a copied function ends the copy and not the thread.
func (n *inlining) inst(in ptx.Inst, s *scope) string {
	if n.within == "" {
		n.own++
	}
	if actionOf(in) == isa.ActCall {
		if c := n.call(in, s); c != "" || n.err != nil {
			return c
		}
	}
	n.from(1)
	guard := ""
	if g, ok := in.Guard(); ok {
		guard = s.renamed(n.text(g.Span)) + " "
	}
	_, end := n.range_(in.Span())
	_, op := n.range_(in.OpSpan())
	if n.err != nil {
		return ""
	}
	rest := string(n.file.Content[op:end])
	switch actionOf(in) {
	case isa.ActReturn:
		if s != nil && s.end != "" {
			return guard + "bra \t" + s.end + ";"
		}
	case isa.ActLoad, isa.ActStore:
		if slices.Contains(in.Mods(), "param") || slices.Contains(in.Mods(), "param::func") {
			if m := n.move(in, s); m != "" {
				return guard + m
			}
		}
	}
	return guard + in.Text() + s.renamed(rest)
}

// actionOf is what a statement does that is not decoded; ActUnknown if there is no such opcode.
func actionOf(in ptx.Inst) isa.Action {
	row := isa.Lookup(in.Opcode(), in.Mods())
	if row == nil {
		return isa.ActUnknown
	}
	return row.Action
}

// move returns the copy of an access to a parameter that became a register; empty if it did not.
func (n *inlining) move(in ptx.Inst, s *scope) string {
	ops := in.Operands()
	if s == nil || ops.Len() != 2 {
		return ""
	}
	mem, val := ops.At(1), ops.At(0)
	store := actionOf(in) == isa.ActStore
	if store {
		mem, val = val, mem
	}
	if mem.Kind() != ptx.Mem {
		return ""
	}
	address := strings.Trim(strings.TrimSuffix(strings.TrimSpace(mem.Text()), "]"), "[ \t")
	name, offset, _ := strings.Cut(address, "+")
	to, ok := s.parts[strings.TrimSpace(name)]
	if !ok {
		if to, ok = s.slots[strings.TrimSpace(name)]; !ok {
			return ""
		}
	}
	typ := in.Mods()[len(in.Mods())-1]
	if strings.TrimSpace(offset) != "" && strings.TrimSpace(offset) != "0" ||
		sizes[typ] != to.size || val.Kind() == ptx.Vector {
		n.fail(in.Span(), "a function that would have to be inlined, "+
			"or a call of it, accesses a parameter in parts")
		return ""
	}
	v := s.renamed(val.Text())
	if store {
		return fmt.Sprintf("mov.%s \t%s, %s;", typ, to.reg, v)
	}
	return fmt.Sprintf("mov.%s \t%s, %s;", typ, v, to.reg)
}

// sizes holds the types that a register for a parameter may have, in bytes. There are no 8-bit
// types: mov has none.
var sizes = map[string]int{
	"b16": 2, "u16": 2, "s16": 2,
	"b32": 4, "u32": 4, "s32": 4, "f32": 4,
	"b64": 8, "u64": 8, "s64": 8, "f64": 8,
}
