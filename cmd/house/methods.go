package main

import (
	"cmp"
	"go/ast"
	"go/token"
	"io"
	"maps"
	"slices"
	"strings"
)

// A type with many methods in many files is a package without walls: each method can reach each
// field, and no import test sees it.

// typeSize is the size of one named type.
type typeSize struct {
	name    string // with the package
	methods int
	files   map[string]bool // that declare methods
	fields  int             // of a struct
}

// typeSizes returns the types of the packages that have methods, those with most of them first.
// Ties are sorted by name, so that the output of two checkouts can be compared.
func typeSizes(pkgs []*pkg) []*typeSize {
	by := map[string]*typeSize{}
	// Methods may come before the declaration of their type, in any file.
	get := func(p *pkg, name string) *typeSize {
		name = strings.TrimPrefix(p.path, "internal/") + "." + name
		if by[name] == nil {
			by[name] = &typeSize{name: name, files: map[string]bool{}}
		}
		return by[name]
	}
	for _, p := range pkgs {
		for _, f := range p.files {
			for _, d := range f.tree.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Recv != nil {
						t := get(p, receiver(d))
						t.methods++
						t.files[f.name] = true
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						if s, ok := s.(*ast.TypeSpec); ok {
							if st, ok := s.Type.(*ast.StructType); ok {
								get(p, s.Name.Name).fields = fieldCount(st.Fields)
							}
						}
					}
				}
			}
		}
	}
	maps.DeleteFunc(by, func(_ string, t *typeSize) bool { return t.methods == 0 })
	return slices.SortedFunc(maps.Values(by), func(a, b *typeSize) int {
		return cmp.Or(b.methods-a.methods, strings.Compare(a.name, b.name))
	})
}

// receiver returns the name of the type of a method, without pointer and type parameters.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return "?"
		}
	}
}

// fieldCount counts names: a field without one, such as an embedded type or a nameless parameter,
// counts as one. It serves both structs and parameter lists.
func fieldCount(l *ast.FieldList) int {
	if l == nil {
		return 0
	}
	n := 0
	for _, f := range l.List {
		n += max(1, len(f.Names))
	}
	return n
}

// printTypes prints the types with most methods.
func printTypes(w io.Writer, _ *token.FileSet, pkgs []*pkg) {
	t := newTable(w, "type", "methods", "in files", "fields")
	all := typeSizes(pkgs)
	for _, s := range all[:min(10, len(all))] {
		t.row(s.name, s.methods, len(s.files), s.fields)
	}
	t.flush()
}
