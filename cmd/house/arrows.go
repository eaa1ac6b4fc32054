package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// ranks orders the groups of the engine's driver. A group may use what has a lower rank, and
// nothing else: the two engines do not know each other, nor do the two commands.
var ranks = map[string]int{"driver": 0, "run": 1, "prove": 2, "trace": 2, "fix": 3, "sync": 3,
	"check": 4}

// groupFiles are the files of each group of internal/check while it was one package, without those
// whose names start with fix, sync or trace.
var groupFiles = map[string]string{
	"driver": "load place parallel decisions suppress options run",
	"run":    "kernel findings guesses deadlock reproduce groups",
	"prove":  "prove replay solving shape form invariants",
	"trace":  "named",
	"fix":    "judge hunt",
	"sync":   "barrieruse",
}

// packageGroups are the groups of the packages after internal/check was taken apart.
var packageGroups = map[string]string{
	"internal/driver": "driver", "internal/engine/run": "run", "internal/engine/prove": "prove",
	"internal/engine/trace": "trace", "internal/command/fix": "fix", "internal/engine/placement": "sync",
	"internal/check": "check",
}

// fileGroup returns the group of a file of internal/check by its name; empty if it has none, which
// printArrows reports. Old checkouts need it: they have no packages to tell groups apart.
func fileGroup(name string) string {
	name = strings.TrimSuffix(filepath.Base(name), ".go")
	for g, names := range groupFiles {
		if slices.Contains(strings.Fields(names), name) {
			return g
		}
	}
	for _, g := range []string{"fix", "sync", "trace"} {
		if strings.HasPrefix(name, g) {
			return g
		}
	}
	return ""
}

// The compiler rules out circles between packages but not between the files of one package. So the
// same layers are measured twice: by file names while internal/check is one package, and by import
// paths afterwards, where uses that go up can only come from an import that is wrong.

// An arrow is a use of a declaration of one group in a file of another.
type arrow struct {
	from, to   string // groups
	file, name string // the file that uses, and the declaration used
}

// up reports whether an arrow violates the order: it leads to a group of the same or a higher rank.
func (a arrow) up() bool { return ranks[a.to] >= ranks[a.from] }

// arrows returns the uses between groups of declarations of packages: each declaration once for
// each file. unknown lists files that belong to no group, whose uses are not counted.
func arrows(fset *token.FileSet, pkgs []*pkg) (list []arrow, unknown []string) {
	// After the split the package of a declaration decides its group, before it the file.
	split := slices.ContainsFunc(pkgs, func(p *pkg) bool { return p.path == "internal/driver" })
	seen := map[arrow]bool{}
	for _, p := range pkgs {
		if packageGroups[p.path] == "" {
			continue
		}
		for _, f := range p.files {
			from := packageGroups[p.path]
			if !split {
				from = fileGroup(f.name)
			}
			if from == "" {
				unknown = append(unknown, f.name)
				continue
			}
			ast.Inspect(f.tree, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				o := p.info.Uses[id]
				if o == nil || o.Pkg() == nil || !shared(o) {
					return true
				}
				to := packageGroups[strings.TrimPrefix(o.Pkg().Path(), p.module+"/")]
				if to != "" && !split {
					to = fileGroup(fset.Position(o.Pos()).Filename)
				}
				if to != "" && to != from {
					seen[arrow{from, to, p.path + "/" + f.name, o.Name()}] = true
				}
				return true
			})
		}
	}
	return slices.Collect(maps.Keys(seen)), unknown
}

// printArrows prints the arrows from each group to each other one.
func printArrows(w io.Writer, fset *token.FileSet, pkgs []*pkg) {
	list, unknown := arrows(fset, pkgs)
	count := map[arrow]int{}
	up := 0
	for _, a := range list {
		count[arrow{from: a.from, to: a.to}]++
		if a.up() {
			up++
		}
	}
	t := newTable(w, "from", "to", "arrows", "")
	for _, from := range slices.Sorted(maps.Keys(ranks)) {
		for _, to := range slices.Sorted(maps.Keys(ranks)) {
			a := arrow{from: from, to: to}
			if n := count[a]; n > 0 {
				mark := ""
				if a.up() {
					mark = "up"
				}
				t.row(from, to, n, mark)
			}
		}
	}
	t.flush()
	fmt.Fprintf(w, "%d arrows between groups, %d of them up\n", len(list), up)
	if len(unknown) > 0 {
		fmt.Fprintf(w, "files without a group: %s\n", strings.Join(unknown, " "))
	}
}

// shared reports whether o is declared at the top of its package, or is a field or method.
func shared(o types.Object) bool {
	if v, ok := o.(*types.Var); ok && v.IsField() || o.Parent() == o.Pkg().Scope() {
		return true
	}
	fn, ok := o.(*types.Func)
	return ok && fn.Signature().Recv() != nil
}
