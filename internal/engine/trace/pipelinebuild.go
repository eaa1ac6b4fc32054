package trace

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/event"
)

// brokenEdge is a diag.PipelineEdge as it is recorded.
type brokenEdge struct {
	at          [2]pipeAccess
	code        diag.Code
	sites       []event.Site
	label, text string
}

// stageKey is where an object is drawn.
type stageKey struct{ ring, stage, object int }

// pipelineBuilder converts a recording into the pipeline of a report.
type pipelineBuilder struct {
	t       *tracer
	r       *pipelineRecorder
	block   uint32
	broken  []brokenEdge
	threads map[*pipeRec]int // of records that stand for more than the lanes of their masks
	kind    map[*pipeObject]int
	kinds   [][]*pipeObject
	place   map[*pipeObject]stageKey
	roles   map[event.Warp]int
	async   int // the role of asynchronous operations; -1: none
	out     *diag.Pipeline
}

func (t *tracer) newPipelineBuilder(r *pipelineRecorder, block uint32) *pipelineBuilder {
	b := &pipelineBuilder{
		t: t, r: r, block: block, threads: map[*pipeRec]int{}, kind: map[*pipeObject]int{},
		place: map[*pipeObject]stageKey{}, roles: map[event.Warp]int{}, async: -1,
		out: &diag.Pipeline{
			Kernel: t.job.Kernel.Demangled, Input: t.job.InputName(),
			Block: t.run.Config.Geometry.BlockIndex(block).String(),
		},
	}
	b.findKinds()
	return b
}

// findKinds finds objects that are used alike: by the same instructions, in the same block, with
// the same number of arrivals. They are the stages of a ring. Objects of one kind are in the order
// of their addresses.
func (b *pipelineBuilder) findKinds() {
	type user struct {
		op    pipeOp
		block uint32
		life  int
		count uint32
	}
	clear(b.kind)
	b.kinds = nil
	of := map[user]*pipeObject{}
	root := map[*pipeObject]*pipeObject{}
	var find func(o *pipeObject) *pipeObject
	find = func(o *pipeObject) *pipeObject {
		if p := root[o]; p != nil {
			root[o] = find(p)
			return root[o]
		}
		return o
	}
	for _, o := range b.r.objects {
		for op := range o.ops {
			u := user{op, o.block, o.life, o.count}
			if first := of[u]; first == nil {
				of[u] = o
			} else if x, y := find(first), find(o); x != y {
				root[y] = x
			}
		}
	}
	index := map[*pipeObject]int{}
	for _, o := range b.r.objects {
		r := find(o)
		i, ok := index[r]
		if !ok {
			i = len(b.kinds)
			index[r] = i
			b.kinds = append(b.kinds, nil)
		}
		b.kind[o] = i
		b.kinds[i] = append(b.kinds[i], o)
	}
	for _, list := range b.kinds {
		slices.SortFunc(list, func(x, y *pipeObject) int { return cmp.Compare(x.addr, y.addr) })
	}
}

// alike returns the objects of the kind of o.
func (b *pipelineBuilder) alike(o *pipeObject) []*pipeObject { return b.kinds[b.kind[o]] }

// build converts the recording.
func (b *pipelineBuilder) build() *diag.Pipeline {
	b.findKinds() // again: findings have added operations
	b.findRoles()
	for _, group := range b.ringsOf() {
		b.ring(group)
	}
	return b.out
}

// shown reports whether an object is drawn: one of the block that was traced, or one that a finding
// is about.
func (b *pipelineBuilder) shown(o *pipeObject) bool {
	if o.block == b.block {
		return true
	}
	for i := range b.broken {
		for _, a := range b.broken[i].at {
			if a.rec != nil && a.object == o {
				return true
			}
		}
	}
	return false
}

// ringsOf groups kinds that are used together: some warp waits at an object of the one and then
// arrives at an object of the other, with the same index if their numbers differ.
func (b *pipelineBuilder) ringsOf() [][]int {
	index := func(o *pipeObject) int { return slices.Index(b.alike(o), o) }
	apart := map[[2]int]bool{}
	linked := map[[2]int]bool{}
	for l := range b.r.links {
		x, y := b.kind[l[0]], b.kind[l[1]]
		if x == y {
			continue
		}
		pair := [2]int{min(x, y), max(x, y)}
		linked[pair] = true
		if len(b.kinds[x]) != len(b.kinds[y]) && index(l[0]) != index(l[1]) ||
			l[0].block != l[1].block {
			apart[pair] = true
		}
	}
	ring := make([]int, len(b.kinds)) // by kind: the least kind of its ring
	for i := range ring {
		ring[i] = i
	}
	for pair := range linked {
		if apart[pair] {
			continue
		}
		from, to := max(ring[pair[0]], ring[pair[1]]), min(ring[pair[0]], ring[pair[1]])
		for i := range ring {
			if ring[i] == from {
				ring[i] = to
			}
		}
	}
	var out [][]int
	for i := range ring {
		var group []int
		for j := range ring {
			if ring[j] == i {
				group = append(group, j)
			}
		}
		if len(group) > 0 {
			out = append(out, group)
		}
	}
	return out
}

