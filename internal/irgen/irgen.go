// Package irgen turns the syntax tree of a PTX module into the IR: it resolves names, decodes
// opcodes, gives every operand its kind and immediates their bits, and cuts bodies into basic
// blocks.
//
// A body that ends without ret, exit, trap or a branch ends with an implicit ret at its closing
// brace. A label starts a block only if some branch names it. Code that no path reaches stays in
// the function, as blocks without predecessors.
package irgen

import (
	"fmt"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// maxErrors bounds the errors of one module: one missing declaration may make thousands.
const maxErrors = 200

// Module builds the IR of a PTX file. If the file has errors, the module is nil and the errors are
// returned in the order in which they were found. Positions in the user's source refer to files of
// set.
func Module(set *source.Set, file *ptx.File) (*ir.Module, []*ptx.Error) {
	g := newGen(set, file)
	g.runPasses(file, "")
	if len(g.errs) > 0 {
		return nil, g.errs
	}
	return g.mod, nil
}

// newGen returns the state before the first pass. A module without .address_size is a 64-bit one
// here, although the default of the text is 32 (PTX ISA 11.1.3): 32-bit modules are obsolete, and
// PTX written by hand omits the directive.
func newGen(set *source.Set, file *ptx.File) *gen {
	g := &gen{
		set:     set,
		mod:     &ir.Module{Files: set, AddressSize: 64},
		decoded: make([]*decoded, file.Words()),
		bodies:  make(map[*ir.Func]*ptx.Func),
		vectors: make(map[*ir.Var]string),
	}
	if file.Source != nil {
		g.mod.File = file.Source.ID
	}
	return g
}

// gen is the state of one Module call. The passes of passes.go fill it from the file; top and mod
// grow together, and bodies is complete before the first body is read, so that calls may name
// functions that follow.
type gen struct {
	set     *source.Set
	mod     *ir.Module
	errs    []*ptx.Error
	top     scope
	lines   *lineTable
	decoded []*decoded // by ptx.Inst.Word
	bodies  map[*ir.Func]*ptx.Func
	vectors map[*ir.Var]string // the vector parameter in registers that a component belongs to
	local   int                // bytes of the module's .local variables
	inits   []pendingInit
	ranged  int64 // variables in memory declared by name<n>
}

// decoded is the result of isa.Decode for one spelling of an opcode with its modifiers, with the
// roles that this form has. A module spells few distinct instructions, so each is decoded once.
type decoded struct {
	desc  isa.Desc
	roles []isa.Role
	err   error
}

// pendingInit is an initialiser that waits until all names are known: it may take the address of a
// variable or function that is declared later. Names in it are looked up in the scope of the
// declaration.
type pendingInit struct {
	v    *ir.Var
	decl *ptx.Var
	name *ptx.VarName
	in   *scope
}

// errorf records an error at a place of the PTX text. Errors beyond maxErrors are counted as one,
// so that a module with a missing declaration in front of a long body stays readable.
func (g *gen) errorf(span source.Span, format string, args ...any) {
	switch {
	case len(g.errs) < maxErrors:
		g.errs = append(g.errs, &ptx.Error{Span: span, Msg: fmt.Sprintf(format, args...)})
	case len(g.errs) == maxErrors:
		g.errs = append(g.errs, &ptx.Error{Span: span, Msg: "too many errors"})
	}
}

// header reads .version, .target and .address_size (PTX ISA 11.1). The first name of .target
// decides; the others are options such as texmode_unified. The version matters to the rules for
// module variables (oldLocals, legacyAddresses).
func (g *gen) header(file *ptx.File) {
	for _, d := range file.Decls {
		dir, ok := d.(*ptx.Directive)
		if !ok {
			continue
		}
		switch dir.Name {
		case ".version":
			g.mod.Version = g.argText(dir, 0)
		case ".target":
			if g.mod.Target == "" {
				g.mod.Target = g.argText(dir, 0)
			}
		case ".address_size":
			n, ok := argInt(dir, 0)
			if !ok || n != 32 && n != 64 {
				g.errorf(dir.Span(), ".address_size: expected 32 or 64")
				continue
			}
			g.mod.AddressSize = int(n)
		}
	}
}

// argText returns argument i of a directive as written, "8.3" or "sm_70", without the quotes of a
// string; "" if the directive has fewer arguments. The text of a version is kept because 7.10 is
// not 7.1.
func (g *gen) argText(d *ptx.Directive, i int) string {
	if i >= d.Args.Len() {
		return ""
	}
	switch a := d.Args.At(i); a.Kind() {
	case ptx.Name:
		return a.Name()
	case ptx.String:
		return a.Str()
	case ptx.Int, ptx.Float:
		return a.Text()
	}
	return ""
}

// argInt returns the value of integer argument i of a directive; false if it is missing or
// something else.
func argInt(d *ptx.Directive, i int) (int64, bool) {
	if i >= d.Args.Len() || d.Args.At(i).Kind() != ptx.Int {
		return 0, false
	}
	n, _ := d.Args.At(i).Int()
	return int64(n), true
}

// demangled returns the name as the user wrote it. The length limit keeps hostile names from
// growing without bound (a mangled name can expand to an exponentially longer one).
func demangled(name string) string {
	if s, err := demangle.ToString(name, demangle.MaxLength(12)); err == nil {
		return source.Unversioned(s)
	}
	return name
}

// variableName returns a variable's name as the user wrote it, or "" if it is not mangled. A
// variable of a function loses the function: "tile" for reduce(int*)::tile.
func variableName(name string) string {
	s := demangled(name)
	if s == name {
		// OpenCL: FUNCTION.NAME, with LLVM's spelling of the point
		if i := strings.LastIndex(name, "_$_"); i > 0 {
			return name[i+len("_$_"):]
		}
		return ""
	}
	if i := strings.LastIndex(s, ")::"); i >= 0 {
		s = s[i+len(")::"):]
	}
	// An object in shared memory that lower has put into a union.
	return strings.TrimPrefix(s, "__heddle_of_")
}
