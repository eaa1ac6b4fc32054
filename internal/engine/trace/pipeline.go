package trace

import (
	"context"
	"maps"
	"math/bits"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/emu"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/race"
)

// The pipeline of a kernel with mbarriers: who arrives, copies and waits in which phase of which
// object. It is recorded for the report only, by executing the schedule of the findings once more
// when the report is wanted. A mistake in the files pipeline*.go cannot change a verdict.

// How much of a pipeline is kept: of each object the first phases, the last ones, and those around
// findings.
const (
	pipelineAll     = 7   // phases that are shown without a gap
	pipelineFirst   = 3   // of more phases, the first ones that are shown,
	pipelineLast    = 2   // the last ones,
	pipelineAround  = 1   // and those before and after one with a finding
	pipelineObjects = 512 // that are recorded at most,
	pipelineLives   = 3   // and of them at one address, if they are made again and again
	pipelineRaces   = 4   // that are drawn at most
)

// execution is one execution of a block, with what was found in it.
type execution struct {
	seed uint64
	rep  *race.Report
	res  *emu.Result
}

// objectKey is where an object lies.
type objectKey struct {
	block uint32
	addr  uint64
}

// pipeOp is an operation at an object: of a record, without what differs from one execution of it
// to the next.
type pipeOp struct {
	site event.Site
	kind diag.PipelineKind
	mask uint32
}

// pipeRec is an operation by lanes of a warp, or an asynchronous one that they have issued.
type pipeRec struct {
	pipeOp
	seq      int
	warp     event.Warp
	phase    int64
	arrivals int64
	bytes    int64
}

// pipeObject is an mbarrier from its initialization on.
type pipeObject struct {
	objectKey
	life  int // how many objects were at this address before
	count uint32
	now   int64 // the phase that it is in
	recs  map[int64][]*pipeRec
	pins  map[int64]bool // phases that are kept
	ops   map[pipeOp]bool
}

// lastAt is the last operation of a warp at an object.
type lastAt struct {
	seq   int
	phase int64
}

// pipeAccess is one access of a race: rec is the record of a tracked copy, and else one of its own.
type pipeAccess struct {
	rec    *pipeRec
	object *pipeObject // of a tracked copy
	last   map[*pipeObject]lastAt
}

// pipeRace is a race whose two accesses are looked for.
type pipeRace struct {
	race *race.Race
	late bool
	at   [2]pipeAccess
	done bool
}

// pipelineRecorder records a pipeline. It passes the events on to a detector if it looks for races,
// to know which accesses they are.
type pipelineRecorder struct {
	event.Sink
	detector *traceSink // nil: no races
	geometry event.Geometry
	seq      int
	live     map[objectKey]*pipeObject
	objects  []*pipeObject
	async    map[uint64]*pipeAccess // operations under way, by their numbers
	does     map[event.Warp]map[pipeOp]bool
	last     map[event.Warp]map[*pipeObject]lastAt
	waited   map[event.Warp]*pipeRec // what a warp did last, if it was a wait
	where    map[event.Warp]*pipeObject
	links    map[[2]*pipeObject]bool // waits and the arrivals behind them
	races    []*pipeRace
	wanted   []int64           // phases of findings, which are known before
	lives    map[objectKey]int // objects that were made at an address
}

// newPipelineRecorder prepares the recording of an execution whose findings are known.
func (t *tracer) newPipelineRecorder(of execution) *pipelineRecorder {
	r := &pipelineRecorder{
		Sink: event.Discard{}, geometry: t.run.Config.Geometry,
		live: map[objectKey]*pipeObject{}, async: map[uint64]*pipeAccess{},
		does: map[event.Warp]map[pipeOp]bool{}, last: map[event.Warp]map[*pipeObject]lastAt{},
		waited: map[event.Warp]*pipeRec{}, where: map[event.Warp]*pipeObject{},
		links: map[[2]*pipeObject]bool{}, lives: map[objectKey]int{},
	}
	for i := range of.rep.Races {
		r.races = append(r.races, &pipeRace{race: &of.rep.Races[i]})
	}
	for i := range of.rep.Late {
		r.races = append(r.races, &pipeRace{race: &of.rep.Late[i], late: true})
	}
	r.races = r.races[:min(len(r.races), pipelineRaces)]
	if len(r.races) > 0 {
		r.detector = t.newSink()
		r.Sink = r.detector
	}
	for i := range of.rep.Phases[:min(len(of.rep.Phases), pipelineRaces)] {
		r.wanted = append(r.wanted, phaseNumber(of.rep.Phases[i].Phase))
	}
	return r
}

