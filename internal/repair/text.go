package repair

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/edit"
	"heddle/internal/ir"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// stmt is the position of an instruction in the text.
type stmt struct {
	start, end int // byte offsets
	insert     int // where to insert text before it: in front of a .pragma that belongs to it
	nested     bool
}

// text holds the positions of a kernel's instructions and labels, and collects edits.
type text struct {
	k      *Kernel
	instrs map[int]stmt // by offset of the instruction
	labels map[string]stmt
	close  int // offset of the brace that closes the body
	open   int // offset behind the opening brace
	prefix string
	edits  []change
	exits  map[string]bool // labels inserted at exits
	locs   []loc
	err    error
}

// loc is a .loc directive.
type loc struct {
	at   int
	text string
}

// change replaces the bytes from start to end.
type change struct {
	start, end int
	new        string
	rank       rank
}

// rank orders insertions at one position.
type rank uint8

const (
	behind   rank = iota // behind the last instruction of a block
	leaving              // the jump that replaces a fall-through edge
	entering             // the label of a block
	inside               // before an instruction
)

func newText(k *Kernel) (*text, error) {
	t := &text{k: k, instrs: map[int]stmt{}, labels: map[string]stmt{}, exits: map[string]bool{}}
	if k.Tree.Body == nil {
		return nil, &Unsupported{What: "the kernel has no body"}
	}
	body := k.Tree.Body.Span()
	start, ok1 := k.File.Offset(body.Start)
	end, ok2 := k.File.Offset(body.End)
	if !ok1 || !ok2 {
		what := "the position of the kernel's body in the PTX text is unknown"
		return nil, &Unsupported{Span: body, What: what}
	}
	t.open, t.close = start+1, end-1
	t.walk(k.Tree.Body, false)
	t.prefix = freePrefix(string(k.File.Content))
	return t, t.err
}

// freePrefix returns a prefix for names that the text does not contain. It looks for the prefix
// anywhere in the text, which is stricter than necessary and needs no list of names.
func freePrefix(content string) string {
	for i := 1; ; i++ {
		p := fmt.Sprintf("fix%d_", i)
		if !strings.Contains(content, p) {
			return p
		}
	}
}

// walk records the positions of instructions, labels and .loc directives. Instructions in nested {
// } blocks are marked, since no branch from outside can reach a label there.
func (t *text) walk(b *ptx.Block, nested bool) {
	pragma := -1
	for s := range b.Stmts() {
		sp := s.Span()
		start, _ := t.k.File.Offset(sp.Start)
		end, _ := t.k.File.Offset(sp.End)
		at := stmt{start: start, end: end, insert: start, nested: nested}
		if pragma >= 0 {
			at.insert = pragma
		}
		switch s.Kind() {
		case ptx.StmtInst:
			t.instrs[start] = at
			pragma = -1
		case ptx.StmtLoc:
			t.locs = append(t.locs, loc{start, string(t.k.File.Content[start:end])})
		case ptx.StmtLabel:
			t.labels[s.Label()] = at
		case ptx.StmtNode:
			switch n := s.Node().(type) {
			case *ptx.Block:
				t.walk(n, true)
			case *ptx.Directive:
				if n.Name == ".pragma" && pragma < 0 {
					pragma = start
				}
			}
		}
	}
}

// at returns the position of an instruction. The implicit ret at the end of a body is at its
// closing brace.
func (t *text) at(in *ir.Instr) (stmt, bool) {
	if in.Span.Start == in.Span.End {
		return stmt{start: t.close, end: t.close, insert: t.close}, true
	}
	off, ok := t.k.File.Offset(in.Span.Start)
	if !ok {
		return stmt{}, false
	}
	s, ok := t.instrs[off]
	return s, ok
}

// locBefore returns the last .loc before an offset; empty if there is none.
func (t *text) locBefore(off int) string {
	i, _ := slices.BinarySearchFunc(t.locs, off, func(l loc, off int) int { return l.at - off })
	if i == 0 {
		return ""
	}
	return t.locs[i-1].text
}

func (t *text) insert(off int, s string, r rank) {
	t.edits = append(t.edits, change{off, off, s, r})
}

func (t *text) replace(start, end int, s string) {
	t.edits = append(t.edits, change{start, end, s, inside})
}

// put inserts text at a place. With jump set, the text contains a label that others branch to.
func (t *text) put(p Point, s string, jump bool) error {
	off, err := t.point(p, jump)
	if err != nil {
		return err
	}
	if p.Index < len(t.k.Func.Block(p.Block).Instrs) {
		t.insert(off, s+"\n\t", inside)
	} else {
		t.insert(off, "\n\t"+s, behind)
	}
	return nil
}

// point returns the offset of a place. A jump target must not be in a nested { } block, because no
// branch from outside can reach it.
func (t *text) point(p Point, jump bool) (int, error) {
	b := t.k.Func.Block(p.Block)
	var s stmt
	ok, off := false, 0
	switch {
	case p.Index < len(b.Instrs):
		s, ok = t.at(b.Instrs[p.Index])
		off = s.insert
	case len(b.Instrs) > 0:
		s, ok = t.at(b.Last())
		off = s.end
	default:
		s, ok = t.labels[b.Label]
		off = s.end
	}
	switch {
	case !ok:
		return 0, &Unsupported{What: "a position in the PTX text is unknown"}
	case s.nested && jump:
		return 0, unsupported(firstOf(b),
			"the repair needs a label inside a { } block, which no branch from outside can reach")
	}
	return off, nil
}

func firstOf(b *ir.Block) *ir.Instr {
	if len(b.Instrs) == 0 {
		return nil
	}
	return b.Instrs[0]
}

// Patch is a plan that was carried out.
type Patch struct {
	Text    []byte // of the whole file
	Edits   []edit.Edit
	Regions []Region // where the control flow was transformed
	changes []change // in the order of the text
}

// Region describes a transformed part of the control flow.
type Region struct {
	Span   source.Span // its first instruction
	Blocks int
	Levels int // stable blocks
	Loops  int // loops in which all threads iterate together
}

// finish applies the edits. Those at one position are ordered by rank: the jump that leaves a block
// precedes the label of the next one.
func (t *text) finish() (*Patch, error) {
	slices.SortStableFunc(t.edits, func(a, b change) int {
		if a.start != b.start {
			return a.start - b.start
		}
		if a.rank != b.rank {
			return int(a.rank) - int(b.rank)
		}
		return a.end - b.end
	})
	p := &Patch{changes: t.edits}
	for _, c := range t.edits {
		span := source.Span{Start: t.k.File.PosAt(c.start), End: t.k.File.PosAt(c.end)}
		p.Edits = append(p.Edits, edit.Edit{Span: span, New: c.new})
	}
	var err error
	p.Text, err = edit.Apply(t.k.File, p.Edits)
	return p, err
}

// Origin maps an offset of the new text to one of the old. Inserted text has none.
func (p *Patch) Origin(off int) (old int, ok bool) {
	shift := 0 // new minus old
	for _, c := range p.changes {
		at := c.start + shift
		if off < at {
			break
		}
		if off < at+len(c.new) {
			return 0, false
		}
		shift += len(c.new) - (c.end - c.start)
	}
	return off - shift, true
}
