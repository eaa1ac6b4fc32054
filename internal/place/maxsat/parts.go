package maxsat

import (
	"cmp"
	"slices"
)

// What makes a large problem small before the search: hard clauses that others imply are dropped,
// then variables that others replace, and the rest is split into parts without a common variable.
// The two reductions are those of set covering (Beasley, "An algorithm for set covering problem",
// EJOR 1987, section 3): rows that contain another row, and columns that a cheaper column covers. A
// long kernel without barriers becomes many parts of a few variables.

// reduce returns a problem with the same cost and with hard clauses that imply those of p together
// with the literals that it fixes. Its variables are those of p; fixed ones are in no clause.
func reduce(p *Problem) (*Problem, []Lit) {
	q := &Problem{Vars: p.Vars, Soft: p.Soft}
	for _, h := range p.Hard {
		if c, ok := normal(h); ok {
			q.Hard = append(q.Hard, c)
		}
	}
	var fixed []Lit
	for {
		q.Hard = minimal(q.Hard)
		out := q.replaced()
		if len(out) == 0 {
			return q, fixed
		}
		fixed = append(fixed, out...)
		gone := make([]bool, q.Vars+1)
		for _, l := range out {
			gone[-l] = true
		}
		for i, h := range q.Hard {
			q.Hard[i] = slices.DeleteFunc(slices.Clone(h), func(l Lit) bool { return l > 0 && gone[l] })
		}
	}
}

// normal returns the sorted literals of a clause, each once; false if it always holds.
func normal(clause []Lit) ([]Lit, bool) {
	c := slices.Clone(clause)
	slices.Sort(c)
	c = slices.Compact(c)
	for _, l := range c {
		if _, both := slices.BinarySearch(c, -l); both {
			return nil, false
		}
	}
	return c, true
}

// minimal returns the clauses that contain no other one. Each clause that stays is found by its
// first literal, so a clause is compared with those that begin with one of its literals.
func minimal(clauses [][]Lit) [][]Lit {
	clauses = slices.Clone(clauses)
	slices.SortStableFunc(clauses, func(a, b []Lit) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b))
	})
	var out [][]Lit
	first := map[Lit][][]Lit{}
	for _, c := range clauses {
		contains := false
		for _, l := range c {
			contains = contains || slices.ContainsFunc(first[l], func(d []Lit) bool {
				return subset(d, c)
			})
		}
		if !contains {
			out = append(out, c)
			first[c[0]] = append(first[c[0]], c)
		}
	}
	return out
}

// subset reports whether the sorted list b has all elements of the sorted list a.
func subset[T cmp.Ordered](a, b []T) bool {
	for _, x := range a {
		i, ok := slices.BinarySearch(b, x)
		if !ok {
			return false
		}
		b = b[i+1:]
	}
	return true
}

// replaced returns negations of variables that a model of least cost can do without: another
// variable is in all hard clauses of such a variable, and its truth costs less. It leaves variables
// alone that a clause negates or that a soft clause wants to be true.
func (p *Problem) replaced() []Lit {
	in := make([][]int, p.Vars+1) // the clauses of each variable, ascending
	cost := make([]int64, p.Vars+1)
	bound := make([]bool, p.Vars+1) // more than a cost depends on it
	for i, h := range p.Hard {
		for _, l := range h {
			v := max(l, -l)
			in[v], bound[v] = append(in[v], i), bound[v] || l < 0
		}
	}
	for _, s := range p.Soft {
		for _, l := range s.Clause {
			v := max(l, -l)
			cost[v], bound[v] = cost[v]+s.Weight, bound[v] || l > 0 || len(s.Clause) > 1
		}
	}
	var out []Lit
	for v := 1; v <= p.Vars; v++ {
		if bound[v] || len(in[v]) == 0 {
			continue
		}
		short := slices.MinFunc(in[v], func(i, j int) int {
			return cmp.Compare(len(p.Hard[i]), len(p.Hard[j]))
		})
		if slices.ContainsFunc(p.Hard[short], func(l Lit) bool {
			return l > 0 && !bound[l] && cost[l] < cost[v] && subset(in[v], in[l])
		}) {
			out = append(out, Lit(-v))
		}
	}
	return out
}

// part is a problem over some of the variables of another one.
type part struct {
	Problem
	vars []int // of the other problem, for variable i+1
}

// parts splits a problem: two clauses with a common variable are in one part. Variables without a
// clause are in none.
func parts(p *Problem) []*part {
	root := make([]int, p.Vars+1)
	for v := range root {
		root[v] = v
	}
	find := func(v int) int {
		for root[v] != v {
			root[v] = root[root[v]]
			v = root[v]
		}
		return v
	}
	used := make([]bool, p.Vars+1)
	join := func(clause []Lit) {
		for _, l := range clause {
			v := int(max(l, -l))
			used[v] = true
			root[find(v)] = find(int(max(clause[0], -clause[0])))
		}
	}
	for _, h := range p.Hard {
		join(h)
	}
	for _, s := range p.Soft {
		join(s.Clause)
	}
	var out []*part
	of, number := map[int]*part{}, make([]int, p.Vars+1)
	for v := 1; v <= p.Vars; v++ {
		if !used[v] {
			continue
		}
		x := of[find(v)]
		if x == nil {
			x = &part{}
			of[find(v)] = x
			out = append(out, x)
		}
		number[v] = int(x.NewVar())
		x.vars = append(x.vars, v)
	}
	local := func(clause []Lit) (*part, []Lit) {
		c := make([]Lit, len(clause))
		for i, l := range clause {
			if c[i] = Lit(number[max(l, -l)]); l < 0 {
				c[i] = -c[i]
			}
		}
		return of[find(int(max(clause[0], -clause[0])))], c
	}
	for _, h := range p.Hard {
		x, c := local(h)
		x.Hard = append(x.Hard, c)
	}
	for _, s := range p.Soft {
		if len(s.Clause) == 0 {
			continue // it costs its weight in any case
		}
		x, c := local(s.Clause)
		x.Soft = append(x.Soft, Soft{c, s.Weight})
	}
	return out
}