// phaseNumber returns a phase with -1 for the one before the first.
func phaseNumber(n uint64) int64 {
	if n == event.NoPhase {
		return -1
	}
	return int64(n)
}

// object returns the object at a place; nil if there are too many.
func (r *pipelineRecorder) object(key objectKey) *pipeObject {
	if o := r.live[key]; o != nil {
		return o
	}
	return r.begin(key, 0)
}

// begin adds an object, unless there are too many.
func (r *pipelineRecorder) begin(key objectKey, count uint32) *pipeObject {
	delete(r.live, key)
	if len(r.objects) == pipelineObjects || r.lives[key] == pipelineLives {
		return nil
	}
	o := &pipeObject{
		objectKey: key, life: r.lives[key], count: count, recs: map[int64][]*pipeRec{},
		pins: map[int64]bool{}, ops: map[pipeOp]bool{},
	}
	r.lives[key]++
	for _, p := range r.wanted { // of one ring, so that its stages show the same phases
		o.pin(p)
	}
	r.live[key] = o
	r.objects = append(r.objects, o)
	return o
}

// pin keeps a phase and those around it.
func (o *pipeObject) pin(phase int64) {
	for p := phase - pipelineAround; p <= phase+pipelineAround; p++ {
		o.pins[p] = true
	}
}

// add records an operation of a warp at an object. Of a copy this is its issue: when it signals, it
// becomes part of a phase.
func (r *pipelineRecorder) add(o *pipeObject, rec pipeRec) *pipeRec {
	r.seq++
	rec.seq = r.seq
	p := &rec
	if rec.kind != diag.PipelineCopy {
		o.recs[rec.phase] = append(o.recs[rec.phase], p)
	}
	if r.does[rec.warp] == nil {
		r.does[rec.warp] = map[pipeOp]bool{}
		r.last[rec.warp] = map[*pipeObject]lastAt{}
	}
	r.does[rec.warp][rec.pipeOp] = true
	o.ops[pipeOp{site: rec.site, kind: rec.kind}] = true
	if w := r.waited[rec.warp]; w != nil && w.mask&rec.mask != 0 && rec.kind != diag.PipelineWait {
		r.links[[2]*pipeObject{r.where[rec.warp], o}] = true
	}
	r.waited[rec.warp] = nil
	if rec.kind == diag.PipelineWait {
		r.waited[rec.warp], r.where[rec.warp] = p, o
	}
	r.last[rec.warp][o] = lastAt{rec.seq, rec.phase}
	return p
}

// MBarrier implements event.Sink.
func (r *pipelineRecorder) MBarrier(e *event.MBarrier) {
	r.mbarrier(e)
	defer r.match(r.examples())
	r.Sink.MBarrier(e)
}

func (r *pipelineRecorder) mbarrier(e *event.MBarrier) {
	key := objectKey{e.Peer.Block(r.geometry.BlockOf(e.Warp)), e.Addr}
	if e.Op == event.MBarrierInit {
		r.begin(key, e.Count)
		return
	}
	o := r.object(key)
	if o == nil {
		return
	}
	rec := pipeRec{
		pipeOp: pipeOp{site: e.Site, mask: e.Mask}, warp: e.Warp, phase: phaseNumber(e.Phase),
		bytes: e.Bytes * int64(lanes(e.Mask)),
	}
	switch e.Op {
	case event.MBarrierInvalidate:
		delete(r.live, key)
		return
	case event.MBarrierComplete:
		r.complete(o, int64(e.Phase))
		return
	case event.MBarrierArrive:
		rec.kind, rec.arrivals = diag.PipelineArrive, int64(e.Count)*int64(lanes(e.Mask))
	case event.MBarrierCount:
		rec.kind = diag.PipelineExpect
	case event.MBarrierWait:
		rec.kind = diag.PipelineWait
	default:
		return
	}
	r.add(o, rec)
}

