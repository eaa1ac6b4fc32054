// Package between repairs races between blocks in the source of a kernel and the host code that
// launches it. A block barrier does not order threads of two blocks, so there are three other
// means: a barrier of the grid in a cooperative launch, a division of the kernel into two that are
// launched one after the other, and a copy of what the kernel reads and overwrites.
//
// In flow the syntax of a file and a kernel in it; out flow the changed file, or why there is none.
// Nothing is accepted here: command/fix compiles and proves the file. The package knows no engine.
package between

import (
	"fmt"
	"strings"

	"heddle/internal/repair/hostedit"
	"heddle/internal/syntax"
)

// Means is a way to repair races between blocks. The order is that of their costs: a barrier of the
// grid takes less than another launch, and that less than a copy of an array before each launch.
type Means uint8

const (
	GridSync Means = iota
	Split
	DoubleBuffer
)

// All are the means, the cheapest first.
var All = []Means{GridSync, Split, DoubleBuffer}

var meansNames = [...]string{"grid-sync", "split", "double-buffer"}

// String is the name on the command line.
func (m Means) String() string { return meansNames[m] }

// ParseMeans reads a name of the command line.
func ParseMeans(word string) (Means, bool) {
	for _, m := range All {
		if m.String() == word {
			return m, true
		}
	}
	return 0, false
}

// Candidate is a changed file that has to be proved.
type Candidate struct {
	Means   Means
	Text    []byte
	Kernels []string // as declared: those that have to be verified
	Changes []Change
	Notes   []string
	// Doubt is what the candidate leaves as it was, with the reason; nil: nothing. It explains best
	// why the file is not verified, if it is not.
	Doubt error
}

// Change is a part of a change.
type Change struct {
	Text string
	At   int // an offset in the file before the change
}

// Kernel is a kernel in the syntax of its file.
type Kernel struct {
	Unit     *syntax.Unit
	Func     *syntax.Func
	Launches []syntax.HostLaunch
	params   []syntax.Param
}

// Header is the header of grid barriers, and Barrier their statement.
const (
	Header  = "cooperative_groups.h"
	Barrier = "cooperative_groups::this_grid().sync();"
)

// New returns a kernel with the launches of its file. The error says why its host code cannot be
// changed: it may be elsewhere, or something else than a launch may name the kernel.
func New(u *syntax.Unit, f *syntax.Func) (*Kernel, error) {
	if u.OpenCL || u.PTX {
		return nil, fmt.Errorf("only host code in CUDA C++ can be changed")
	}
	params, ok := f.Params()
	if !ok {
		return nil, &syntax.HostError{Pos: f.Span.Start, What: "the parameters are not plain text"}
	}
	if head, _ := f.Head(); strings.HasPrefix(string(f.File.Content[head.From:head.To]), "template") {
		return nil, &syntax.HostError{Pos: f.Span.Start,
			What: f.Name + " is a template, whose types the host code does not name"}
	}
	launches, other := u.Launches(f)
	k := &Kernel{Unit: u, Func: f, Launches: launches, params: params}
	switch {
	case len(other) > 0:
		return nil, &syntax.HostError{Pos: other[0],
			What: f.Name + " is used here other than in a launch that heddle can change"}
	case len(launches) == 0:
		return nil, &syntax.HostError{Pos: f.Span.Start,
			What: "the host code that launches " + f.Name + " is not in the file"}
	}
	for i := range launches {
		if launches[i].Host.File != f.File {
			return nil, &syntax.HostError{Pos: launches[i].Host.File.PosAt(launches[i].Whole.From),
				What: f.Name + " is launched in another file"}
		}
	}
	return k, nil
}

// body is the range of the kernel's body.
func (k *Kernel) body() syntax.Range {
	from, _ := k.Func.File.Offset(k.Func.Span.Start)
	to, _ := k.Func.File.Offset(k.Func.Span.End)
	return syntax.Range{From: from, To: to}
}

// patch is an empty patch of the file.
func (k *Kernel) patch() *hostedit.Patch { return hostedit.New(k.Func.File) }

// named is the kernel for messages.
func (k *Kernel) named(n int) string {
	if n == 1 {
		return "the launch of " + k.Func.Name
	}
	return fmt.Sprintf("the %d launches of %s", n, k.Func.Name)
}
