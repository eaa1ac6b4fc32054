package exec

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/host"
	"heddle/internal/lazyregexp"
	"heddle/internal/order"
	"heddle/internal/source"
)

// streams finds races between the launches and copies of a process. It exists from the first use of
// a stream other than the default one: without, everything is ordered.
type streams struct {
	s       *session
	clocks  *order.Clocks
	history order.History
	names   map[uint64]streamName // of streams that the program has created, by handle
	seen    map[raceKey]bool
}

// streamName is what reports say of a stream.
type streamName struct {
	number      int // in the order of creation
	caller      uint64
	nonBlocking bool
	variable    string // that received the handle; empty: not known
}

// createdRE matches a call that creates a stream, up to the variable that receives its handle.
var createdRE = lazyregexp.New(`\b(?:cuda|cu)StreamCreate\w*\s*\(\s*&\s*` + variableText)

// operation is what a report says of a launch, copy or memset: order.Work.Info.
type operation struct {
	what    string // "launch 2 of scale(int*, int)", "a copy"
	stream  uint64
	name    streamName
	caller  uint64
	callers []uint64 // of a launch: host.Launch
	kernel  *kernel  // nil for a copy
	staged  bool     // host.Staged
}

// raceKey identifies a finding by the two calls: one order repairs it for all memory.
type raceKey struct{ first, second uint64 }

// compared reports whether what a launch in a stream accesses is compared with other operations.
func (s *session) compared(stream uint64) bool {
	if stream != order.Legacy {
		s.ordered()
	}
	return s.streams != nil || s.r.opt.InitCheck
}

// launched compares what a launch has accessed. complete says that all of it is known.
func (s *session) launched(k *kernel, l *host.Launch, accesses order.Accesses, fenced,
	complete bool) {
	if !complete {
		s.r.note("launch %d of %s accesses memory in too many places to be compared with others",
			k.launches, k.fn.Demangled)
	}
	if s.streams != nil {
		s.streams.launched(k, l, accesses, fenced)
	}
	if s.r.opt.InitCheck && complete {
		s.uninitialised(&reader{kernel: k, name: k.launchText(), caller: l.Caller,
			label: "launched here"}, accesses)
	}
}

// ordered returns s.streams, which it creates.
func (s *session) ordered() *streams {
	if s.streams == nil {
		s.streams = &streams{s: s, clocks: order.NewClocks(), names: make(map[uint64]streamName),
			seen: make(map[raceKey]bool)}
	}
	return s.streams
}

// Order implements host.Device.
func (s *session) Order(o *host.Order) {
	if s.r.opt.InitCheck && (o.Call == host.CopyMemory || o.Call == host.SetMemory) {
		for _, r := range rows(o.To, o.ToPitch, o) {
			s.shadow.Write(r)
		}
	}
	if s.streams == nil && o.Stream == order.Legacy {
		return
	}
	delete(s.triggering, o.Stream) // the next launch is behind this, and not behind a launch
	t := s.ordered()
	switch o.Call {
	case host.CreateStream:
		nonBlocking := o.Flags&host.NonBlocking != 0
		t.clocks.Create(o.Stream, !nonBlocking)
		t.names[o.Stream] = streamName{len(t.names) + 1, o.Caller, nonBlocking,
			s.receiver(s.siteOf(o.Caller), createdRE)}
	case host.DestroyStream:
		t.clocks.Destroy(o.Stream)
	case host.RecordEvent:
		t.clocks.Record(o.Event, o.Stream)
	case host.WaitEvent:
		t.clocks.Wait(o.Stream, o.Event)
	case host.SyncEvent:
		t.clocks.SyncEvent(o.Event)
	case host.SyncStream:
		t.clocks.SyncStream(o.Stream)
	case host.SyncAll:
		t.synchronized()
	case host.CopyMemory, host.SetMemory, host.AllocAsync, host.FreeAsync:
		t.copied(o)
	}
}