// complete ends a phase, and forgets one that will not be shown.
func (r *pipelineRecorder) complete(o *pipeObject, phase int64) {
	o.now = phase + 1
	if old := phase - (pipelineAll - pipelineFirst - 1); old > pipelineFirst && !o.pins[old] {
		delete(o.recs, old)
	}
}

// Bulk implements event.Sink.
func (r *pipelineRecorder) Bulk(e *event.Bulk) {
	if e.Grouped {
		r.access(e.Site, e.Warp, e.Mask, anywhere)
	} else if o := r.object(objectKey{e.Object().Block(r.geometry.BlockOf(e.Warp)), e.Addr}); o != nil {
		rec := r.add(o, pipeRec{
			pipeOp: pipeOp{e.Site, diag.PipelineCopy, e.Mask}, warp: e.Warp, phase: o.now,
		})
		a := pipeAccess{rec: rec, object: o}
		r.async[e.ID] = &a
		for _, w := range r.races {
			for k, side := range w.sides() {
				if side.Site == e.Site && side.Thread.Warp() == e.Warp && !w.done &&
					e.Mask>>side.Thread.Lane()&1 != 0 && (within(side, e.To) || within(side, e.From)) {
					w.at[k] = a
				}
			}
		}
	}
	defer r.match(r.examples())
	r.Sink.Bulk(e)
}

// within reports whether an access of a race is in a range of shared memory.
func within(a *race.Access, in event.Range) bool {
	return in.Space == event.Shared && a.Addr < in.Addr+in.Size && in.Addr < a.Addr+uint64(a.Size)
}

// CopyArrive implements event.Sink.
func (r *pipelineRecorder) CopyArrive(e *event.CopyArrive) {
	if o := r.object(objectKey{r.geometry.BlockOf(e.Warp), e.Addr}); o != nil {
		rec := r.add(o, pipeRec{
			pipeOp: pipeOp{e.Site, diag.PipelineCopy, e.Mask}, warp: e.Warp, phase: o.now,
		})
		r.async[e.ID] = &pipeAccess{rec: rec, object: o}
	}
	r.Sink.CopyArrive(e)
}

// Signal implements event.Sink.
func (r *pipelineRecorder) Signal(e *event.Signal) {
	if a := r.async[e.ID]; a != nil {
		delete(r.async, e.ID)
		a.rec.phase, a.rec.bytes = a.object.now, e.Bytes
		if e.Arrival {
			a.rec.arrivals = int64(lanes(a.rec.mask))
		}
		a.object.recs[a.rec.phase] = append(a.object.recs[a.rec.phase], a.rec)
	}
	defer r.match(r.examples())
	r.Sink.Signal(e)
}

// Access implements event.Sink.
func (r *pipelineRecorder) Access(e *event.Access) {
	if len(r.races) > 0 && e.Space == event.Shared {
		r.access(e.Site, e.Warp, e.Mask, func(l int) (uint64, uint64) {
			return e.Addr[l], uint64(e.Size)
		})
	}
	defer r.match(r.examples())
	r.Sink.Access(e)
}

// Copy implements event.Sink.
func (r *pipelineRecorder) Copy(e *event.Copy) {
	r.access(e.Site, e.Warp, e.Mask, func(l int) (uint64, uint64) { return e.To[l], uint64(e.Size) })
	defer r.match(r.examples())
	r.Sink.Copy(e)
}

// Matrix implements event.Sink.
func (r *pipelineRecorder) Matrix(e *event.Matrix) {
	r.access(e.Site, e.Warp, e.Mask, anywhere)
	defer r.match(r.examples())
	r.Sink.Matrix(e)
}

// sides returns the two accesses of the race.
func (w *pipeRace) sides() [2]*race.Access {
	return [2]*race.Access{&w.race.First, &w.race.Second}
}

// anywhere is what a lane accesses of which nothing but that is known.
func anywhere(int) (addr, size uint64) { return 0, ^uint64(0) }

