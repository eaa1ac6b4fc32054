package reduce

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/lazyregexp"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// Names are the new names of what a program's author has named, by the old ones.
type Names struct {
	// Functions has functions, Files the files of debug information, and Params the parameters of
	// kernels, by their names in the PTX and in the source.
	Functions, Files, Params map[string]string
	// Others has all other names of the program: variables, parameters, labels and registers.
	Others map[string]bool
}

// known are functions without a body to which heddle and the CUDA headers give a meaning. Whoever
// renames them changes the program.
var known = map[string]bool{"vprintf": true, "malloc": true, "free": true, "__assertfail": true}

// ownPrefixes begin the names of further such functions and variables.
var ownPrefixes = []string{"__heddle_", "__nv_", "__cuda", "cuda", "llvm."}

// own reports whether a name is one of heddle's or of the CUDA headers.
func own(name string) bool {
	return slices.ContainsFunc(ownPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// Rename gives functions, variables, parameters, labels and registers new names, which say what
// they are, and removes what else contains words of the author: debug sections, names of files and
// functions in positions, comments but the facts of heddle's lowering, and the letters of texts in
// initialisers. Names of special registers and of functions that heddle knows stay. It fails if the
// result does not parse, which would be a mistake of this package.
func Rename(c *Candidate) (*Candidate, *Names, error) {
	c, err := c.printed() // names need space around them
	if err != nil {
		return nil, nil, err
	}
	r := &renamer{c: c, counts: map[string]int{}, named: map[string]string{},
		arrays: map[string]string{}, params: map[string][]string{},
		names: &Names{Functions: map[string]string{}, Files: map[string]string{},
			Params: map[string]string{}, Others: map[string]bool{}}}
	r.module()
	l := c.Launch
	l.Kernel = cmp.Or(r.names.Functions[l.Kernel], l.Kernel)
	l.Args = r.arguments(l.Args)
	l.Saved = r.saved(l.Saved)
	next := c.apply(r.changes, l)
	if next == nil {
		return nil, nil, fmt.Errorf("the renamed program does not parse")
	}
	out, err := next.printed()
	return out, r.names, err
}

// renamer collects the changes of one module.
type renamer struct {
	c       *Candidate
	changes []change
	counts  map[string]int      // of new names, by their stem
	named   map[string]string   // names of the module
	arrays  map[string]string   // names of variables in functions
	params  map[string][]string // new names of the parameters of kernels, by the kernel's old name
	names   *Names
}

// fresh returns the next name with a stem.
func (r *renamer) fresh(stem string) string {
	n := r.counts[stem]
	r.counts[stem]++
	return fmt.Sprintf("%s%d", stem, n)
}

// replace records a change.
func (r *renamer) replace(s source.Span, text string) {
	r.changes = append(r.changes, r.c.replace(s, text))
}

// module renames all definitions. Names of the module are visible before their definition.
func (r *renamer) module() {
	for _, d := range r.c.Tree.Decls {
		switch n := d.(type) {
		case *ptx.Func:
			r.function(n)
		case *ptx.Var:
			for i := range n.Names {
				r.declare(r.named, n.Names[i].Name, cmp.Or(n.Space, "variable"))
			}
		case *ptx.Prototype:
			r.declare(r.named, n.Name, "prototype")
		case *ptx.Directive:
			if n.Name == ".alias" && n.Args.Len() > 0 {
				r.declare(r.named, n.Args.At(0).Name(), "function")
			}
		}
	}
	top := &scope{names: r.named}
	for _, d := range r.c.Tree.Decls {
		switch n := d.(type) {
		case *ptx.Comment: // see below
		case *ptx.Func:
			r.body(n, top)
		default:
			r.node(d, top)
		}
	}
	for _, d := range r.c.Tree.Decls {
		if n, ok := d.(*ptx.Comment); ok { // may name what a body declares
			r.fact(n)
		}
	}
}

// function gives a function of the module its name.
func (r *renamer) function(f *ptx.Func) {
	stem := "function"
	if f.Entry {
		stem = "kernel"
	}
	if f.Body == nil && known[f.Name] {
		return
	}
	r.declare(r.named, f.Name, stem)
	if to, ok := r.named[f.Name]; ok {
		r.names.Functions[f.Name] = to
	}
}

// declare gives a name a new one in a scope, unless it has one or keeps its own.
func (r *renamer) declare(in map[string]string, name, stem string) {
	if _, ok := in[name]; ok || name == "_" || own(name) {
		return
	}
	in[name] = r.fresh(stem)
	r.names.Others[name] = true
}

// node renames a node that is not a function.
func (r *renamer) node(n ptx.Node, s *scope) {
	switch n := n.(type) {
	case *ptx.Var:
		r.variable(n, s)
	case *ptx.Section:
		r.changes = append(r.changes, r.c.cut(n.Span()))
	case *ptx.FileDir:
		r.file(n)
	case *ptx.Loc:
		r.loc(*n)
	case *ptx.Comment:
		r.changes = append(r.changes, r.c.cut(n.Span()))
	case *ptx.Directive:
		r.directive(n, s)
	case *ptx.Prototype:
		r.prototype(n, s)
	}
}

// file renames a file of debug information.
func (r *renamer) file(f *ptx.FileDir) {
	r.replace(f.Span(), fmt.Sprintf(".file %d %q", f.Index, r.fileName(f.Name)))
}

// fileName returns the new name of a file, which keeps the extension of its language.
func (r *renamer) fileName(old string) string {
	if to, ok := r.names.Files[old]; ok {
		return to
	}
	to := r.fresh("file")
	switch ext := strings.ToLower(path.Ext(old)); ext {
	case ".cu", ".cl", ".cuh", ".h", ".hpp", ".ll":
		to += ext
	}
	r.names.Files[old] = to
	return to
}

// loc removes the name of the function from a position, which is in a section that goes.
func (r *renamer) loc(l ptx.Loc) {
	if l.FuncName != "" || l.Inlined {
		r.replace(l.Span(), fmt.Sprintf(".loc %d %d %d", l.File, l.Line, l.Col))
	}
}

// directive renames what a directive names. Pragmas are texts: those of heddle and of LLVM stay.
func (r *renamer) directive(d *ptx.Directive, s *scope) {
	if d.Name == ".target" || d.Name == ".version" {
		return
	}
	for _, o := range d.Args.All() {
		if o.Kind() == ptx.String && !strings.HasPrefix(o.Str(), "heddle.") && o.Str() != "nounroll" {
			r.changes = append(r.changes, r.c.cut(d.Span()))
			return
		}
		switch d.Name {
		case ".alias", ".branchtargets", ".calltargets": // which name something
			r.operand(o, s)
		}
	}
}

// prototype renames the label of a prototype; the parameters of one have no other names than "_".
func (r *renamer) prototype(p *ptx.Prototype, s *scope) {
	start, _ := r.c.at(p.Span())
	if to, ok := s.find(p.Name); ok {
		r.changes = append(r.changes, change{start, start + len(p.Name), to})
	}
	inner := &scope{names: map[string]string{}, outer: s}
	for _, v := range append(append([]*ptx.Var(nil), p.Results...), p.Params...) {
		for i := range v.Names {
			r.declare(inner.names, v.Names[i].Name, "p")
		}
		r.variable(v, inner)
	}
}

// fact renames what a comment of the lowering says, and removes other comments and those with names
// of types.
func (r *renamer) fact(f *ptx.Comment) {
	if text, ok := r.factText(strings.Fields(f.Text)); ok {
		r.replace(f.Span(), "// "+text)
		return
	}
	r.changes = append(r.changes, r.c.cut(f.Span()))
}

// factText returns the renamed words of a comment; false if it must go.
func (r *renamer) factText(w []string) (string, bool) {
	if len(w) < 2 {
		return "", false
	}
	to, ok := r.named[w[1]]
	switch w[0] {
	case "heddle.language":
		return w[0] + " cl", w[1] == "cl"
	case "heddle.kernel":
		if len(w) < 5 || !ok {
			return "", false
		}
		file := r.fileName(strings.Join(w[4:], " "))
		return strings.Join([]string{w[0], to, w[2], w[3], file}, " "), numeric(w[2:4])
	case "heddle.param":
		if len(w) < 6 || !ok {
			return "", false
		}
		i, err := strconv.Atoi(w[2])
		if err != nil || i < 0 || i >= len(r.params[w[1]]) {
			return "", false
		}
		param := r.params[w[1]][i]
		r.names.Others[w[3]], r.names.Params[w[3]] = true, param
		kind := w[4] == "ptr" || w[4] == "val"
		return strings.Join([]string{w[0], to, w[2], param, w[4], plainType(w[5:])}, " "), kind
	case "heddle.fields":
		if len(w) < 3 || !ok {
			return "", false
		}
		return strings.Join(append([]string{w[0], to}, w[2:]...), " "), numeric(w[2:])
	case "heddle.array":
		if inner := r.arrays[w[1]]; ok || inner != "" {
			text := strings.Join(append([]string{w[0], cmp.Or(to, inner)}, w[2:]...), " ")
			return text, numeric(w[2:])
		}
	}
	return "", false
}

// numeric reports whether words are decimal numbers.
func numeric(w []string) bool {
	return !slices.ContainsFunc(w, func(s string) bool { return strings.Trim(s, "0123456789") != "" })
}

// llvmType finds an LLVM type without names.
var llvmType = lazyregexp.New(
	`^(ptr|addrspace|i[0-9]+|half|bfloat|float|double|x|[0-9]+|[][<>{}(),* ])+$`)

// plainType returns an LLVM type of a fact, or i8 for one with names of structs.
func plainType(w []string) string {
	if text := strings.Join(w, " "); llvmType.MatchString(text) {
		return text
	}
	return "i8"
}
