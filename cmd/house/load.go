package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A file is one Go file of a package.
type file struct {
	name string // base name
	text []byte
	tree *ast.File
}

// A pkg is one package of the measured checkout, parsed and type-checked.
type pkg struct {
	module string // path of the module, which another checkout may call otherwise
	path   string // import path below the module: "internal/isa"
	name   string // package name
	files  []*file
	tests  []*file // of the package and of its external test package
	info   *types.Info
}

// listed is the part of the output of go list that house reads.
type listed struct {
	ImportPath, Dir, Name, Export      string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Standard                           bool
	Module                             *struct {
		Path string
		Main bool
	}
	Error *struct{ Err string }
}

// Packages are type-checked one at a time from source, since uses between files can only be counted
// if each name is resolved to its declaration. What a package imports is read from the export data
// of the build cache, which go list writes where it is missing: a checkout that does not compile
// cannot be measured.

// load lists, parses and type-checks the packages of the module in dir. Tests are parsed only. The
// types of imported packages are read from the export data that go list builds.
func load(dir string) (*token.FileSet, []*pkg, error) {
	all, err := list(dir)
	if err != nil {
		return nil, nil, err
	}
	exports := map[string]string{}
	for _, l := range all {
		exports[l.ImportPath] = l.Export
	}
	fset := token.NewFileSet()
	// Export data is much faster than type-checking every dependency from source.
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data for %s", path)
		}
		return os.Open(exports[path])
	})
	var pkgs []*pkg
	for _, l := range all {
		if l.Module == nil || !l.Module.Main {
			continue
		}
		p, err := loadPackage(fset, imp, l)
		if err != nil {
			return nil, nil, err
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) == 0 {
		return nil, nil, fmt.Errorf("%s: no packages of a module", dir)
	}
	return fset, pkgs, nil
}

// list runs go list on the module in dir and everything that it imports.
func list(dir string) ([]listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-export",
		"-json=ImportPath,Dir,Name,Export,GoFiles,TestGoFiles,"+
			"XTestGoFiles,Standard,Module,Error", "./...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w\n%s", dir, err, stderr.Bytes())
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list in %s: %w", dir, err)
		}
		if l.Error != nil {
			return nil, fmt.Errorf("go list in %s: %s", dir, l.Error.Err)
		}
		all = append(all, l)
	}
}

// loadPackage parses the files of l and checks the types of those that are not tests.
func loadPackage(fset *token.FileSet, imp types.Importer, l listed) (*pkg, error) {
	p := &pkg{module: l.Module.Path, name: l.Name,
		path: strings.TrimPrefix(l.ImportPath, l.Module.Path+"/")}
	var err error
	if p.files, err = parse(fset, l.Dir, l.GoFiles); err != nil {
		return nil, err
	}
	if p.tests, err = parse(fset, l.Dir, append(l.TestGoFiles, l.XTestGoFiles...)); err != nil {
		return nil, err
	}
	err = p.check(fset, imp, l.ImportPath)
	return p, err
}

// check computes the types of the package's own files. Tests are left out: they could not be
// checked without those of other packages, and are only counted.
func (p *pkg) check(fset *token.FileSet, imp types.Importer, path string) error {
	p.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Defs:  map[*ast.Ident]types.Object{},
		Uses:  map[*ast.Ident]types.Object{},
	}
	trees := make([]*ast.File, len(p.files))
	for i, f := range p.files {
		trees[i] = f.tree
	}
	conf := types.Config{Importer: imp}
	_, err := conf.Check(path, fset, trees, p.info)
	return err
}

// parse reads and parses the named files of a directory.
func parse(fset *token.FileSet, dir string, names []string) ([]*file, error) {
	var files []*file
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		tree, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, &file{name: name, text: text, tree: tree})
	}
	return files, nil
}

// functions calls do for each function and method of f that has a body.
func (f *file) functions(do func(*ast.FuncDecl)) {
	for _, d := range f.tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			do(fn)
		}
	}
}
