package order

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// naive is the order of a program as a graph: each call of the host and each operation is a node,
// and each rule of the CUDA Runtime API adds its edges one by one. An operation happens before
// another one if a path leads to it.
type naive struct {
	into    [][]int // the nodes with an edge to each node
	host    int     // the last call of the host
	tasks   []task
	streams map[uint64]bool // blocking ones have true
	events  map[uint64]int  // nodes of the last records
}

// task is an operation, a record or a wait in a stream.
type task struct {
	node     int
	stream   uint64
	number   int // of the stream: handles are used again
	blocking bool
}

func newNaive() *naive {
	return &naive{into: make([][]int, 1), streams: map[uint64]bool{Legacy: true},
		events: make(map[uint64]int)}
}

// node adds a node with edges from others.
func (n *naive) node(from ...int) int {
	n.into = append(n.into, from)
	return len(n.into) - 1
}

// call adds a call of the host, which waits for some nodes.
func (n *naive) call(from ...int) { n.host = n.node(append(from, n.host)...) }

// task adds a task to a stream: after the call that enqueues it, after the tasks of its stream, and
// as the legacy default stream demands (CUDA Runtime API, "Stream synchronization behavior").
func (n *naive) task(s uint64, number int, more ...int) int {
	n.call()
	t := task{n.node(append(n.waits(s, number), append(more, n.host)...)...), s, number, n.streams[s]}
	n.tasks = append(n.tasks, t)
	return t.node
}

// waits returns the tasks that a new one of a stream waits for.
func (n *naive) waits(s uint64, number int) []int {
	var out []int
	for _, t := range n.tasks {
		if t.stream == s && t.number == number || s == Legacy && t.blocking ||
			t.stream == Legacy && n.streams[s] {
			out = append(out, t.node)
		}
	}
	return out
}

// before returns which nodes a path leads to a node from.
func (n *naive) before(node int) []bool {
	seen := make([]bool, len(n.into))
	todo := []int{node}
	for len(todo) > 0 {
		k := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, m := range n.into[k] {
			if !seen[m] {
				seen[m] = true
				todo = append(todo, m)
			}
		}
	}
	return seen
}

// both drives Clocks and the naive order side by side.
type both struct {
	rnd     *rand.Rand
	clocks  *Clocks
	naive   *naive
	numbers map[uint64]int // of the streams that have had each handle
	epochs  []Epoch        // of the operations
	nodes   []int
}

func newBoth(seed uint64) *both {
	return &both{rnd: rand.New(rand.NewPCG(seed, 1)), clocks: NewClocks(), naive: newNaive(),
		numbers: make(map[uint64]int)}
}

// work enqueues an operation and compares what happened before it.
func (b *both) work(s uint64) (Epoch, Clock, error) {
	e, before := b.clocks.Enqueue(s)
	node := b.naive.task(s, b.numbers[s])
	want := b.naive.before(node)
	for i, o := range b.epochs {
		if o.before(before) != want[b.nodes[i]] {
			return e, before, fmt.Errorf("operation %d before operation %d: %v, want %v", i, len(b.epochs),
				o.before(before), want[b.nodes[i]])
		}
	}
	b.epochs, b.nodes = append(b.epochs, e), append(b.nodes, node)
	return e, before, nil
}

// stream returns the handle of a stream that exists.
func (b *both) stream() uint64 {
	var all []uint64
	for h := range uint64(5) {
		if _, ok := b.naive.streams[h]; ok {
			all = append(all, h)
		}
	}
	return all[b.rnd.IntN(len(all))]
}

