package syntax

import (
	"fmt"
	"io"
	"os"
	"strings"

	"heddle/internal/source"
)

// Read reads the tree that clang prints with -ast-dump=json. user returns the name of a file for
// positions, and whether the file belongs to the user. The text of files comes from set, or else
// from disk. Functions whose text is not plain are left out; an error means that r is not such a
// tree.
func Read(
	set *source.Set, r io.Reader, openCL bool, user func(path string) (string, bool),
) (*Unit, error) {
	rd := &reader{
		s: newScanner(r), set: set, user: user, unit: &Unit{OpenCL: openCL},
		known: make(map[string]*source.File), seen: make(map[loc]*Func),
	}
	if err := rd.s.expect('{'); err != nil {
		return nil, err
	}
	if err := rd.decl(); err != nil {
		return nil, err
	}
	for _, f := range rd.unit.Funcs {
		f.First = rd.unit.points
		rd.unit.points += len(f.Nodes)
	}
	return rd.unit, nil
}

// reader is the state of one Read.
type reader struct {
	s     *scanner
	set   *source.Set
	user  func(path string) (string, bool)
	unit  *Unit
	known map[string]*source.File // by path; nil: not a user's file
	seen  map[loc]*Func           // by place of the declared name; nil: not a device function
	scope []string                // names of the namespaces and classes around
	err   error
}

// file returns the user's file of a path, or nil.
func (r *reader) file(path string) *source.File {
	if f, ok := r.known[path]; ok {
		return f
	}
	var f *source.File
	if name, ok := r.user(path); ok && path != "" {
		if f = r.set.Lookup(name); f == nil || f.Content == nil {
			f = nil
			if text, err := os.ReadFile(path); err == nil {
				f, r.err = r.set.Add(name, text)
			}
		}
	}
	r.known[path] = f
	return f
}

// decl reads a declaration at file, namespace or class scope.
func (r *reader) decl() error {
	n := new(node)
	return r.s.node(n, func() error {
		if n.kind != "TranslationUnitDecl" && r.file(n.at.file) == nil {
			return r.s.skip()
		}
		switch n.kind {
		case "NamespaceDecl", "CXXRecordDecl":
			if n.name != "" {
				r.scope = append(r.scope, n.name)
				defer func() { r.scope = r.scope[:len(r.scope)-1] }()
			}
			return r.s.array(r.decl)
		case "TranslationUnitDecl", "LinkageSpecDecl",
			"ClassTemplateDecl",
			"ClassTemplateSpecializationDecl", "ClassTemplatePartialSpecializationDecl",
			"FunctionTemplateDecl", "ExportDecl":
			return r.s.array(r.decl)
		case "FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl", "CXXDestructorDecl",
			"CXXConversionDecl":
			return r.function(n)
		}
		return r.s.skip()
	})
}

// function reads a function. If several functions have the same place, the first is the pattern of
// a template and the others are its instances.
func (r *reader) function(n *node) error {
	if f, ok := r.seen[n.at]; ok {
		if f != nil && n.mangled != "" {
			f.Mangled = append(f.Mangled, n.mangled)
		}
		return r.s.skip()
	}
	device, kernel, host := r.unit.OpenCL, false, false
	var body *node
	var params []string
	var decls []*node
	err := r.s.array(func() error {
		kid, err := r.s.tree()
		if err != nil {
			return err
		}
		switch kid.kind {
		case "CompoundStmt":
			body = kid
		case "ParmVarDecl":
			params, decls = append(params, kid.name), append(decls, kid)
		case "CUDAGlobalAttr", "OpenCLKernelAttr", "DeviceKernelAttr":
			device, kernel = true, true
		case "CUDADeviceAttr":
			device = true
		case "CUDAHostAttr":
			host = true
		}
		return nil
	})
	if err != nil || body == nil {
		return err
	}
	r.seen[n.at] = nil
	// Before C++20, a constexpr function may contain constant expressions only, and marks are not.
	if !device || n.constexpr {
		r.host(n, body)
		return nil
	}
	if f := r.add(n, body, kernel); f != nil {
		f.Host = host
		r.seen[n.at] = f
		f.params, f.decls = params, decls
	}
	r.lambdas(body)
	return r.err
}

// add adds a function if its body is plain text.
func (r *reader) add(n, body *node, kernel bool) *Func {
	file := r.file(body.begin.file)
	if file == nil {
		return nil
	}
	b := newBuilder(file, body.begin.file, r.unit.OpenCL)
	if !b.braces(body) {
		return nil
	}
	f := &Func{Name: n.name, Kernel: kernel, File: file, Scope: strings.Join(r.scope, "::"),
		Member: n.kind == "CXXMethodDecl" && n.storage != "static"}
	if n.mangled != "" {
		f.Mangled = []string{n.mangled}
	}
	b.function(f, body)
	f.body, f.path = body, body.begin.file
	for _, other := range r.unit.Funcs {
		if other.Span == f.Span { // a header that is included twice
			return nil
		}
	}
	r.unit.Funcs = append(r.unit.Funcs, f)
	for _, known := range r.unit.Files {
		if known == file {
			return f
		}
	}
	r.unit.Files = append(r.unit.Files, file)
	return f
}

// lambdas adds the lambda expressions of a body as device functions.
func (r *reader) lambdas(n *node) {
	if n.kind == "LambdaExpr" && len(n.kids) > 0 {
		if body := n.kids[len(n.kids)-1]; body.kind == "CompoundStmt" {
			r.add(&node{name: "operator()", mangled: callOperator(n)}, body, false)
		}
	}
	for i, kid := range n.kids {
		if n.kind == "LambdaExpr" && i < len(n.kids)-1 && kid.kind == "CXXRecordDecl" {
			continue // clang prints the body a second time here
		}
		r.lambdas(kid)
	}
}

// callOperator returns the mangled name of the call operator of a lambda expression.
func callOperator(lambda *node) string {
	for _, kid := range lambda.kids {
		for _, m := range kid.kids {
			if kid.kind == "CXXRecordDecl" && m.kind == "CXXMethodDecl" && m.name == "operator()" {
				return m.mangled
			}
		}
	}
	return ""
}

// String returns the name and the place of the function, for messages.
func (f *Func) String() string {
	return fmt.Sprintf("%s (%s:%d)", f.Name, f.File.Name, f.Span.Start.Line())
}
