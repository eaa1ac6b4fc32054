package smt

import (
	"context"
	"sync"
	"time"
)

// Store keeps answers by the content of queries. It is safe for concurrent use, and free to forget.
type Store interface {
	Get(Digest) (Answer, bool)
	Put(Digest, Answer)
}

// Pool decides queries, several at a time. Each slot has solvers of its own, asked in their order until one knows. Answers are
// kept in memory, and in the store if there is one; of equal queries that come at once, one is solved. It is safe for
// concurrent use.
type Pool struct {
	slots chan []Solver
	all   [][]Solver
	store Store
	mu    sync.Mutex
	known map[Digest]*inFlight
}

// inFlight is an answer that is there when done is closed.
type inFlight struct {
	done chan struct{}
	Answer
}

// NewPool returns a pool of n slots; solvers makes those of one slot. The store may be nil.
func NewPool(n int, solvers func() []Solver, store Store) *Pool {
	p := &Pool{slots: make(chan []Solver, n), store: store, known: map[Digest]*inFlight{}}
	for range n {
		s := solvers()
		p.all = append(p.all, s)
		p.slots <- s
	}
	return p
}

// Slots is how many queries are decided at a time.
func (p *Pool) Slots() int { return cap(p.slots) }

// Close ends the solvers that are processes. Nobody may be solving.
func (p *Pool) Close() {
	for _, list := range p.all {
		for _, s := range list {
			if c, ok := s.(interface{ Close() }); ok {
				c.Close()
			}
		}
	}
}

// Solve decides queries side by side, and returns the answers in their order. Models have canonical names.
func (p *Pool) Solve(ctx context.Context, queries []*Query) []Answer {
	out := make([]Answer, len(queries))
	if len(queries) == 1 || cap(p.slots) == 1 {
		for i, q := range queries {
			out[i] = p.one(ctx, q)
		}
		return out
	}
	next := make(chan int, len(queries))
	for i := range queries {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for range min(cap(p.slots), len(queries)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				out[i] = p.one(ctx, queries[i])
			}
		}()
	}
	wg.Wait()
	return out
}

// Solver returns a solver of single queries that has the pool decide them.
func (p *Pool) Solver() Solver { return pooled{p} }

type pooled struct{ *Pool }

func (p pooled) Name() string { return "pool" }

func (p pooled) Solve(ctx context.Context, c *Context, asserts []Term) Answer {
	q := c.Query(asserts)
	a := p.Pool.Solve(ctx, []*Query{q})[0]
	if a.Status == Sat {
		a.Model = q.Original(a.Model)
	}
	return a
}

// one decides a query, unless it is known or somebody else is at it.
func (p *Pool) one(ctx context.Context, q *Query) Answer {
	p.mu.Lock()
	f, found := p.known[q.Digest]
	if !found {
		f = &inFlight{done: make(chan struct{})}
		p.known[q.Digest] = f
	}
	p.mu.Unlock()
	if found {
		select {
		case <-f.done:
			a := f.Answer
			a.Cached, a.Time = true, 0
			return a
		case <-ctx.Done():
			return Answer{Reason: "out of time"}
		}
	}
	f.Answer = p.fresh(ctx, q)
	if f.Status == Unknown { // with more time, or another day, it may be known
		p.mu.Lock()
		delete(p.known, q.Digest)
		p.mu.Unlock()
	}
	close(f.done)
	return f.Answer
}

// worthKeeping is the time from which an answer goes to the store: to read it back takes some of that, too.
const worthKeeping = 2 * time.Millisecond

func (p *Pool) fresh(ctx context.Context, q *Query) Answer {
	if p.store != nil {
		if a, ok := p.store.Get(q.Digest); ok && (a.Status == Unsat || a.Status == Sat && a.Model != nil && q.Context.Satisfies(a.Model, q.Asserts)) {
			a.Cached = true
			return a
		}
	}
	var solvers []Solver
	select {
	case solvers = <-p.slots:
	case <-ctx.Done():
		return Answer{Reason: "out of time"}
	}
	defer func() { p.slots <- solvers }()
	start := time.Now()
	a := ask(ctx, q.Context, q.Asserts, solvers)
	a.Time = time.Since(start)
	if p.store != nil && a.Status != Unknown && a.Time >= worthKeeping {
		p.store.Put(q.Digest, a)
	}
	return a
}

// ask asks solvers in their order until one knows. A model is believed only if it satisfies the query.
func ask(ctx context.Context, c *Context, asserts []Term, solvers []Solver) Answer {
	reasons, steps := "", int64(0)
	for _, s := range solvers {
		if ctx.Err() != nil && reasons != "" {
			break
		}
		a := s.Solve(ctx, c, asserts)
		steps += a.Steps
		a.By, a.Steps = s.Name(), steps
		if a.Status == Sat && (a.Model == nil || !c.Satisfies(a.Model, asserts)) {
			a = Answer{Reason: "its model does not satisfy the query", Steps: steps}
		}
		if a.Status != Unknown {
			return a
		}
		if reasons != "" {
			reasons += "; "
		}
		reasons += s.Name() + ": " + a.Reason
	}
	if reasons == "" {
		reasons = "no solver"
	}
	return Answer{Reason: reasons, Steps: steps}
}
