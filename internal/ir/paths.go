package ir

import "slices"

// Paths answers questions about the order of instructions on the paths of a function. It is not
// safe for concurrent use.
type Paths struct {
	f         *Func
	dom, post *DomTree
	block     map[*Instr]BlockID
	reached   map[BlockID][]bool // by block: which blocks at least one edge leads to
}

// NewPaths returns the paths of f, which must have blocks and must not change.
func NewPaths(f *Func) *Paths {
	p := &Paths{f: f, dom: Dominators(f), post: PostDominators(f),
		block: map[*Instr]BlockID{}, reached: map[BlockID][]bool{}}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			p.block[in] = b.ID
		}
	}
	return p
}

// Dominates reports whether every path from the entry to b passes a, which may be b.
func (p *Paths) Dominates(a, b *Instr) bool {
	if x, y := p.block[a], p.block[b]; x != y {
		return p.dom.Dominates(x, y)
	}
	return a.Index <= b.Index
}

// PostDominates reports whether every path from b to an exit passes a, which may be b.
func (p *Paths) PostDominates(a, b *Instr) bool {
	if x, y := p.block[a], p.block[b]; x != y {
		return p.post.Dominates(x, y)
	}
	return a.Index >= b.Index
}

// Reaches reports whether some path leads from a to b, with a itself passed once at least: it
// reaches itself if it is in a loop.
func (p *Paths) Reaches(a, b *Instr) bool {
	x, y := p.block[a], p.block[b]
	if x == y && a.Index < b.Index {
		return true
	}
	to := p.reached[x]
	if to == nil {
		to = make([]bool, len(p.f.Blocks))
		p.reached[x] = to
		for work := []BlockID{x}; len(work) > 0; {
			last := len(work) - 1
			next := p.f.Blocks[work[last]].Succs
			work = work[:last]
			for _, s := range next {
				if !to[s] {
					to[s] = true
					work = append(work, s)
				}
			}
		}
	}
	return to[y]
}

// ReachesPast reports whether some path leads from a to b that passes none of the instructions for
// which avoided holds in between.
func (p *Paths) ReachesPast(a, b *Instr, avoided func(*Instr) bool) bool {
	// through reports whether the path from an instruction on ends at b, or runs on to the end of
	// its block.
	through := func(rest []*Instr) (found, on bool) {
		for _, in := range rest {
			switch {
			case in == b:
				return true, false
			case avoided(in):
				return false, false
			}
		}
		return false, true
	}
	from := p.f.Blocks[p.block[a]]
	found, on := through(from.Instrs[slices.Index(from.Instrs, a)+1:])
	if found || !on {
		return found
	}
	seen := make([]bool, len(p.f.Blocks))
	for work := []*Block{from}; len(work) > 0; {
		last := len(work) - 1
		next := work[last].Succs
		work = work[:last]
		for _, s := range next {
			if seen[s] {
				continue
			}
			seen[s] = true
			found, on := through(p.f.Blocks[s].Instrs)
			if found {
				return true
			}
			if on {
				work = append(work, p.f.Blocks[s])
			}
		}
	}
	return false
}
