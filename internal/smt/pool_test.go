package smt_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"heddle/internal/smt"
	"heddle/internal/smt/sat"
)

// counting is a solver that counts its queries, and can be wrong or slow.
type counting struct {
	asked *atomic.Int64
	smt.Solver
}

func (c counting) Solve(ctx context.Context, x *smt.Context, asserts []smt.Term) smt.Answer {
	c.asked.Add(1)
	return c.Solver.Solve(ctx, x, asserts)
}

// memory is a Store in memory.
type memory struct {
	mu sync.Mutex
	m  map[smt.Digest]smt.Answer
}

func (s *memory) Get(d smt.Digest) (smt.Answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.m[d]
	return a, ok
}

func (s *memory) Put(d smt.Digest, a smt.Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[d] = a
}

func pooled(n int, store smt.Store) (*smt.Pool, *atomic.Int64) {
	asked := new(atomic.Int64)
	return smt.NewPool(n, func() []smt.Solver {
		return []smt.Solver{counting{asked,
			&sat.Solver{Steps: 500_000_000}}}
	}, store), asked
}

// product returns the conjunction x*y = v, x > 1, y > 1: satisfiable exactly if v is not prime.
func product(c *smt.Context, a, b string, v uint64) []smt.Term {
	x, y := c.VarIn(a, 16, 2, 255), c.VarIn(b, 16, 2, 255)
	return []smt.Term{c.Eq(c.Mul(x, y), c.Const(v, 16))}
}

// TestPool checks that answers are in the order of the queries, with models for the original names,
// and that queries which differ only in names are solved once, concurrently or later.
func TestPool(t *testing.T) {
	for _, n := range []int{1, 4} {
		p, asked := pooled(n, nil)
		c := smt.New()
		var queries []*smt.Query
		var asserts [][]smt.Term
		for i := range 20 {
			a := product(c, fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i), 251+uint64(i%10))
			asserts = append(asserts, a)
			queries = append(queries, c.Query(a))
		}
		for i, a := range p.Solve(t.Context(), queries) {
			v := 251 + i%10
			prime := v == 251 || v == 257
			if (a.Status == smt.Unsat) != prime || a.Status == smt.Unknown {
				t.Errorf("%d workers: %d is a product: %v (%s)", n, v, a.Status, a.Reason)
			}
			if m := queries[i].Original(a.Model); a.Status == smt.Sat && !c.Satisfies(m, asserts[i]) {
				t.Errorf("%d workers: %v is not a model for %d", n, m, v)
			}
		}
		if asked.Load() != 10 {
			t.Errorf("%d workers: %d queries solved, want 10", n, asked.Load())
		}
	}
}

// together is a solver that decides nothing until all queries are with a solver.
type together struct{ *sync.WaitGroup }

func (together) Name() string { return "together" }

func (s together) Solve(ctx context.Context, _ *smt.Context, _ []smt.Term) smt.Answer {
	s.Done()
	all := make(chan struct{})
	go func() {
		s.Wait()
		close(all)
	}()
	select {
	case <-all:
		return smt.Answer{Status: smt.Unsat}
	case <-ctx.Done():
		return smt.Answer{Reason: "out of time"}
	}
}

// TestPoolAtOnce checks that as many queries are solved at a time as the pool has slots.
func TestPoolAtOnce(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, n := range []int{1, 2, 3} {
		all := new(sync.WaitGroup)
		all.Add(n)
		p := smt.NewPool(n, func() []smt.Solver { return []smt.Solver{together{all}} }, nil)
		c := smt.New()
		var queries []*smt.Query
		for i := range n {
			queries = append(queries, c.Query(product(c, "a", "b", 251+uint64(i))))
		}
		for _, a := range p.Solve(ctx, queries) {
			if a.Status != smt.Unsat {
				t.Errorf("%d slots: %v %q", n, a.Status, a.Reason)
			}
		}
	}
}

// TestPoolStore checks that stored answers are reused unless they cannot be right.
func TestPoolStore(t *testing.T) {
	store := &memory{m: map[smt.Digest]smt.Answer{}}
	c := smt.New()
	q := c.Query(product(c, "a", "b", 253))
	prime := c.Query(product(c, "a", "b", 251))
	wrong := &smt.Model{Vars: map[string]uint64{"x0": 3, "x1": 5}}
	for _, tc := range []struct {
		what   string
		q      *smt.Query
		stored smt.Answer
		want   smt.Status
		asked  int64
	}{
		{"a model that is none", q, smt.Answer{Status: smt.Sat, Model: wrong}, smt.Sat, 1},
		{"sat without a model", q, smt.Answer{Status: smt.Sat}, smt.Sat, 1},
		{"unknown", q, smt.Answer{Reason: "out of time"}, smt.Sat, 1},
		{"a model", q, smt.Answer{Status: smt.Sat,
			Model: &smt.Model{Vars: map[string]uint64{"x0": 11, "x1": 23}}}, smt.Sat, 0},
		{"unsat", prime, smt.Answer{Status: smt.Unsat}, smt.Unsat, 0},
	} {
		p, asked := pooled(1, store)
		store.m[tc.q.Digest] = tc.stored
		a := p.Solve(t.Context(), []*smt.Query{tc.q})[0]
		if a.Status != tc.want || asked.Load() != tc.asked || a.Cached != (tc.asked == 0) {
			t.Errorf("%s: %v, %d queries solved, cached %v; want %v, %d", tc.what, a.Status, asked.Load(),
				a.Cached, tc.want, tc.asked)
		}
	}
}