// change makes a random call that is no operation.
func (b *both) change() {
	s, event := b.stream(), uint64(b.rnd.IntN(3))
	number := b.numbers[s]
	recorded, known := b.naive.events[event]
	switch b.rnd.IntN(9) {
	case 0, 1: // cudaStreamCreateWithFlags
		h := 1 + uint64(b.rnd.IntN(4))
		if _, ok := b.naive.streams[h]; ok {
			return
		}
		blocking := b.rnd.IntN(2) == 0
		b.numbers[h]++
		b.naive.streams[h] = blocking
		b.clocks.Create(h, blocking)
	case 2: // cudaStreamDestroy
		if s != Legacy {
			delete(b.naive.streams, s)
			b.clocks.Destroy(s)
		}
	case 3, 4: // cudaEventRecord
		b.clocks.Record(event, s)
		b.naive.events[event] = b.naive.task(s, number)
	case 5, 6: // cudaStreamWaitEvent
		b.clocks.Wait(s, event)
		if known {
			b.naive.task(s, number, recorded)
		} else {
			b.naive.task(s, number)
		}
	case 7:
		switch b.rnd.IntN(3) {
		case 0: // cudaEventSynchronize
			b.clocks.SyncEvent(event)
			if known {
				b.naive.call(recorded)
			}
		default: // cudaStreamSynchronize
			b.clocks.SyncStream(s)
			b.naive.call(b.naive.waits(s, number)...)
		}
	case 8: // cudaDeviceSynchronize
		if b.rnd.IntN(3) > 0 {
			return
		}
		b.clocks.SyncAll()
		var all []int
		for _, t := range b.naive.tasks {
			all = append(all, t.node)
		}
		b.naive.call(all...)
	}
}

// TestClocks: the vector clocks order the operations of random programs as the edges of the graph.
func TestClocks(t *testing.T) {
	for seed := range uint64(3000) {
		b := newBoth(seed)
		for range 60 {
			if b.rnd.IntN(3) > 0 {
				b.change()
				continue
			}
			e, before, err := b.work(b.stream())
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if b.rnd.IntN(10) == 0 { // a copy that the host waits for
				b.clocks.SyncWork(e, before)
				b.naive.call(b.nodes[len(b.nodes)-1])
			}
		}
	}
}

// The bytes of TestHistory are on both sides of the end of a page.
const (
	firstByte = pageBytes - 30
	lastByte  = pageBytes + 30
)

// randomRanges returns ascending ranges that neither overlap nor touch.
func randomRanges(rnd *rand.Rand) []Range {
	var out []Range
	at := firstByte + uint64(rnd.IntN(lastByte-firstByte))
	for at < lastByte && rnd.IntN(3) > 0 {
		to := min(at+1+uint64(rnd.IntN(20)), lastByte)
		out = append(out, Range{at, to})
		at = to + 1 + uint64(rnd.IntN(15))
	}
	return out
}

// has reports whether a list contains a byte.
func has(list []Range, at uint64) bool {
	return slices.ContainsFunc(list, func(r Range) bool { return r.From <= at && at < r.To })
}

// races returns whether two operations access a byte in a way that conflicts.
func races(a, b *Work, at uint64) bool {
	for i := range accesses {
		for j := range accesses {
			if i.Conflict(j) && has(a.Accesses[i], at) && has(b.Accesses[j], at) {
				return true
			}
		}
	}
	return false
}

// TestHistory compares with the definition: two operations race if neither happened before the
// other and they have conflicting accesses to a byte. Every conflict that is reported is one, and
// each byte with a race has its first one reported: up to there nothing was dropped.
func TestHistory(t *testing.T) {
	for seed := range uint64(1500) {
		b := newBoth(seed)
		h := new(History)
		var works []*Work
		raced := make(map[uint64]bool)
		for range 25 {
			for range b.rnd.IntN(4) {
				b.change()
			}
			e, before, err := b.work(b.stream())
			if err != nil {
				t.Fatal(err)
			}
			w := &Work{Epoch: e}
			for range 2 {
				w.Accesses[b.rnd.IntN(int(accesses))] = randomRanges(b.rnd)
			}
			checkAdd(t, seed, b, h.Add(b.clocks, w, before), append(works, w), raced)
			works = append(works, w)
			if t.Failed() {
				return
			}
		}
	}
}

