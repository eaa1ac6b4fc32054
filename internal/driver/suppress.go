package driver

import (
	"fmt"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/ir"
	"heddle/internal/lower"
	"heddle/internal/source"
	"heddle/internal/suppress"
)

// Aside are the findings of one kernel that do not count, because a comment suppresses them or a
// baseline knows them. A kernel that has some is never verified.
type Aside struct {
	Suppressed, Known int
	Hits              int             // how often any of them was found
	seen              map[string]bool // by placesKey; engines pass it on, so each counts once
}

// Any reports whether there are such findings.
func (a *Aside) Any() bool { return len(a.seen) > 0 }

// SetAside reports whether a finding does not count, because a comment suppresses it or because it
// was known before, and records it in a.
func (j *Job) SetAside(a *Aside, g *diag.Diagnostic) bool {
	j.Turn()
	j.d.readTexts(g)
	at := placesKey(g)
	// A trace or a replay often finds the race of a run again; it is one finding and uses up one
	// entry of a baseline.
	if !a.seen[at] {
		earlier, hit := j.launches.setAside(at)
		g.Suppressed = earlier
		if !hit {
			if g.Suppressed = j.d.ignored.Match(g); g.Suppressed != nil && j.record != nil {
				kept := *g
				j.record(Effect{Aside: &kept})
			}
		}
		switch {
		case hit && earlier == nil:
			a.Known++
		case g.Suppressed != nil:
			a.Suppressed++
			j.Report(*g)
		case j.d.opt.Known != nil && j.d.opt.Known(g):
			a.Known++
		default:
			return false
		}
		j.launches.keep(at, g.Suppressed)
		if a.seen == nil {
			a.seen = make(map[string]bool)
		}
		a.seen[at] = true
	}
	a.Hits++
	return true
}

// placesKey identifies a finding of one kernel by its code and positions. It is the same for all
// engines, which describe a finding in different words.
func placesKey(g *diag.Diagnostic) string {
	at := []source.Pos{g.Span.Start}
	for _, r := range g.Related {
		at = append(at, r.Span.Start)
	}
	slices.Sort(at)
	return fmt.Sprint(g.Code, at)
}

// ReadComments reads the heddle:ignore comments of all files to which the line information of a
// module points, headers included, and of the input itself.
func (d *Driver) ReadComments(in *Module) {
	ptx := in.Lowered.Lang == lower.PTX
	seen := make(map[source.FileID]bool)
	var last source.FileID // of most instructions
	read := func(p source.Pos, ptx bool) {
		if id := p.File(); id != last && p.IsValid() {
			if last = id; !seen[id] {
				seen[id] = true
				d.readDirectives(id, ptx)
			}
		}
	}
	for _, f := range in.IR.Funcs {
		if ptx {
			read(f.Span.Start, true)
		}
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				for frame := i.Loc; frame != nil; frame = frame.Parent {
					read(frame.Pos, false)
				}
			}
		}
	}
	if f := d.opt.Files.Lookup(in.Name); f != nil && !ptx {
		d.readDirectives(f.ID, false)
	}
}

func (d *Driver) readDirectives(id source.FileID, ptx bool) {
	d.needText(source.Span{Start: source.MakePos(id, 1, 1)})
	for _, g := range d.ignored.Read(d.opt.Files.File(id), ptx) {
		d.InputError(g)
	}
}

// Checked records for which codes everything that the kernel executes was examined; nil: for none.
// A heddle:ignore comment for such a code in the kernel that matched nothing is later reported as
// unused.
func (j *Job) Checked(codes func(diag.Code) bool) {
	j.Turn()
	if j.launches != nil {
		j.launches.checked = append(j.launches.checked, codes)
		return
	}
	if j.record != nil {
		j.record.checked(codes)
	}
	if j.d.ignored.Any() {
		j.d.ignored.Add(placesOf(j.Module, j.Kernel, codes)...)
	}
}

// placesOf returns, for each file and function, the range of lines that a kernel and the functions
// that it calls cover.
func placesOf(in *Module, k *ir.Func, codes func(diag.Code) bool) []suppress.Place {
	type key struct {
		file source.FileID
		fn   string
	}
	lines := make(map[key]*suppress.Place)
	var order []*suppress.Place
	add := func(p source.Pos, fn string) {
		if !p.IsValid() || p.Line() == 0 {
			return
		}
		at := lines[key{p.File(), fn}]
		if at == nil {
			at = &suppress.Place{
				File: p.File(), First: p.Line(), Last: p.Line(),
				Kernel: k.Demangled, Checked: codes,
			}
			lines[key{p.File(), fn}] = at
			order = append(order, at)
		}
		at.First, at.Last = min(at.First, p.Line()), max(at.Last, p.Line())
	}
	seen := map[*ir.Func]bool{k: true}
	for todo := []*ir.Func{k}; len(todo) > 0; todo = todo[1:] {
		f := todo[0]
		if f.Src != nil {
			add(f.Src.Pos, f.Demangled)
		}
		if in.Lowered.Lang == lower.PTX {
			add(f.Span.Start, f.Name)
		}
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				for frame := i.Loc; frame != nil; frame = frame.Parent {
					add(frame.Pos, frame.Func)
				}
				if i.Loc == nil && in.Lowered.Lang == lower.PTX {
					add(i.Span.Start, f.Name)
				}
				for _, callee := range append(i.Targets[:len(i.Targets):len(i.Targets)], i.Callee) {
					if callee != nil && !seen[callee] {
						seen[callee] = true
						todo = append(todo, callee)
					}
				}
			}
		}
	}
	out := make([]suppress.Place, len(order))
	for i, p := range order {
		out[i] = *p
	}
	return out
}
