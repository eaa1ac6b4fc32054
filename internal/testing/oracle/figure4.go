package oracle

// Figure4 is the algorithm of figure 4 of the Weft paper as it stands there: happens-before as a
// relation over all pairs of commands, closed transitively; cubic.
type Figure4 struct {
	p     Programs
	gen   map[Ref]int
	refs  []Ref
	index map[Ref]int
	r     [][]bool
}

// NewFigure4 builds the relation of lines 3 to 17 from the generations of one execution.
func NewFigure4(p Programs, gen map[Ref]int) *Figure4 {
	f := &Figure4{p: p, gen: gen, index: make(map[Ref]int)}
	for i := range p {
		for j := range p[i] {
			f.index[Ref{i, j}] = len(f.refs)
			f.refs = append(f.refs, Ref{i, j})
		}
	}
	n := len(f.refs)
	f.r = make([][]bool, n)
	for i := range f.r {
		f.r[i] = make([]bool, n)
		f.r[i][i] = true
	}
	for a, x := range f.refs {
		if x.At > 0 {
			f.r[f.index[Ref{x.Thread, x.At - 1}]][a] = true
		}
		for b, y := range f.refs {
			c, d := f.cmd(x), f.cmd(y)
			if a != b && c.Synchronizes() && d.Op == SyncCmd && c.Bar == d.Bar && gen[x] == gen[y] {
				f.r[a][b] = true // arrive to sync, sync to sync
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				f.r[i][j] = f.r[i][j] || f.r[i][k] && f.r[k][j]
			}
		}
	}
	return f
}

func (f *Figure4) cmd(x Ref) Command { return f.p[x.Thread][x.At] }

// before reports whether x comes before the point just before y: (x, y') is in R for the command y'
// that precedes y. Nothing comes before the first command of a thread; the figure leaves those out
// of its check.
func (f *Figure4) before(x, y Ref) bool {
	return y.At > 0 && f.r[f.index[x]][f.index[Ref{y.Thread, y.At - 1}]]
}

// WellSync is lines 18 to 23, with the two cases that Definition 6 decides and the figure does not:
// first commands of a thread, and generations in which nobody waits.
func (f *Figure4) WellSync() bool {
	type generation struct{ bar, gen int }
	waited := make(map[generation]bool)
	for _, x := range f.refs {
		if c := f.cmd(x); c.Op == SyncCmd {
			waited[generation{c.Bar, f.gen[x]}] = true
		}
	}
	for _, x := range f.refs {
		c := f.cmd(x)
		if !c.Synchronizes() || c.Op == ArriveCmd && waited[generation{c.Bar, f.gen[x]}] {
			continue
		}
		for _, y := range f.refs {
			if d := f.cmd(y); d.Synchronizes() && d.Bar == c.Bar && f.gen[y] == f.gen[x]+1 &&
				!f.before(x, y) {
				return false
			}
		}
	}
	return true
}

// Races lists the pairs of Definition 8: accesses of one variable, at least one a write, that the
// relation orders in neither direction.
func (f *Figure4) Races() [][2]Ref {
	var out [][2]Ref
	for a, x := range f.refs {
		for b := range a {
			y := f.refs[b]
			c, d := f.cmd(x), f.cmd(y)
			if c.Synchronizes() || d.Synchronizes() || c.Var != d.Var || c.Op == ReadCmd && d.Op == ReadCmd {
				continue
			}
			if !f.r[a][b] && !f.r[b][a] {
				out = append(out, [2]Ref{y, x})
			}
		}
	}
	return out
}