// findRoles groups the warps that execute the same operations, and names the groups.
func (b *pipelineBuilder) findRoles() {
	g := b.t.run.Config.Geometry
	bySet := map[string][]event.Warp{}
	copies := false
	for _, w := range slices.Sorted(maps.Keys(b.r.does)) {
		var parts []string
		for op := range b.r.does[w] {
			parts = append(parts, fmt.Sprint(op.site, op.kind, op.mask))
			copies = copies || op.kind == diag.PipelineCopy
		}
		slices.Sort(parts)
		key := fmt.Sprint(g.BlockOf(w), parts)
		bySet[key] = append(bySet[key], w)
	}
	for i := range b.broken { // a warp may do nothing but race or wait
		for _, a := range b.broken[i].at {
			if a.rec != nil && b.r.does[a.rec.warp] == nil && a.rec.kind != diag.PipelineLacks {
				b.r.does[a.rec.warp] = map[pipeOp]bool{a.rec.pipeOp: true}
				key := fmt.Sprint(g.BlockOf(a.rec.warp), a.rec.site)
				bySet[key] = append(bySet[key], a.rec.warp)
			}
		}
	}
	groups := slices.SortedFunc(maps.Values(bySet), func(x, y []event.Warp) int {
		if p, q := b.issues(x[0]), b.issues(y[0]); p != q {
			if p {
				return -1
			}
			return 1
		}
		return cmp.Compare(x[0], y[0])
	})
	for i, group := range groups {
		if copies && b.async < 0 && !b.issues(group[0]) {
			b.addAsync()
		}
		for _, w := range group {
			b.roles[w] = len(b.out.Roles)
		}
		b.out.Roles = append(b.out.Roles, diag.PipelineRole{Name: b.roleName(group)})
		if copies && b.async < 0 && i == len(groups)-1 {
			b.addAsync()
		}
	}
}

// addAsync adds the role of the asynchronous operations.
func (b *pipelineBuilder) addAsync() {
	b.async = len(b.out.Roles)
	b.out.Roles = append(b.out.Roles, diag.PipelineRole{Name: "asynchronous copies", Async: true})
}

// issues reports whether a warp issues asynchronous operations.
func (b *pipelineBuilder) issues(w event.Warp) bool {
	for op := range b.r.does[w] {
		if op.kind == diag.PipelineCopy {
			return true
		}
	}
	return false
}

// roleName names warps by what they do with asynchronous copies.
func (b *pipelineBuilder) roleName(group []event.Warp) string {
	var mask uint32
	waits := false // for copies
	for op := range b.r.does[group[0]] {
		mask |= op.mask
		if op.kind == diag.PipelineWait || op.kind == diag.PipelineStuck {
			waits = waits || b.copied(op.site)
		}
	}
	prefix := ""
	switch {
	case b.issues(group[0]) && !waits:
		prefix = "producer: "
	case waits && !b.issues(group[0]):
		prefix = "consumer: "
	}
	return prefix + b.who(group, mask)
}

// copied reports whether a wait is for an object that tracks asynchronous operations.
func (b *pipelineBuilder) copied(site event.Site) bool {
	for _, o := range b.r.objects {
		if !o.ops[pipeOp{site: site, kind: diag.PipelineWait}] &&
			!o.ops[pipeOp{site: site, kind: diag.PipelineStuck}] {
			continue
		}
		for op := range o.ops {
			if op.kind == diag.PipelineCopy {
				return true
			}
		}
	}
	return false
}

// who names the lanes of some warps: "thread 96", "32 threads of warp 3", "warps 0-2".
func (b *pipelineBuilder) who(group []event.Warp, mask uint32) string {
	g := b.t.run.Config.Geometry
	of := ""
	if block := g.BlockOf(group[0]); block != b.block {
		of = " of block " + g.BlockIndex(block).In(g.Grid)
	}
	if len(group) == 1 && mask != 0 && mask&(mask-1) == 0 {
		_, index := g.Index(event.ThreadOf(group[0], bits.TrailingZeros32(mask)))
		return "thread " + index.In(g.Block) + of
	}
	var parts []string
	for i := 0; i < len(group); {
		j := i
		for j+1 < len(group) && group[j+1] == group[j]+1 {
			j++
		}
		first, last := b.warp(group[i]), b.warp(group[j])
		if first == last {
			parts = append(parts, fmt.Sprint(first))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", first, last))
		}
		i = j + 1
	}
	if len(group) == 1 {
		return "warp " + parts[0] + of
	}
	return "warps " + strings.Join(parts, ", ") + of
}