// allocated is cudaMalloc and its relatives. They act like a command in the default stream (CUDA
// C++ Programming Guide, "Implicit Synchronization": work of different streams around a page-locked
// host or device memory allocation does not overlap).
func (t *streams) allocated(a host.Allocation) {
	if a.Kind != host.Variable {
		t.clocks.Enqueue(order.Legacy)
	}
}

// freed is cudaFree, which waits for the device, or cudaFreeAsync, which Order has reported.
func (t *streams) freed(a host.Allocation, ordered bool) {
	if ordered {
		t.history.Forget(order.Range{From: a.Addr, To: a.Addr + a.Size})
		return
	}
	t.synchronized()
}

// synchronized notes that the host has waited for everything.
func (t *streams) synchronized() {
	t.clocks.SyncAll()
	t.history.Clear()
}

// launched compares a launch that has been executed.
func (t *streams) launched(k *kernel, l *host.Launch, accesses order.Accesses, fenced bool) {
	info := &operation{what: k.launchText(), kernel: k,
		caller: l.Caller, callers: slices.Clone(l.Callers)}
	e, before := t.add(l.Stream, info, accesses, fenced)
	// The host may read a flag in its memory and know that the launch has got so far.
	if order.Overlap(accesses[order.StrongWrite], t.s.visible) ||
		fenced && order.Overlap(accesses[order.Write], t.s.visible) {
		t.clocks.SyncWork(e, before)
	}
}

// copied compares a copy or what is like one.
func (t *streams) copied(o *host.Order) {
	info := &operation{caller: o.Caller, staged: o.Flags&host.Staged != 0}
	info.what = map[host.Call]string{host.CopyMemory: "a copy", host.SetMemory: "a memset",
		host.AllocAsync: "the allocation", host.FreeAsync: "the free"}[o.Call]
	if o.Flags&host.HostBefore != 0 {
		t.clocks.SyncStream(o.Stream)
	}
	var accesses order.Accesses
	accesses[order.Write] = rows(o.To, o.ToPitch, o)
	if o.Call == host.CopyMemory {
		accesses[order.Read] = rows(o.From, o.FromPitch, o)
	}
	e, before := t.add(o.Stream, info, accesses, false)
	if o.Flags&host.HostAfter != 0 {
		t.clocks.SyncWork(e, before)
	}
}

// rows returns the bytes of a copy that are in the arena.
func rows(at, pitch uint64, o *host.Order) []order.Range {
	if at-host.ArenaBase >= host.ArenaSize || o.Width == 0 {
		return nil // pageable memory, which only the host accesses; or a copy that cannot race
	}
	if pitch == o.Width || o.Rows == 1 {
		return []order.Range{{From: at, To: at + o.Width*o.Rows}}
	}
	out := make([]order.Range, o.Rows)
	for i := range out {
		from := at + uint64(i)*pitch
		out[i] = order.Range{From: from, To: from + o.Width}
	}
	return out
}

// add adds an operation to a stream and reports its races.
func (t *streams) add(stream uint64, info *operation, accesses order.Accesses, fenced bool) (
	order.Epoch, order.Clock) {
	e, before := t.clocks.Enqueue(stream)
	info.stream, info.name = stream, t.names[stream]
	w := &order.Work{Epoch: e, Accesses: accesses, Fenced: fenced, Info: info}
	for _, c := range t.history.Add(t.clocks, w, before) {
		t.report(&c)
	}
	if !fenced {
		w.Accesses = order.Accesses{} // only needed to see whether launches have synchronized
	}
	return e, before
}

