package irgen

import (
	"heddle/internal/ir"
	"heddle/internal/ptx"
)

// pass is one step of Module. Each step reads the whole file, so that names may be used before they
// are declared.
type pass struct {
	name string
	run  func(*gen, *ptx.File)
	// clean says that the step needs a module without errors, and is skipped after one.
	clean bool
	// whole says that the module is complete after the step, as ir.CheckModule requires.
	whole bool
}

// passes are the steps of Module, in order.
var passes = []pass{
	{name: "header", run: (*gen).header},
	{name: "libraries", run: (*gen).libraries},
	{name: "lines", run: func(g *gen, f *ptx.File) {
		g.lines = newLineTable(g.set, f, g.mod.Libraries)
	}},
	{name: "declarations", run: (*gen).declare},
	{name: "aliases", run: (*gen).aliases},
	{name: "initialisers", run: func(g *gen, _ *ptx.File) { g.initialisers() }},
	{name: "bodies", run: (*gen).allBodies, whole: true},
	{name: "facts", run: (*gen).facts, clean: true, whole: true},
}

// passOrder has the reasons for the order: in each pair the first step must run before the second.
// A test compares it with passes.
var passOrder = [][2]string{
	// The size of an address decides what a pointer's size is.
	{"header", "declarations"},
	// An alias and an initialiser may name what is declared after them.
	{"declarations", "aliases"},
	{"declarations", "initialisers"},
	// An initialiser may take the address of a function by its alias.
	{"aliases", "initialisers"},
	// The lines of a library are marked.
	{"libraries", "lines"},
	// Instructions name variables, functions and aliases, and have lines.
	{"initialisers", "bodies"},
	{"lines", "bodies"},
	// The uses of a parameter show whether it is a pointer.
	{"bodies", "facts"},
}

// runPasses runs the steps up to the one with the name last, or all of them for "". Tests stop in
// between. After a step that leaves a complete module, the checker of package ir runs if it is on.
func (g *gen) runPasses(file *ptx.File, last string) {
	for _, p := range passes {
		if p.clean && len(g.errs) > 0 {
			continue
		}
		p.run(g, file)
		if p.whole && len(g.errs) == 0 {
			ir.Checked(p.name, g.mod)
		}
		if p.name == last {
			return
		}
	}
}

// allBodies builds the blocks of the functions that the file defines. A function that is only
// declared keeps Blocks nil, which means that nothing is known about it.
func (g *gen) allBodies(*ptx.File) {
	for _, f := range g.mod.Funcs {
		if fn := g.bodies[f]; fn != nil && fn.Body != nil {
			g.body(f, fn)
		}
	}
}