// warp returns the number of a warp in its block.
func (b *pipelineBuilder) warp(w event.Warp) int {
	return int(uint32(w) % uint32(b.t.run.Config.Geometry.WarpsPerBlock()))
}

// ring adds the ring of some kinds. An object of which nothing but its initialization is known is
// only counted.
func (b *pipelineBuilder) ring(kinds []int) {
	number := len(b.out.Rings)
	ring := diag.PipelineRing{}
	phases, pinned := map[int64]bool{}, map[int64]bool{}
	last, some := int64(-1), false
	for _, k := range kinds {
		for i, o := range b.kinds[k] {
			if !b.shown(o) {
				continue
			}
			if len(o.ops) == 0 {
				b.out.Unused++
				continue
			}
			for len(ring.Stages) <= i {
				ring.Stages = append(ring.Stages, diag.PipelineStage{})
			}
			s := &ring.Stages[i]
			b.place[o] = stageKey{number, i, len(s.Objects)}
			name := b.t.run.Machine.ObjectShort(o.addr)
			if o.life > 0 {
				name += " again"
			}
			s.Objects = append(s.Objects, diag.PipelineObject{Name: name, Count: int(o.count)})
			for p, recs := range o.recs {
				if len(recs) > 0 {
					phases[p] = true
					last, some = max(last, p), true
				}
			}
			for p := range o.pins {
				pinned[p] = true
			}
		}
	}
	if !some {
		return
	}
	ring.Last = last
	recs := b.accesses(number)
	wanted := b.phasesOf(number)
	for _, p := range slices.Sorted(maps.Keys(phases)) {
		if last < pipelineAll || p < pipelineFirst || p > last-pipelineLast || wanted[p] ||
			pinned[p] && b.complete(number, p) {
			ring.Phases = append(ring.Phases, p)
		}
	}
	for o, at := range b.place {
		if at.ring != number {
			continue
		}
		for _, p := range ring.Phases {
			for _, rec := range o.recs[p] {
				recs = append(recs, placed{rec, at})
			}
		}
	}
	of := b.marks(&ring, recs)
	b.out.Rings = append(b.out.Rings, ring)
	for i := range b.broken {
		b.edge(number, &b.broken[i], of)
	}
}

// phasesOf returns the phases of a ring in which findings are.
func (b *pipelineBuilder) phasesOf(ring int) map[int64]bool {
	out := map[int64]bool{}
	for i := range b.broken {
		for _, a := range b.broken[i].at {
			if at, ok := b.place[a.object]; ok && at.ring == ring && a.rec != nil {
				out[a.rec.phase] = true
			}
		}
	}
	return out
}

// complete reports whether a phase is kept for all objects of a ring that have completed it.
func (b *pipelineBuilder) complete(ring int, phase int64) bool {
	for o, at := range b.place {
		if at.ring == ring && o.now > phase && len(o.recs[phase]) == 0 {
			return false
		}
	}
	return true
}

// placed is a record with its place in a drawing.
type placed struct {
	*pipeRec
	at stageKey
}

// accesses returns the accesses of races that are no copies, each at the object of the other access
// if that is a copy, and else at the one that its warp used last, in the phase in which it did.
func (b *pipelineBuilder) accesses(ring int) (out []placed) {
	for i := range b.broken {
		e := &b.broken[i]
		home := e.at[0].object
		if home == nil {
			home = e.at[1].object
		}
		for k := range e.at {
			home = cmp.Or(home, lastOf(e.at[1-k].last, nil), lastOf(e.at[k].last, nil))
		}
		at, ok := b.place[home]
		if !ok || at.ring != ring {
			continue
		}
		for k := range e.at {
			a := &e.at[k]
			if a.rec == nil || a.object != nil {
				continue
			}
			o := cmp.Or(lastOf(a.last, func(o *pipeObject) bool {
				p, ok := b.place[o]
				return ok && p.ring == at.ring && p.stage == at.stage
			}), home)
			a.object = o
			if l, ok := a.last[o]; ok {
				a.rec.phase = l.phase
			} else {
				a.rec.phase = max(o.before(a.rec.seq), 0)
			}
			out = append(out, placed{a.rec, b.place[o]})
		}
	}
	return out
}