// checkAdd compares the conflicts of the last of works.
func checkAdd(t *testing.T, seed uint64, b *both, got []Conflict, works []*Work,
	raced map[uint64]bool) {
	t.Helper()
	last := len(works) - 1
	w, before := works[last], b.naive.before(b.nodes[last])
	for at := uint64(firstByte); at < lastByte; at++ {
		for i, o := range works[:last] {
			if raced[at] || before[b.nodes[i]] || !races(o, w, at) {
				continue
			}
			raced[at] = true
			if len(got) == 0 {
				t.Errorf("seed %d: no conflict of operation %d at byte %d", seed, last, at)
			}
		}
	}
	for _, c := range got {
		i := slices.Index(works, c.First)
		if i < 0 || before[b.nodes[i]] || c.Second != w || !c.FirstAccess.Conflict(c.SecondAccess) ||
			c.Bytes < c.Place.To-c.Place.From || c.Place.From >= c.Place.To {
			t.Errorf("seed %d: conflict %+v of operations %d and %d", seed, c, i, last)
			continue
		}
		for at := c.Place.From; at < c.Place.To; at++ {
			if !has(c.First.Accesses[c.FirstAccess], at) || !has(w.Accesses[c.SecondAccess], at) {
				t.Errorf("seed %d: operations %d and %d have no such accesses at byte %d: %+v", seed, i, last,
					at, c)
				break
			}
		}
	}
}

// TestForget: memory that was freed has no history.
func TestForget(t *testing.T) {
	c := NewClocks()
	c.Create(1, false)
	c.Create(2, false)
	h := new(History)
	add := func(stream uint64, r Range) int {
		e, before := c.Enqueue(stream)
		w := &Work{Epoch: e}
		w.Accesses[Write] = []Range{r}
		return len(h.Add(c, w, before))
	}
	add(1, Range{100, 3 * pageBytes})
	h.Forget(Range{200, 2*pageBytes + 10})
	for _, q := range []struct {
		r    Range
		want int
	}{
		{Range{200, 2*pageBytes + 10}, 0},
		{Range{199, 201}, 1},
		{Range{2*pageBytes + 9, 2*pageBytes + 11}, 1},
	} {
		if got := add(2, q.r); got != q.want {
			t.Errorf("%v: %d conflicts, want %d", q.r, got, q.want)
		}
	}
}

// TestSynchronized: launches that may wait for each other through a flag are not reported; without
// fences, strong accesses order nothing (PTX ISA 8.9).
func TestSynchronized(t *testing.T) {
	for _, fenced := range []bool{true, false} {
		c := NewClocks()
		c.Create(1, false)
		h := new(History)
		var got int
		for _, s := range []uint64{Legacy, 1} {
			e, before := c.Enqueue(s)
			w := &Work{Epoch: e, Fenced: fenced}
			w.Accesses[Write] = []Range{{0, 8}}
			w.Accesses[StrongWrite] = []Range{{16, 20}}
			got += len(h.Add(c, w, before))
		}
		if want := map[bool]int{true: 0, false: 1}[fenced]; got != want {
			t.Errorf("fenced %v: %d conflicts, want %d", fenced, got, want)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	c := NewClocks()
	c.Create(1, true)
	h := new(History)
	for i := range b.N {
		e, before := c.Enqueue(1)
		w := &Work{Epoch: e}
		at := uint64(i%2) << 24
		w.Accesses[Write] = []Range{{at, at + 1<<20}}
		h.Add(c, w, before)
	}
}

// TestUnion: the bytes of all lists, ascending and in as few ranges as possible.
func TestUnion(t *testing.T) {
	got := Union([]Range{{0, 4}, {8, 12}, {20, 24}}, nil, []Range{{4, 6}, {9, 10}, {22, 30}})
	want := []Range{{0, 6}, {8, 12}, {20, 30}}
	if !slices.Equal(got, want) || len(Union()) != 0 {
		t.Errorf("%v, want %v", got, want)
	}
}
