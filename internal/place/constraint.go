package place

import (
	"slices"
)

// constraint is what one path of a race demands: a barrier after one of these labels.
type constraint struct {
	race  *Race
	level int  // 0: within an iteration; j: across iterations of the j-th common loop
	path  Path // Near or Far
	loop  Label
	// wide are all labels that may execute on the path: a placement without any of them cannot
	// separate the two accesses. narrow are those of the paper: each executes on the path whenever
	// both accesses do. So wide is necessary and narrow is sufficient.
	wide, narrow []Label
	// ahead returns the number of slots between a label and the second access.
	ahead func(Label) int
}

// key identifies a path of a race.
type key struct {
	a, b  Label
	level int
	path  Path
}

func (c *constraint) key() key { return key{c.race.A, c.race.B, c.level, c.path} }

// order swaps the statements of a race so that A executes first.
func (x *text) order(r *Race) {
	if x.site(r.A).at > x.site(r.B).at {
		r.A, r.B = r.B, r.A
		r.Texts[0], r.Texts[1] = r.Texts[1], r.Texts[0]
	}
}

// constraints returns the constraints of all paths of a race, or of all possible paths if the
// oracle did not name them.
func (x *text) constraints(r *Race) []*constraint {
	a, b := x.site(r.A), x.site(r.B)
	loops := x.commonLoops(a, b)
	var out []*constraint
	for level := 0; level <= len(loops); level++ {
		paths := Near
		if r.Paths != nil {
			paths = 0
			if level < len(r.Paths) {
				paths = r.Paths[level]
			}
		}
		for _, p := range []Path{Near, Far} {
			if paths&p == 0 || p == Far && level == 0 {
				continue
			}
			out = append(out, x.constraint(r, a, b, loops, level, p))
		}
	}
	return out
}

func (x *text) constraint(r *Race, a, b site, loops []Label, level int, path Path) *constraint {
	c := &constraint{race: r, level: level, path: path, loop: None}
	c.ahead = func(l Label) int { return x.distance(c, a, b, l) }
	d := len(loops)
	region := None // control stays inside it on the path
	switch {
	case level > 0:
		c.loop = loops[level-1]
		region = c.loop
	case d > 0:
		region = loops[d-1]
	}
	again := x.repeated(a, b, loops, level)
	for i := range x.t.Labels {
		l := Label(i)
		if !x.open(l) && !(r.OneWarp && x.t.Labels[l].Warp) || !x.within(l, region) {
			continue
		}
		between := x.between(c, a, b, l)
		inner := func(loop Label) bool { return x.within(l, loop) }
		if between || slices.ContainsFunc(again, inner) {
			c.wide = append(c.wide, l)
		}
		if between && x.certain(c, a, b, l) {
			c.narrow = append(c.narrow, l)
		}
	}
	return c
}

// repeated returns the loops that may keep iterating while control is on the path: those around one
// of the accesses only, and, across iterations of an outer loop, the next common loop.
func (x *text) repeated(a, b site, loops []Label, level int) []Label {
	var out []Label
	for _, s := range []site{a, b} {
		for _, l := range s.around {
			if x.t.Labels[l].Kind == Loop && !slices.Contains(loops, l) {
				out = append(out, l)
			}
		}
	}
	if level > 0 && level < len(loops) {
		out = append(out, loops[level])
	}
	return out
}

// between reports whether the slot of l is on the path in source order.
func (x *text) between(c *constraint, a, b site, l Label) bool {
	s := x.slot[l]
	switch {
	case c.path == Far:
		return true
	case c.level == 0:
		return a.at < s && s < b.at
	}
	return s < a.at || b.at < s
}

// certain reports whether l, which is between, executes whenever the two accesses do and control
// does not jump: the label intervals of section III.B.
func (x *text) certain(c *constraint, a, b site, l Label) bool {
	switch s := x.slot[l]; {
	case c.path == Far: // either access may execute first: only blocks around both are certain
		for _, block := range x.blocks[l] {
			if !slices.Contains(a.around, block) || !slices.Contains(b.around, block) {
				return false
			}
		}
		return true
	case c.level == 0:
		return x.covered(l, a.around, b.around)
	case s < a.at:
		return x.covered(l, a.around)
	default:
		return x.covered(l, b.around)
	}
}

// useless returns the labels that separate the accesses of a constraint no better than those of p,
// which do not separate them. A block that holds neither access is on the path as a whole or not at
// all: of its labels that the same threads reach, all are on the path or none is.
func (x *text) useless(c *constraint, p Placement) Placement {
	a, b := x.site(c.race.A), x.site(c.race.B)
	out := Placement{}
	for l, on := range p {
		if !on {
			continue
		}
		out[l] = true
		block := x.t.Labels[l].Parent
		if block == None || slices.Contains(a.around, block) || slices.Contains(b.around, block) {
			continue
		}
		for _, k := range x.sameThreads(l) {
			out[k] = true
			kids := x.t.Labels[x.t.Labels[k].Parent].Kids
			i := slices.Index(kids, k) + 1
			if i < len(kids) && x.t.Labels[kids[i]].Warp { // a warp barrier separates less
				out[kids[i]] = true
			}
		}
	}
	return out
}

// distance counts slots from l to the access that executes last on the path.
func (x *text) distance(c *constraint, a, b site, l Label) int {
	last := b
	if c.level > 0 && c.path == Near {
		last = a
	}
	d := last.at - x.slot[l]
	if d < 0 { // through the back edge
		d += 2 * len(x.t.Labels)
	}
	return d / 2
}