// access keeps an access that may be one of a race. bytes returns what a lane accesses.
func (r *pipelineRecorder) access(site event.Site, warp event.Warp, mask uint32,
	bytes func(lane int) (addr, size uint64)) {
	for _, w := range r.races {
		for k, side := range w.sides() {
			l := side.Thread.Lane()
			if w.done || side.Site != site || side.Thread.Warp() != warp || mask>>l&1 == 0 {
				continue
			}
			if at, n := bytes(l); side.Addr >= at+n || at >= side.Addr+uint64(side.Size) {
				continue
			}
			r.seq++
			rec := &pipeRec{pipeOp: pipeOp{site, diag.PipelineRead, 1 << l}, seq: r.seq, warp: warp}
			if side.Kind != event.Read {
				rec.kind = diag.PipelineWrite
			}
			w.at[k] = pipeAccess{rec: rec, last: maps.Clone(r.last[warp])}
		}
	}
}

// examples is how many examples of races the detector has.
func (r *pipelineRecorder) examples() int {
	if r.detector == nil {
		return 0
	}
	return r.detector.Examples()
}

// match ends the search for races that the last event has completed, and keeps the phases around
// them.
func (r *pipelineRecorder) match(before int) {
	if r.detector == nil || r.examples() == before {
		return
	}
	rep := r.detector.Report()
	for _, w := range r.races {
		found := slices.ContainsFunc(slices.Concat(rep.Races, rep.Late), func(x race.Race) bool {
			return x.Space == w.race.Space && x.First == w.race.First && x.Second == w.race.Second
		})
		if w.done || !found {
			continue
		}
		w.done = true
		for _, o := range r.objects { // their stages show the same phases
			o.pin(o.now)
		}
		for _, a := range w.at {
			if a.object != nil {
				a.object.pin(a.rec.phase)
			}
		}
	}
}

// end adds the operations that have not signalled to the phases that their objects are in.
func (r *pipelineRecorder) end() {
	for _, id := range slices.Sorted(maps.Keys(r.async)) {
		a := r.async[id]
		a.rec.phase = a.object.now
		a.object.recs[a.rec.phase] = append(a.object.recs[a.rec.phase], a.rec)
	}
}

// pipeline executes a block once more, as in an execution with findings, and passes on its
// pipeline.
func (t *tracer) pipeline(ctx context.Context, block uint32, of execution) {
	r := t.newPipelineRecorder(of)
	opt := t.running([]uint32{block}, of.seed)
	if _, err := t.run.Machine.Run(ctx, opt, r); err != nil || ctx.Err() != nil {
		return
	}
	r.end()
	b := t.newPipelineBuilder(r, block)
	b.findings(of)
	out := b.build()
	out.Seed = of.seed
	if len(out.Rings) == 0 {
		return
	}
	t.job.Turn()
	t.opt.Pipeline(out)
}

// findings adds what is wrong in an execution.
func (b *pipelineBuilder) findings(of execution) {
	for _, w := range b.r.races {
		b.race(w)
	}
	for i := range of.rep.Phases[:min(len(of.rep.Phases), pipelineRaces)] {
		b.phase(&of.rep.Phases[i])
	}
	for i := range of.res.Waits {
		b.stuck(of.res.Stop, &of.res.Waits[i])
	}
	if s := of.res.Stop; s != nil && s.Object != nil && of.res.Status == emu.Stopped {
		b.fault(s)
	}
	for i := range of.res.Leftovers {
		if l := &of.res.Leftovers[i]; !l.Store {
			b.leftover(l)
		}
	}
}

// race adds a race whose two accesses are known.
func (b *pipelineBuilder) race(w *pipeRace) {
	if !w.done || w.at[0].rec == nil || w.at[1].rec == nil {
		return
	}
	label := "nothing orders these two"
	switch {
	case w.race.Cause == race.NoTensorFence:
		label = "no tcgen05.fence behind the wait"
	case w.late:
		label = "proxy fence by another thread"
	case w.race.Cause == race.NoProxyFence:
		label = "no proxy fence between"
	case w.race.Cause == race.NotWaited:
		label = "not waited for"
	case w.race.Second.Kind != event.Read && w.race.First.Kind == event.Read:
		label = "overwrites what is read"
	}
	b.broken = append(b.broken, brokenEdge{
		at: w.at, code: run.RaceCode(w.race), label: label,
		sites: []event.Site{w.race.Second.Site, w.race.First.Site},
	})
}

