package explore

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/memmodel"
)

// naive is the memory model a second time, from the sentences of the PTX ISA as quantified formulas
// over tables of booleans, for the comparison with memmodel. It shares no code with it.
type naive struct {
	pos    []memmodel.Position
	ev     []naiveEvent
	rf     []int // source of a read, or -1
	sc, co [][]bool

	poT, overlapT, msT [][]bool // po, overlap and ms of all pairs
	obs, cause, baseT  [][]bool // of the current rf and sc
}

// prepare computes what does not depend on sc and co.
func (m *naive) prepare() {
	n := len(m.ev)
	m.poT, m.overlapT, m.msT = table(n), table(n), table(n)
	for a := range n {
		for b := range n {
			m.poT[a][b] = m.ev[a].thread >= 0 && m.ev[a].thread == m.ev[b].thread &&
				m.ev[a].index < m.ev[b].index && (m.ev[a].vec == 0 || m.ev[a].vec != m.ev[b].vec)
			m.overlapT[a][b] = m.memory(a) && m.memory(b) && m.ev[a].loc == m.ev[b].loc
		}
	}
	for a := range n {
		for b := range n {
			m.msT[a][b] = m.related(a, b)
		}
	}
	m.obs = m.observation()
}

type naiveEvent struct {
	thread, index int // thread -1: initial write
	reads, writes bool
	red           bool
	fence, bar    bool
	order         event.Order
	scope         event.Scope
	loc           int
	gen           int
	vec           int // the vector access that it is an element of, which have no order (8.2.2)
}

func table(n int) [][]bool {
	t := make([][]bool, n)
	for i := range t {
		t[i] = make([]bool, n)
	}
	return t
}

func (m *naive) memory(a int) bool { return m.ev[a].reads || m.ev[a].writes }

// overlap: 8.2.1.
func (m *naive) overlap(a, b int) bool {
	return m.overlapT[a][b]
}

func (m *naive) po(a, b int) bool { return m.poT[a][b] }

func (m *naive) isStrong(a int) bool {
	return m.ev[a].fence || m.memory(a) && m.ev[a].thread >= 0 && m.ev[a].order != event.Weak
}

func (m *naive) within(a, b int) bool { // the scope of a includes the thread of b
	p, q := m.pos[m.ev[a].thread], m.pos[m.ev[b].thread]
	switch m.ev[a].scope {
	case event.CTA:
		return p.CTA == q.CTA && p.GPU == q.GPU
	case event.GPU:
		return p.GPU == q.GPU
	case event.Sys:
		return true
	}
	return false
}

func (m *naive) ms(a, b int) bool { return m.msT[a][b] }

// related: 8.7.
func (m *naive) related(a, b int) bool {
	if a == b || m.memory(a) && m.memory(b) && !m.overlap(a, b) {
		return false
	}
	return m.po(a, b) || m.po(b, a) ||
		m.isStrong(a) && m.isStrong(b) && m.within(a, b) && m.within(b, a)
}

// closed makes a relation transitive.
func closed(t [][]bool) [][]bool {
	for c := range t {
		for a := range t {
			for b := range t {
				t[a][b] = t[a][b] || t[a][c] && t[c][b]
			}
		}
	}
	return t
}

func some(n int, f func(int) bool) bool {
	for i := range n {
		if f(i) {
			return true
		}
	}
	return false
}

// observation: 8.9.2.
func (m *naive) observation() [][]bool {
	n := len(m.ev)
	obs := table(n)
	for changed := true; changed; {
		changed = false
		for w := range n {
			for r := range n {
				if obs[w][r] {
					continue
				}
				obs[w][r] = m.rf[r] == w && m.ms(w, r) || some(n, func(z int) bool {
					return m.ev[z].reads && m.ev[z].writes && obs[w][z] && obs[z][r]
				})
				changed = changed || obs[w][r]
			}
		}
	}
	return obs
}

// pattern is a release or acquire pattern (8.8): its first and last operation.
type pattern struct{ first, last int }

func (m *naive) releasePatterns() (out []pattern) {
	for a := range m.ev {
		rel := m.ev[a].order == event.Release || m.ev[a].order == event.AcqRel ||
			m.ev[a].order == event.SeqCst
		if m.ev[a].writes && rel {
			out = append(out, pattern{a, a})
		}
		for w := range m.ev {
			if rel && m.po(a, w) && m.ev[w].writes && m.isStrong(w) &&
				(m.ev[a].fence || m.ev[a].writes && m.ev[a].loc == m.ev[w].loc) {
				out = append(out, pattern{a, w})
			}
		}
	}
	return out
}

func (m *naive) acquirePatterns() (out []pattern) {
	for b := range m.ev {
		acq := m.ev[b].order == event.Acquire || m.ev[b].order == event.AcqRel ||
			m.ev[b].order == event.SeqCst
		if m.ev[b].reads && acq && !m.ev[b].red {
			out = append(out, pattern{b, b})
		}
		for r := range m.ev {
			if acq && m.po(r, b) && m.ev[r].reads && !m.ev[r].red && m.isStrong(r) &&
				(m.ev[b].fence || m.ev[b].reads && !m.ev[b].red && m.ev[b].loc == m.ev[r].loc) {
				out = append(out, pattern{r, b})
			}
		}
	}
	return out
}

