package smt

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Store keeps answers by the digest of queries. It must be safe for concurrent use, and may drop
// entries at any time.
type Store interface {
	// Get returns the answer for a digest, with canonical names in the model, and whether it exists.
	Get(Digest) (Answer, bool)
	// Put adds an answer. Only Sat and Unsat are stored.
	Put(Digest, Answer)
}

// Pool decides several queries at a time. Each slot has its own solvers, which are asked in order
// until one decides. Answers are kept in memory and in the store, if there is one. Of equal
// concurrent queries only one is solved. A Pool is safe for concurrent use.
type Pool struct {
	slots chan []Solver // free slots
	all   [][]Solver    // of all slots, for Close
	store Store         // nil: none
	mu    sync.Mutex
	known map[Digest]*inFlight // answered and current queries
}

// inFlight is an answer that is valid once done is closed.
type inFlight struct {
	done chan struct{}
	Answer
}

// NewPool returns a pool with n slots. solvers returns the solvers for one slot. The store may be
// nil.
func NewPool(n int, solvers func() []Solver, store Store) *Pool {
	p := &Pool{slots: make(chan []Solver, n), store: store, known: map[Digest]*inFlight{}}
	for range n {
		s := solvers()
		p.all = append(p.all, s)
		p.slots <- s
	}
	return p
}

// Slots returns the number of queries that can be solved at a time.
func (p *Pool) Slots() int { return cap(p.slots) }

// Close ends solver processes. No query may be in progress, since a process belongs to the query
// that uses it.
func (p *Pool) Close() {
	for _, list := range p.all {
		for _, s := range list {
			if c, ok := s.(interface{ Close() }); ok {
				c.Close()
			}
		}
	}
}

// Solve decides queries concurrently and returns the answers in the order of queries. Models have
// canonical names; see Query.Original. A panic of a solver is raised in the goroutine of the caller,
// who can recover it.
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
	var crash atomic.Pointer[string]
	for range min(cap(p.slots), len(queries)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() {
				if v := recover(); v != nil {
					text := fmt.Sprintf("%v\n%s", v, debug.Stack())
					crash.CompareAndSwap(nil, &text)
				}
			}()
			for i := range next {
				out[i] = p.one(ctx, queries[i])
			}
		}()
	}
	wg.Wait()
	if text := crash.Load(); text != nil {
		panic(*text)
	}
	return out
}

// Solver returns a Solver that decides single queries by the pool. It is safe for concurrent use as
// long as each goroutine uses its own Context.
func (p *Pool) Solver() Solver { return pooled{p} }

// pooled is the Solver of a Pool.
type pooled struct{ *Pool }

// Name returns "pool"; answers name the solver that decided.
func (p pooled) Name() string { return "pool" }

// Solve copies the conjunction, lets the pool decide it, and translates the model.
func (p pooled) Solve(ctx context.Context, c *Context, asserts []Term) Answer {
	q := c.Query(asserts)
	a := p.Pool.Solve(ctx, []*Query{q})[0]
	if a.Status == Sat {
		a.Model = q.Original(a.Model)
	}
	return a
}

// one decides a query, or returns the known answer, or waits for another goroutine that is solving
// it.
func (p *Pool) one(ctx context.Context, q *Query) Answer {
	p.mu.Lock()
	f, found := p.known[q.Digest]
	if !found {
		f = &inFlight{done: make(chan struct{})}
		p.known[q.Digest] = f
	}
	p.mu.Unlock()
	if found {
		// Another goroutine solves it, or has solved it.
		select {
		case <-f.done:
			a := f.Answer
			a.Cached, a.Time = true, 0
			return a
		case <-ctx.Done():
			return Answer{Reason: "out of time"}
		}
	}
	defer func() { // also after a panic, for those who wait
		if f.Status == Unknown { // a later attempt may have more time
			p.mu.Lock()
			delete(p.known, q.Digest)
			p.mu.Unlock()
		}
		close(f.done)
	}()
	f.Answer = p.fresh(ctx, q)
	return f.Answer
}

// worthKeeping is the minimum solving time of a stored answer. Reading an answer from a store on
// disk takes a comparable time.
const worthKeeping = 2 * time.Millisecond

// fresh decides a query that is not known in memory. A stored model is checked, so that a damaged
// store cannot cause a wrong Sat; a stored Unsat is trusted.
func (p *Pool) fresh(ctx context.Context, q *Query) Answer {
	if p.store != nil {
		if a, ok := p.store.Get(q.Digest); ok &&
			(a.Status == Unsat || a.Status == Sat && a.Model != nil &&
				q.Context.Satisfies(a.Model, q.Asserts)) {
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

// ask asks solvers in order until one decides. It accepts a model only if it satisfies the query,
// so that a wrong Sat of a solver becomes Unknown.
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