// phase adds a finding about the phase of an operation.
func (b *pipelineBuilder) phase(e *race.PhaseError) {
	o := b.find(objectKey{e.Block, e.Addr})
	if o == nil {
		return
	}
	p := phaseNumber(e.Phase)
	first := o.rec(p, e.First)
	edge := brokenEdge{text: b.t.phaseText(e), sites: []event.Site{e.First.Site}}
	one, two := first, (*pipeRec)(nil)
	switch e.Kind {
	case race.PhaseJoins:
		two, edge.label = o.rec(p+1, e.Second), "order depends on the schedule"
	case race.PhaseEarly:
		edge.label = "completes without it"
		if waits := o.of(p, true); len(waits) > 0 {
			two = waits[0]
		}
	case race.PhaseAhead:
		one, two, edge.label = nil, first, "wait may pass too early"
		if ops := o.of(p-1, false); len(ops) > 0 {
			one = ops[len(ops)-1]
		}
	case race.PhaseLaps:
		edge.label = "wait may come too late"
		if ops := o.of(p+1, false); len(ops) > 0 {
			two = ops[len(ops)-1]
		}
	case race.PhaseNoObject:
		edge.label = "not after the initialization"
	case race.PhasePromise:
		edge.label = "may complete the phase"
	case race.PhaseEnds:
		edge.label = "not before the invalidation"
	}
	if first == nil {
		return
	}
	edge.at = [2]pipeAccess{{rec: one, object: o}, {rec: two, object: o}}
	b.broken = append(b.broken, edge)
}

// stuck adds threads that wait for ever, and what the phase lacks.
func (b *pipelineBuilder) stuck(stop *emu.Stop, w *emu.PhaseWait) {
	if w.Object == nil {
		return
	}
	o := b.find(objectKey{w.Object.Block, w.Object.Addr})
	if o == nil {
		return
	}
	r := b.r
	mask := uint32(1) << w.Thread.Lane()
	if all := r.geometry.Lanes(w.Thread.Warp()); w.Threads >= bits.OnesCount32(all) {
		mask = all // most likely
	}
	wait := r.late(o, pipeRec{
		pipeOp: pipeOp{site: w.Site, kind: diag.PipelineStuck, mask: mask},
		warp:   w.Thread.Warp(), phase: int64(w.Phase),
	})
	b.threads[wait] = w.Threads
	edge := brokenEdge{
		code: run.StopCode(stop.Kind), label: "waits for ever", text: w.Text,
		sites: []event.Site{w.Site},
	}
	edge.at[1] = pipeAccess{rec: wait, object: o}
	if w.Phase == w.Now && (w.Arrivals > 0 || w.Bytes != 0) {
		lacks := r.late(o, pipeRec{
			pipeOp: pipeOp{site: w.Site, kind: diag.PipelineLacks}, warp: b.owner(o, w),
			phase: int64(w.Phase), arrivals: int64(w.Arrivals), bytes: w.Bytes,
		})
		lacks.seq, wait.seq = wait.seq, lacks.seq // the wait comes after what it waits for
		edge.at[0] = pipeAccess{rec: lacks, object: o}
	}
	b.broken = append(b.broken, edge)
}

// late adds a record behind all that were executed.
func (r *pipelineRecorder) late(o *pipeObject, rec pipeRec) *pipeRec {
	r.seq++
	rec.seq = r.seq
	o.recs[rec.phase] = append(o.recs[rec.phase], &rec)
	o.ops[pipeOp{site: rec.site, kind: rec.kind}] = true
	o.pin(rec.phase)
	return &rec
}