// TestPoolUnknown checks that undecided answers are not stored and contain the reasons of all
// solvers.
func TestPoolUnknown(t *testing.T) {
	store := &memory{m: map[smt.Digest]smt.Answer{}}
	asked := new(atomic.Int64)
	tight := func() []smt.Solver {
		return []smt.Solver{counting{asked, &sat.Solver{Gates: 10}},
			counting{asked, &sat.Solver{Gates: 20}}}
	}
	p := smt.NewPool(2, tight, store)
	c := smt.New()
	q := c.Query(product(c, "a", "b", 253))
	for range 2 {
		a := p.Solve(t.Context(), []*smt.Query{q})[0]
		if a.Status != smt.Unknown || a.Reason != "embedded: the circuit has more than 10 gates; "+
			"embedded: the circuit has more than 20 gates" {
			t.Errorf("%v %q", a.Status, a.Reason)
		}
	}
	if asked.Load() != 4 || len(store.m) != 0 {
		t.Errorf("asked %d times, want 4; %d answers kept", asked.Load(), len(store.m))
	}
}

func TestPoolCancelled(t *testing.T) {
	p, _ := pooled(2, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := smt.New()
	for _, a := range p.Solve(ctx,
		[]*smt.Query{c.Query(product(c, "a", "b", 253)), c.Query(product(c, "a", "b", 251))}) {
		if a.Status != smt.Unknown || a.Reason == "" {
			t.Errorf("%v %q", a.Status, a.Reason)
		}
	}
}

// TestQueryCopy checks that a copied query has the answer of the original, and that digests depend
// on the content but not on names.
// crashing is a solver that panics once.
type crashing struct {
	smt.Solver
	once *sync.Once
}

func (c crashing) Solve(ctx context.Context, x *smt.Context, asserts []smt.Term) smt.Answer {
	c.once.Do(func() { panic("no such term") })
	return c.Solver.Solve(ctx, x, asserts)
}

// A panic of a solver reaches the caller, and neither the goroutines that wait for the same query
// nor the pool are stuck after it.
func TestPoolPanic(t *testing.T) {
	var once sync.Once
	p := smt.NewPool(2, func() []smt.Solver {
		return []smt.Solver{crashing{&sat.Solver{Steps: 500_000_000}, &once}}
	}, nil)
	defer p.Close()
	c := smt.New()
	queries := make([]*smt.Query, 8) // equal ones
	for i := range queries {
		queries[i] = c.Query(product(c, "x", "y", 221)) // 13 * 17
	}
	func() {
		defer func() {
			if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "no such term") {
				t.Errorf("the caller recovers %v", v)
			}
		}()
		p.Solve(t.Context(), queries)
	}()
	for i, a := range p.Solve(t.Context(), queries) {
		if a.Status != smt.Sat {
			t.Errorf("query %d after the panic: %v", i, a.Status)
		}
	}
}

func TestQueryCopy(t *testing.T) {
	if testing.Short() {
		t.Skip()
	}
	solver := &sat.Solver{Steps: 500_000_000}
	ctx := context.Background()
	seen := map[smt.Digest]string{}
	rapid.Check(t, func(t *rapid.T) {
		q, asserts := newQuery(t)
		copied := q.c.Query(asserts)
		a, b := solver.Solve(ctx, q.c, asserts), solver.Solve(ctx, copied.Context, copied.Asserts)
		if a.Status != b.Status {
			t.Fatalf("%v, the copy %v of %s", a.Status, b.Status, q.c.String(q.c.And(asserts...)))
		}
		if b.Status == smt.Sat && !q.c.Satisfies(copied.Original(b.Model), asserts) {
			t.Fatalf("the model of the copy does not satisfy %s", q.c.String(q.c.And(asserts...)))
		}
		// The copy prints as the original does, but for names: so a digest that two queries share must
		// print alike.
		text := string(copied.Context.Script(copied.Asserts))
		if other, twice := seen[copied.Digest]; twice && other != text {
			t.Fatalf("the same digest for\n%s\nand\n%s", other, text)
		}
		seen[copied.Digest] = text
	})
}

// TestDigestNames checks that digests depend on ranges, constants and variables, but not on names.
func TestDigestNames(t *testing.T) {
	c := smt.New()
	base := c.Query(product(c, "a", "b", 253)).Digest
	if c.Query(product(c, "p", "q", 253)).Digest != base ||
		smt.New().Query(product(c, "a", "b", 253)[:0]).Digest == base {
		t.Error("the digest depends on names")
	}
	other := smt.New()
	if other.Query(product(other, "z", "y", 253)).Digest != base {
		t.Error("the digest depends on other terms of the context")
	}
	x, y := c.VarIn("c", 16, 2, 254), c.VarIn("d", 16, 2, 255)
	if c.Query([]smt.Term{c.Eq(c.Mul(x, y), c.Const(253, 16))}).Digest == base {
		t.Error("the digest does not depend on ranges")
	}
	if c.Query(product(c, "a", "a", 253)).Digest == base ||
		c.Query(product(c, "a", "b", 252)).Digest == base {
		t.Error("the digest does not depend on variables or constants")
	}
}

// TestCanonical: a model with the names of the caller means the same with those of the query, for
// variables and for functions, and back.
func TestCanonical(t *testing.T) {
	c := smt.New()
	f := c.Declare("contents", 8, 8)
	x := c.Var("index", 8)
	q := c.Query([]smt.Term{c.Eq(c.Apply(f, x), c.Const(7, 8))})
	m := &smt.Model{Vars: map[string]uint64{"index": 3},
		Funcs: map[string]map[string]uint64{"contents": {"3": 7}}}
	canonical := q.Canonical(m)
	if len(canonical.Vars) != 1 || len(canonical.Funcs) != 1 || canonical.Funcs["contents"] != nil {
		t.Errorf("canonical: %v", canonical)
	}
	if back := q.Original(canonical); !reflect.DeepEqual(back, m) {
		t.Errorf("%v, want %v", back, m)
	}
}