// base: 8.9.4 and 8.9.5.
func (m *naive) base(obs [][]bool) [][]bool {
	n := len(m.ev)
	sync := table(n)
	for _, x := range m.releasePatterns() {
		for _, y := range m.acquirePatterns() {
			if obs[x.last][y.first] && m.ms(x.first, y.last) {
				sync[x.first][y.last] = true
			}
		}
	}
	for a := range m.ev {
		for b := range m.ev {
			same := m.ev[a].bar && m.ev[b].bar && a != b && m.ev[a].gen == m.ev[b].gen
			sync[a][b] = sync[a][b] || m.sc[a][b] || same
		}
	}
	base := table(n)
	for x := range n {
		for y := range n {
			base[x][y] = m.po(x, y) || sync[x][y] || m.ev[x].thread < 0 && m.ev[y].thread >= 0
		}
	}
	return closed(base)
}

// causality: 8.9.5, between overlapping operations.
func (m *naive) causality(obs, base [][]bool) [][]bool {
	n := len(m.ev)
	cause := table(n)
	for x := range n {
		for y := range n {
			cause[x][y] = m.overlap(x, y) && (base[x][y] || some(n, func(z int) bool {
				return obs[x][z] && m.overlap(z, y) && base[z][y]
			}))
		}
	}
	return cause
}

// fenced computes what depends on sc, and decides axiom Fence-SC (8.10.2).
func (m *naive) fenced() bool {
	m.baseT = m.base(m.obs)
	m.cause = m.causality(m.obs, m.baseT)
	for a := range m.ev {
		for b := range m.ev {
			if m.sc[a][b] && m.baseT[b][a] {
				return false
			}
		}
	}
	return true
}

// allowed decides the other axioms of 8.10 except No-Thin-Air, and returns coherence order. co
// holds the choices for morally strong writes.
func (m *naive) allowed() (ok bool, co [][]bool) {
	n := len(m.ev)
	cause := m.cause
	co = table(n)
	for a := range n {
		for b := range n { // 8.9.6, 8.10.1
			co[a][b] = m.co[a][b] || m.ev[a].writes && m.ev[b].writes && cause[a][b]
		}
	}
	co = closed(co)
	comm := table(n) // 8.9.7
	for a := range n {
		for b := range n {
			comm[a][b] = m.rf[b] == a || co[a][b] || a != b && m.rf[a] >= 0 && co[m.rf[a]][b]
		}
	}
	for a := range n {
		if co[a][a] || m.rf[a] == a {
			return false, nil
		}
		for b := range n {
			if m.rf[a] == b && cause[a][b] { // 8.10.6, 1
				return false, nil
			}
			older := m.rf[a] >= 0 && m.ev[b].writes && a != b && co[m.rf[a]][b]
			if older && cause[b][a] { // 8.10.6, 2
				return false, nil
			}
			if older && m.ev[a].writes && m.ms(a, b) && co[b][a] { // 8.10.3
				return false, nil
			}
		}
	}
	return !m.cycle(comm), co
}

// races: 8.7.1.
func (m *naive) races() (races []string) {
	for a := range m.ev {
		for b := range a {
			if m.overlap(a, b) && (m.ev[a].writes || m.ev[b].writes) && !m.ms(a, b) &&
				!m.cause[a][b] && !m.cause[b][a] && m.ev[b].thread >= 0 {
				races = append(races, m.pair(b, a))
			}
		}
	}
	slices.Sort(races)
	return races
}

// cycle looks for a contradiction of 8.10.5, depth first.
func (m *naive) cycle(comm [][]bool) bool {
	color := make([]int, len(m.ev))
	var visit func(int) bool
	visit = func(a int) bool {
		color[a] = 1
		for b := range m.ev {
			if m.po(a, b) && m.overlap(a, b) || comm[a][b] && m.ms(a, b) {
				if color[b] == 1 || color[b] == 0 && visit(b) {
					return true
				}
			}
		}
		color[a] = 2
		return false
	}
	for a := range m.ev {
		if color[a] == 0 && visit(a) {
			return true
		}
	}
	return false
}

func (m *naive) name(a int) string {
	if m.ev[a].thread < 0 {
		return fmt.Sprintf("init%d", m.ev[a].loc)
	}
	return fmt.Sprintf("%d.%d", m.ev[a].thread, m.ev[a].index)
}

func (m *naive) pair(a, b int) string {
	x, y := m.name(a), m.name(b)
	if x > y {
		x, y = y, x
	}
	return x + "~" + y
}

// key identifies an execution by its reads-from, coherence and Fence-SC orders.
func (m *naive) key(co [][]bool) string {
	var parts []string
	for a := range m.ev {
		if m.rf[a] >= 0 {
			parts = append(parts, m.name(m.rf[a])+">"+m.name(a))
		}
		for b := range m.ev {
			if co[a][b] {
				parts = append(parts, m.name(a)+"<"+m.name(b))
			}
			if m.sc[a][b] {
				parts = append(parts, m.name(a)+"<<"+m.name(b))
			}
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}