// owner returns the warp that should have arrived: one that holds the phase, else one that has
// arrived in another phase or at another object of its kind, else the one that waits.
func (b *pipelineBuilder) owner(o *pipeObject, w *emu.PhaseWait) event.Warp {
	if len(w.Holders) > 0 {
		return w.Holders[0].Thread.Warp()
	}
	for _, other := range append([]*pipeObject{o}, b.alike(o)...) {
		for _, p := range slices.Sorted(maps.Keys(other.recs)) {
			for _, rec := range other.recs[p] {
				if rec.kind == diag.PipelineArrive {
					return rec.warp
				}
			}
		}
	}
	return w.Thread.Warp()
}

// fault adds an operation that is an error: its record, or one of its own if the run ended before
// there was one.
func (b *pipelineBuilder) fault(s *emu.Stop) {
	o := b.find(objectKey{s.Object.Block, s.Object.Addr})
	if o == nil {
		if o = b.r.object(objectKey{s.Object.Block, s.Object.Addr}); o == nil {
			return
		}
	}
	var rec *pipeRec
	if last, ok := b.r.last[s.Thread.Warp()][o]; ok {
		for _, x := range o.recs[last.phase] {
			if x.seq == last.seq && x.seq == b.r.seq && x.site == s.Site {
				rec = x
			}
		}
	}
	if rec == nil {
		rec = b.r.late(o, pipeRec{
			pipeOp: pipeOp{site: s.Site, kind: diag.PipelineFault, mask: 1 << s.Thread.Lane()},
			warp:   s.Thread.Warp(), phase: o.now,
		})
	}
	edge := brokenEdge{
		code: run.StopCode(s.Kind), label: faultLabels[s.Kind], text: s.Message,
		sites: []event.Site{s.Site},
	}
	edge.at[1] = pipeAccess{rec: rec, object: o}
	b.broken = append(b.broken, edge)
}

// faultLabels say in a few words what is wrong with an operation.
var faultLabels = map[emu.StopKind]string{
	emu.MBarrierUninitialized: "not initialized",
	emu.MBarrierReinit:        "initialized again",
	emu.MBarrierOverwritten:   "overwrites it",
	emu.MBarrierInvalEarly:    "ends too early",
	emu.MBarrierExcess:        "one arrival too many",
	emu.MBarrierRange:         "beyond a limit",
	emu.MBarrierState:         "asks for a wrong phase",
	emu.RemoteAddress:         "does not reach it",
}

// leftover adds a copy that no thread waits for.
func (b *pipelineBuilder) leftover(l *emu.Leftover) {
	var last *pipeRec
	var at *pipeObject
	for _, o := range b.r.objects {
		for _, recs := range o.recs {
			for _, rec := range recs {
				if rec.site == l.Site && rec.kind == diag.PipelineCopy && (last == nil || rec.seq > last.seq) {
					last, at = rec, o
				}
			}
		}
	}
	if last == nil {
		return
	}
	edge := brokenEdge{
		code: diag.CodeAsyncUnfinished, label: "no thread waits for it", sites: []event.Site{l.Site},
	}
	edge.at[0] = pipeAccess{rec: last, object: at}
	b.broken = append(b.broken, edge)
}

// rec returns the record of an operation in a phase; nil if it is not kept.
func (o *pipeObject) rec(phase int64, at race.PhaseAt) *pipeRec {
	for _, rec := range o.recs[phase] {
		if rec.site == at.Site && rec.warp == at.Thread.Warp() && rec.mask>>at.Thread.Lane()&1 != 0 &&
			at.Agent == (rec.kind == diag.PipelineCopy) {
			return rec
		}
	}
	return nil
}

// of returns the waits for a phase, or its operations.
func (o *pipeObject) of(phase int64, waits bool) (out []*pipeRec) {
	for _, rec := range o.recs[phase] {
		if (rec.kind == diag.PipelineWait) == waits {
			out = append(out, rec)
		}
	}
	slices.SortFunc(out, func(a, b *pipeRec) int { return a.seq - b.seq })
	return out
}

// find returns the object at a place; nil if there is none.
func (b *pipelineBuilder) find(key objectKey) *pipeObject {
	if o := b.r.live[key]; o != nil {
		return o
	}
	for _, o := range slices.Backward(b.r.objects) {
		if o.objectKey == key && b.r.lives[key] < pipelineLives {
			return o // it is invalid now
		}
	}
	return nil
}
