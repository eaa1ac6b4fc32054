package check

import (
	"fmt"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/ir"
	"heddle/internal/lower"
	"heddle/internal/source"
	"heddle/internal/suppress"
)

// aside are findings that are no reason for a verdict "bug".
type aside struct {
	suppressed, known int
	hits              int             // how often one came up
	seen              map[string]bool // by place, with those that another engine has set aside before
}

func (a *aside) any() bool { return len(a.seen) > 0 }

// setAside reports whether a finding does not count, because a comment suppresses it or it is known from before,
// and records it.
func (r *kernelRun) setAside(g *diag.Diagnostic) bool {
	r.turn()
	r.readTexts(g)
	at := placesKey(g)
	if !r.aside.seen[at] {
		g.Suppressed = r.ignored.Match(g)
		switch {
		case g.Suppressed != nil:
			r.aside.suppressed++
			r.report(*g)
		case r.opt.Known != nil && r.opt.Known(g):
			r.aside.known++
		default:
			return false
		}
		if r.aside.seen == nil {
			r.aside.seen = make(map[string]bool)
		}
		r.aside.seen[at] = true
	}
	r.aside.hits++
	if endsRun(g.Code) && r.inconclusive == "" {
		r.inconclusive = fmt.Sprintf("a run ended at a finding that is not counted (%s at %s); what comes later was not checked", g.Code, r.files.Format(g.Span.Start))
	}
	return true
}

// placesKey tells findings of one kernel apart, whichever engine found them.
func placesKey(g *diag.Diagnostic) string {
	at := []source.Pos{g.Span.Start}
	for _, r := range g.Related {
		at = append(at, r.Span.Start)
	}
	slices.Sort(at)
	return fmt.Sprint(g.Code, at)
}

// readComments reads the heddle:ignore comments of the files that a module executes.
func (d *driver) readComments(in *input) {
	ptx := in.lowered.Lang == lower.PTX
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
	for _, f := range in.module.Funcs {
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
	if f := d.files.Lookup(in.name); f != nil && !ptx {
		d.readDirectives(f.ID, false)
	}
}

func (d *driver) readDirectives(id source.FileID, ptx bool) {
	d.needText(source.Span{Start: source.MakePos(id, 1, 1)})
	for _, g := range d.ignored.Read(d.files.File(id), ptx) {
		d.inputError(g)
	}
}

// checked says for which codes everything that a kernel executes was looked at; nil: for none.
func (d *driver) checked(in *input, k *ir.Func, codes func(diag.Code) bool) {
	d.turn()
	if d.ignored.Any() {
		d.ignored.Add(placesOf(in, k, codes)...)
	}
}

func allCodes(diag.Code) bool { return true }

// placesOf returns the lines that a kernel and what it calls have in each file and function.
func placesOf(in *input, k *ir.Func, codes func(diag.Code) bool) []suppress.Place {
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
			at = &suppress.Place{File: p.File(), First: p.Line(), Last: p.Line(), Kernel: k.Demangled, Checked: codes}
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
		if in.lowered.Lang == lower.PTX {
			add(f.Span.Start, f.Name)
		}
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				for frame := i.Loc; frame != nil; frame = frame.Parent {
					add(frame.Pos, frame.Func)
				}
				if i.Loc == nil && in.lowered.Lang == lower.PTX {
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

// endsRun are the findings behind which nothing of the kernel or block was executed.
func endsRun(code diag.Code) bool {
	switch code {
	case diag.CodeOutOfBounds, diag.CodeMisaligned, diag.CodeTrap, diag.CodeAssertFailed, diag.CodeBadBarrier, diag.CodeStackOverflow,
		diag.CodeBarrierDeadlock, diag.CodeWarpSyncHang, diag.CodeBarrierTooMany:
		return true
	}
	return false
}