// report reports a race, once for two calls.
func (t *streams) report(c *order.Conflict) {
	one, two := c.First.Info.(*operation), c.Second.Info.(*operation)
	key := raceKey{one.caller, two.caller}
	if t.seen[key] {
		return
	}
	t.seen[key] = true
	memory, _ := t.s.memory.Find(c.Place.From)
	name, at := memory.Name, c.Place.From-memory.Addr
	if name == "" {
		name, at = "freed memory", c.Place.From
	}
	d := diag.Diagnostic{Code: diag.CodeRaceStream, Severity: diag.Error,
		Message: fmt.Sprintf("data race between streams on %s (bytes %d-%d): "+
			"%s in %s %s and %s in %s %s, in either order", name, at, at+c.Place.To-c.Place.From-1, one.what, t.streamText(one),
			accessVerbs[c.FirstAccess], two.what, t.streamText(two), accessVerbs[c.SecondAccess]),
		Span: t.s.span(two.caller), Label: "(2) enqueued here", Count: c.Bytes,
		Related: []diag.Related{{Span: t.s.span(one.caller), Message: "(1) enqueued here"}},
		Notes:   []string{t.why(one, two)}, Reproduce: t.s.r.opt.Command,
	}
	for i, o := range []*operation{one, two} {
		if stack := t.s.stack(o.caller, o.callers); stack != "" {
			d.Notes = append(d.Notes, fmt.Sprintf("host call stack of (%d): %s", i+1, stack))
		}
	}
	d.Notes = append(d.Notes, t.created(one, two)...)
	d.Help = []string{fmt.Sprintf("after (1), record an event in %s (cudaEventRecord), and before (2) "+
		"let %s wait for it (cudaStreamWaitEvent); or enqueue both in one stream", t.streamText(one),
		t.streamText(two))}
	k := two.kernel
	if k == nil {
		k = one.kernel
	}
	if k == nil {
		t.s.hostFinding(d)
		return
	}
	d.Kernel = k.fn.Demangled
	k.watch.Report(d)
}

// hostFinding reports a finding that belongs to no kernel.
func (s *session) hostFinding(d diag.Diagnostic) {
	job := s.driver.Job(nil, nil)
	if job.SetAside(&s.aside, &d) {
		return
	}
	if s.apart++; s.apart <= s.r.opt.Common.Limit {
		job.Report(d)
	}
}

// accessVerbs say what an operation does with memory.
var accessVerbs = [...]string{"writes", "updates atomically", "reads", "reads"}

// streamText names the stream of an operation.
func (t *streams) streamText(o *operation) string { return t.s.nameStream(o.name, o.stream) }

// nameStream names a stream with a handle: by the variable that received the handle, if no other
// stream has it, or by its number.
func (s *session) nameStream(n streamName, handle uint64) string {
	switch {
	case handle == order.Legacy:
		return "the default stream"
	case n.number == 0:
		return "the per-thread default stream"
	case n.variable == "":
		return fmt.Sprintf("stream %d", n.number)
	}
	for _, o := range s.streams.names {
		if o.variable == n.variable && o.number != n.number {
			return fmt.Sprintf("stream %d", n.number)
		}
	}
	return "stream `" + n.variable + "`"
}

// streamOf names the stream with a handle, as a title.
func (s *session) streamOf(handle uint64) string {
	if s.streams == nil {
		return s.nameStream(streamName{}, order.Legacy)
	}
	return strings.ReplaceAll(s.nameStream(s.streams.names[handle], handle), "`", "")
}

// why says why nothing orders two operations.
func (t *streams) why(one, two *operation) string {
	legacy := one.stream == order.Legacy || two.stream == order.Legacy
	switch {
	case one.staged:
		return "cudaMemcpy from pageable memory may return before the copy has ended, and a stream " +
			"with cudaStreamNonBlocking does not wait for it"
	case legacy:
		return "a stream with cudaStreamNonBlocking and the default stream do not wait for each other"
	}
	return "no event and no synchronization orders the two, so that they may overlap or be executed " +
		"in either order"
}

// created says where the streams of two operations were created.
func (t *streams) created(ops ...*operation) []string {
	var out []string
	for _, o := range ops {
		if at := t.s.place(o.name.caller); at != "" {
			out = append(out, fmt.Sprintf("%s was created%s", t.streamText(o), at))
		}
	}
	return out
}

// span returns the place of a call in the host code, with the text of its file.
func (s *session) span(caller uint64) source.Span {
	site := s.siteOf(caller)
	if site.Line == 0 {
		return source.Span{}
	}
	f := s.files.Named(s.shown(site.File))
	if f == nil {
		return source.Span{}
	}
	return source.Span{Start: source.MakePos(f.ID, site.Line, site.Col)}
}