// lastOf returns the object that a warp used last, of those that are admitted; nil if there is
// none.
func lastOf(last map[*pipeObject]lastAt, admit func(*pipeObject) bool) (found *pipeObject) {
	seq := 0
	for o, l := range last {
		if l.seq > seq && (admit == nil || admit(o)) {
			found, seq = o, l.seq
		}
	}
	return found
}

// before returns the phase that an object was in at some time.
func (o *pipeObject) before(seq int) int64 {
	phase := int64(0)
	for p, recs := range o.recs {
		for _, rec := range recs {
			if rec.seq < seq {
				phase = max(phase, p)
			}
		}
	}
	return phase
}

// marks merges records of warps with one role that do the same, and returns the mark of each.
func (b *pipelineBuilder) marks(ring *diag.PipelineRing, recs []placed) map[*pipeRec]int {
	type same struct {
		kind  diag.PipelineKind
		site  event.Site
		role  int
		at    stageKey
		phase int64
		alone *pipeRec // of a finding, which has a mark of its own
	}
	found := map[*pipeRec]bool{}
	for i := range b.broken {
		if e := &b.broken[i]; e.at[1].rec != nil && e.at[1].rec.kind == diag.PipelineArrive {
			found[e.at[1].rec] = true
		}
	}
	slices.SortFunc(recs, func(x, y placed) int { return cmp.Compare(x.seq, y.seq) })
	index := map[same]int{}
	of := map[*pipeRec]int{}
	warps, times := map[int]map[event.Warp]uint32{}, map[int]map[event.Thread]int{}
	for _, rec := range recs {
		if _, ok := of[rec.pipeRec]; ok || !slices.Contains(ring.Phases, rec.phase) {
			continue
		}
		role := b.roles[rec.warp]
		onlyBytes := rec.kind == diag.PipelineLacks && rec.arrivals == 0 && b.async >= 0
		if rec.kind == diag.PipelineCopy || onlyBytes {
			role = b.async
		}
		key := same{rec.kind, rec.site, role, rec.at, rec.phase, nil}
		if found[rec.pipeRec] {
			key.alone = rec.pipeRec
		}
		i, ok := index[key]
		if !ok {
			i = len(ring.Marks)
			index[key] = i
			info := b.t.run.Machine.Site(rec.site)
			ring.Marks = append(ring.Marks, diag.PipelineMark{
				Kind: rec.kind, Role: role, By: b.roles[rec.warp], Stage: rec.at.stage, Object: rec.at.object,
				Phase: rec.phase, Op: driver.OpText(info.Instr), Span: b.t.run.PlaceOf(rec.site),
			})
			warps[i], times[i] = map[event.Warp]uint32{}, map[event.Thread]int{}
		}
		of[rec.pipeRec] = i
		m := &ring.Marks[i]
		m.Arrivals += rec.arrivals
		m.Bytes += rec.bytes
		m.Threads += b.threads[rec.pipeRec]
		warps[i][rec.warp] |= rec.mask
		for l := rec.mask; l != 0; l &= l - 1 {
			th := event.ThreadOf(rec.warp, bits.TrailingZeros32(l))
			times[i][th]++
			m.Times = max(m.Times, times[i][th])
		}
	}
	for i := range ring.Marks {
		b.name(&ring.Marks[i], warps[i])
	}
	return of
}

// name names the threads of a mark.
func (b *pipelineBuilder) name(m *diag.PipelineMark, of map[event.Warp]uint32) {
	group := slices.Sorted(maps.Keys(of))
	mask := of[group[0]]
	if m.Kind == diag.PipelineLacks {
		return
	}
	n := 0
	for _, lanes := range of {
		n += bits.OnesCount32(lanes)
	}
	switch m.Who = b.who(group, mask); {
	case m.Threads > n: // it stands for more
		m.Who = fmt.Sprintf("%d threads, such as %s", m.Threads, b.who(group, mask&-mask))
	case n > 1:
		m.Who = fmt.Sprintf("%d threads of %s", n, b.who(group, ^uint32(0)))
	}
	m.Threads = max(m.Threads, n)
}

// edge adds a missing order to the ring in which it is drawn.
func (b *pipelineBuilder) edge(ring int, e *brokenEdge, of map[*pipeRec]int) {
	out := diag.PipelineEdge{Ring: ring, From: -1, To: -1, Code: e.code, Label: e.label, Text: e.text}
	for k, end := range [...]*int{&out.From, &out.To} {
		if i, ok := of[e.at[k].rec]; ok && e.at[k].rec != nil {
			*end = i
		}
	}
	if out.From < 0 && out.To < 0 {
		return
	}
	for _, s := range e.sites {
		out.Spans = append(out.Spans, b.t.run.PlaceOf(s))
	}
	b.out.Broken = append(b.out.Broken, out)
}
