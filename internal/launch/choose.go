package launch

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"heddle/internal/event"
	"heddle/internal/ir"
)

// The host code of many programs leaves sizes open: they come from the command line or from another
// file. What ties them to the launch is in its expressions, as in grid = (w + 15) / 16 with w as an
// argument. So heddle guesses the unknowns, not the facts, and computes all facts from them: a
// guessed grid then covers the guessed image. The guesses are small, since the cost of a run grows
// with them, but ordinary: at least two blocks, sizes that a real program could have, and multiples
// of what they are divided by.

// A plan is a launch of host code with a value for each of its unknowns.
type plan struct {
	host   *HostLaunch
	values map[string]int64
	// fixed are the unknowns that a flag, a comment, the configuration or a template argument of the
	// kernel decides, so that they are no guesses.
	fixed map[string]bool
	// set has the unknowns whose value is not to be chosen: fixed, and those of Request.Unknowns
	set map[string]bool
	// facts are the expressions that count for this kernel, with what they must fulfil
	facts []planFact
	// largest is the unknown that only the size of shared memory depends on, if there is one
	largest string
}

// A planFact is one expression of a launch.
type planFact struct {
	expr *Expr
	kind factKind
	axis int    // of factGrid and factBlock: 0 to 2
	arg  int    // of factArg: the parameter
	bits int    // of factArg: of the parameter
	want *int64 // the value that another origin gives; nil if none does
}

// A factKind is a kind of fact.
type factKind uint8

const (
	factGrid factKind = iota
	factBlock
	factShared
	factArg
)

// value computes an expression of the launch, and its origin: FromHost unless it depends on a
// guess.
func (p *plan) value(e *Expr) (int64, Origin, bool) {
	if e == nil {
		return 0, Default, false
	}
	n, ok := e.Eval(p.values)
	for _, u := range e.Unknowns() {
		if !p.fixed[u] {
			return n, FromRelation, ok
		}
	}
	return n, FromHost, ok
}

// hostReason starts the explanation of a fact that follows from guesses.
const hostReason = "host code: "

// reason explains a fact that follows from guesses: "host code: (w + 15) / 16 with w = 64 guessed".
func (p *plan) reason(e *Expr) string {
	if e.Op == OpUnknown {
		return hostReason + e.Name + " guessed"
	}
	var with []string
	for _, u := range e.Unknowns() {
		if !p.fixed[u] {
			with = append(with, u+" = "+strconv.FormatInt(p.values[u], 10))
		}
	}
	return hostReason + e.String() + " with " + strings.Join(with, ", ") + " guessed"
}

// newPlan chooses values for the unknowns of a launch. The layers of r are those that override the
// host code. chosen remembers the results of searches.
func (r *resolver) newPlan(l *HostLaunch, req *Request, chosen *sync.Map) *plan {
	l = l.narrowed(r.code)
	p := &plan{host: l, values: make(map[string]int64), fixed: make(map[string]bool),
		set: make(map[string]bool)}
	r.planFacts(p)
	for i, t := range templateArguments(r.k.Demangled) {
		if i < len(l.Template) && l.Template[i] != nil && l.Template[i].Op == OpUnknown {
			if n, ok := parseCInteger(t); ok {
				p.fix(l.Template[i].Name, n)
			}
		}
	}
	for _, f := range p.facts {
		if f.want != nil && f.expr.Op == OpUnknown && !p.set[f.expr.Name] {
			p.fix(f.expr.Name, *f.want)
		}
	}
	for _, name := range sortedKeys(req.Unknowns) {
		if !p.fixed[name] {
			p.values[name], p.set[name] = req.Unknowns[name], true
		}
	}
	p.choose(r, chosen)
	return p
}

// narrowed returns the launch without a grid or block of which the host code says nothing: one that
// may be a dim3, if the kernel reads more than one dimension of it, and a dim3 of unknown numbers
// that nothing else depends on. They get the shape of one that is not specified.
func (l *HostLaunch) narrowed(code *kernelFacts) *HostLaunch {
	grid := l.Open[0] && (code.ctaidY || code.ctaidZ) || l.bare(&l.Grid)
	block := l.Open[1] && (code.tidY || code.tidZ) || l.bare(&l.Block)
	if !grid && !block {
		return l
	}
	out := *l
	if grid {
		out.Grid = [3]*Expr{}
	}
	if block {
		out.Block = [3]*Expr{}
	}
	return &out
}

// bare reports whether dims, the grid or the block of the launch, consists of three unknowns that
// occur nowhere else.
func (l *HostLaunch) bare(dims *[3]*Expr) bool {
	own := make(map[string]bool)
	for _, e := range dims {
		if e == nil || e.Op != OpUnknown || own[e.Name] {
			return false
		}
		own[e.Name] = true
	}
	free := true
	look := func(e *Expr) {
		e.walk(func(x *Expr) { free = free && !(x.Op == OpUnknown && own[x.Name]) })
	}
	for _, other := range []*[3]*Expr{&l.Grid, &l.Block} {
		for _, e := range other {
			if other != dims {
				look(e)
			}
		}
	}
	look(l.Shared)
	for i := range l.Args {
		l.Args[i].exprs(func(e **Expr) { look(*e) })
	}
	return free
}

// fix gives an unknown a value that is no guess.
func (p *plan) fix(name string, n int64) {
	p.values[name], p.fixed[name], p.set[name] = n, true, true
}

// planFacts collects the expressions of the launch that count for the kernel.
func (r *resolver) planFacts(p *plan) {
	l := p.host
	grid, _ := pick(r, "grid", func(q Request) *event.Dim3 { return q.Grid })
	block, _ := pick(r, "block", func(q Request) *event.Dim3 { return q.Block })
	if d := r.k.ReqNTID; d.Count() > 0 {
		block = &d
	}
	shared, _ := pick(r, "shared", func(q Request) *uint32 { return q.Shared })
	want := func(d *event.Dim3, axis int) *int64 {
		if d == nil {
			return nil
		}
		n := int64([...]uint32{d.X, d.Y, d.Z}[axis])
		return &n
	}
	for axis := range 3 {
		p.add(planFact{expr: l.Grid[axis], kind: factGrid, axis: axis, want: want(grid, axis)})
		p.add(planFact{expr: l.Block[axis], kind: factBlock, axis: axis, want: want(block, axis)})
	}
	f := planFact{expr: l.Shared, kind: factShared}
	if shared != nil {
		n := int64(*shared)
		f.want = &n
	}
	p.add(f)
	if len(l.Args) != len(r.k.Params) {
		return
	}
	for i, v := range r.k.Params {
		switch a := l.Args[i]; {
		case isPointer(v):
			if a.Pointer != nil {
				p.add(planFact{expr: a.Pointer.Offset, kind: factArg, arg: i, bits: 64})
			}
		case isStruct(v):
			for _, f := range a.Fields {
				p.add(planFact{expr: f.Value.Value, kind: factArg, arg: i, bits: 8 * int(f.Size)})
			}
		default:
			p.add(planFact{expr: a.Value, kind: factArg, arg: i, bits: 8 * v.Size, want: r.wanted(i)})
		}
	}
}

// add adds a fact that has an expression.
func (p *plan) add(f planFact) {
	if f.expr != nil {
		p.facts = append(p.facts, f)
	}
}

// wanted returns the integer that a flag, a comment or the configuration gives for parameter i; nil
// if none does.
func (r *resolver) wanted(i int) *int64 {
	var out *int64
	for _, l := range r.layers {
		for _, a := range l.req.Args {
			v := r.k.Params[i]
			if a.Offset >= 0 || a.Kind != ArgValue ||
				a.Param != v.Source && a.Param != v.Name && a.Param != strconv.Itoa(i) {
				continue
			}
			if n, err := strconv.ParseInt(a.Text, 0, 64); err == nil {
				out = &n
			}
		}
	}
	return out
}

// templateArguments returns the template arguments in a demangled name: 4 of k<float, (int)4>.
func templateArguments(demangled string) []string {
	head := headOf(demangled)
	open := strings.IndexByte(head, '<')
	if open < 0 || !strings.HasSuffix(head, ">") {
		return nil
	}
	var out []string
	depth, start := 0, open+1
	for i := open; i < len(head); i++ {
		switch c := head[i]; {
		case c == '<' || c == '(':
			depth++
		case c == '>' || c == ')':
			depth--
		}
		if head[i] == ',' && depth == 1 || depth == 0 && i > open {
			t := strings.TrimSpace(head[start:i])
			if n := strings.LastIndexByte(t, ')'); strings.HasPrefix(t, "(") && n > 0 {
				t = t[n+1:]
			}
			switch t {
			case "true":
				t = "1"
			case "false":
				t = "0"
			}
			out = append(out, t)
			start = i + 1
		}
	}
	return out
}

// choose gives each unknown that is not set a value. Those that shape the launch are searched for;
// the others are guessed as the argument that they are.
func (p *plan) choose(r *resolver, chosen *sync.Map) {
	shape, all := p.unknowns()
	if len(all) == 0 {
		return
	}
	s := &search{p: p, r: r, free: shape, prefer: make(map[string]int64)}
	s.prepare()
	key := p.key(r.k.Name)
	if known, ok := chosen.Load(key); ok {
		maps.Copy(p.values, known.(map[string]int64))
	} else {
		s.run()
		if p.largest != "" {
			s.enlarge()
		}
		chosen.Store(key, maps.Clone(p.values))
	}
	g := s.geometry()
	for _, u := range all {
		if _, ok := p.values[u]; !ok {
			n, _ := guessInteger(p.nameOf(u, r), g, 8)
			if v := p.parameterOf(u, r); v != nil {
				if i, ok := r.code.factors[v]; ok && i < len(r.code.factors)-1 {
					n, _ = smallFactor(i)
				}
			}
			p.values[u] = int64(n)
		}
	}
	p.shrink(all, shape)
}

// key is equal for launches of a kernel that have the same expressions and the same values given.
func (p *plan) key(kernel string) string {
	var b strings.Builder
	b.WriteString(kernel)
	fmt.Fprint(&b, p.host.Span)
	for _, f := range p.facts {
		fmt.Fprint(&b, " ", f.kind, f.axis, f.expr)
		if f.want != nil {
			fmt.Fprint(&b, "=", *f.want)
		}
	}
	for _, u := range sortedKeys(p.set) {
		fmt.Fprint(&b, " ", u, "=", p.values[u])
	}
	return b.String()
}

// unknowns returns the free unknowns of grid, block and shared memory, and all of them.
func (p *plan) unknowns() (shape, all []string) {
	elsewhere := make(map[string]bool)
	for _, f := range p.facts {
		for _, u := range f.expr.Unknowns() {
			if !slices.Contains(all, u) {
				all = append(all, u)
			}
			if f.kind != factShared {
				elsewhere[u] = true
			}
			if f.kind != factArg && !p.set[u] && !slices.Contains(shape, u) {
				shape = append(shape, u)
			}
		}
	}
	for _, u := range shape {
		if !elsewhere[u] && p.largest == "" {
			p.largest = u
		}
	}
	return shape, all
}

// parameterOf returns the parameter for which an unknown is passed; nil if there is none.
func (p *plan) parameterOf(u string, r *resolver) *ir.Var {
	for _, f := range p.facts {
		if f.kind == factArg && f.expr.Op == OpUnknown && f.expr.Name == u &&
			!isStruct(r.k.Params[f.arg]) {
			return r.k.Params[f.arg]
		}
	}
	return nil
}

// nameOf returns the name by which the value of an unknown is guessed: that of the parameter that
// it is passed for, or its own.
func (p *plan) nameOf(u string, r *resolver) string {
	if v := p.parameterOf(u, r); v != nil {
		return paramName(v)
	}
	name := plainName(u)
	return name[strings.LastIndexAny(name, ".>:")+1:]
}

// shrink makes arguments fit their parameters that products of guesses overflow.
func (p *plan) shrink(all, shape []string) {
	for range 64 {
		fits := true
		for _, f := range p.facts {
			n, ok := f.expr.Eval(p.values)
			if f.kind != factArg || ok && (f.bits >= 64 || n < 1<<(f.bits-1)) {
				continue
			}
			for _, u := range f.expr.Unknowns() {
				if !p.set[u] && !slices.Contains(shape, u) && p.values[u] > 1 {
					p.values[u] /= 2
					fits = false
				}
			}
		}
		if fits {
			return
		}
	}
}

// A search looks for the values of the unknowns that shape a launch. It starts with what the names
// suggest and improves one unknown, or two at a time, as long as the cost falls. It is
// deterministic, and its work is bounded.
type search struct {
	p          *plan
	r          *resolver
	free       []string
	prefer     map[string]int64
	candidates []int64
	block      event.Dim3 // the usual block of this kernel
	left       int        // evaluations of cost that may still be made
}

const (
	maxSearch   = 6000 // evaluations of the cost of one launch
	maxSearched = 10   // unknowns
)

// impossible is the cost of a launch that no device accepts.
const impossible = 1e9

// prepare sets the preferred values and the candidates.
func (s *search) prepare() {
	s.left = maxSearch
	s.block = s.r.code.block(s.r.k.MaxNTID)
	usual := event.Geometry{Grid: event.Dim3{X: 4, Y: 2, Z: 2}, Block: s.geometry().Block}
	for _, u := range s.free {
		n, _ := guessInteger(s.p.nameOf(u, s.r), usual, 8)
		s.prefer[u] = int64(n)
		s.p.values[u] = int64(n)
	}
	s.flatten()
	s.candidates = []int64{1, 2, 3, 4, 5, 8, 16, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048}
	constants := make(map[int64]bool)
	for _, f := range s.p.facts {
		f.expr.walk(func(e *Expr) {
			if n, ok := e.Constant(); ok && n > 1 && n <= 1<<20 {
				constants[n] = true
			}
		})
		if f.want != nil {
			s.candidates = append(s.candidates, *f.want)
		}
	}
	for n := range constants {
		for k := int64(1); k <= 4; k++ {
			s.candidates = append(s.candidates, n*k)
		}
	}
	for _, n := range s.prefer {
		s.candidates = append(s.candidates, n)
	}
	slices.Sort(s.candidates)
	s.candidates = slices.Compact(s.candidates)
}

// flatten makes unknown dimensions 1 that the kernel never reads: blocks or threads that differ in
// one of them only would all do the same.
func (s *search) flatten() {
	uses := make(map[string]int)
	for _, f := range s.p.facts {
		for _, u := range f.expr.Unknowns() {
			uses[u]++
		}
	}
	code := s.r.code
	for _, f := range s.p.facts {
		unread := f.kind == factGrid && [3]bool{false, !code.ctaidY, !code.ctaidZ}[f.axis] ||
			f.kind == factBlock && [3]bool{false, !code.tidY, !code.tidZ}[f.axis]
		at := slices.Index(s.free, f.expr.Name)
		if !unread || f.expr.Op != OpUnknown || uses[f.expr.Name] > 1 || at < 0 {
			continue
		}
		s.p.values[f.expr.Name] = 1
		s.free = slices.Delete(s.free, at, at+1)
	}
}

// run improves the values.
func (s *search) run() {
	if len(s.free) > maxSearched {
		s.free = s.free[:maxSearched]
	}
	best := s.cost()
	for range 6 {
		before := best
		for _, u := range s.free {
			best = s.improve(best, u)
		}
		if best >= 3 {
			for i, u := range s.free {
				for _, w := range s.free[i+1:] {
					best = s.improvePair(best, u, w)
				}
			}
		}
		if best >= before || s.left < 0 {
			return
		}
	}
}

// improve sets u to the candidate of the least cost.
func (s *search) improve(best float64, u string) float64 {
	keep := s.p.values[u]
	for _, n := range s.candidates {
		s.p.values[u] = n
		if c := s.cost(); c < best {
			best, keep = c, n
		}
	}
	s.p.values[u] = keep
	return best
}

// improvePair sets u and w to the candidates of the least cost.
func (s *search) improvePair(best float64, u, w string) float64 {
	a, b := s.p.values[u], s.p.values[w]
	for _, n := range s.candidates {
		for _, m := range s.candidates {
			if s.left < 0 {
				break
			}
			s.p.values[u], s.p.values[w] = n, m
			if c := s.cost(); c < best {
				best, a, b = c, n, m
			}
		}
	}
	s.p.values[u], s.p.values[w] = a, b
	return best
}

// geometry is the launch for the current values; dimensions that are not known are the usual ones.
func (s *search) geometry() event.Geometry {
	grid, _ := s.r.code.grid()
	g := event.Geometry{Grid: grid, Block: s.block}
	for _, f := range s.p.facts {
		n, ok := f.expr.Eval(s.p.values)
		if f.want != nil {
			n, ok = *f.want, true
		}
		if !ok || n < 1 || n > maxGridX {
			continue
		}
		switch f.kind {
		case factGrid:
			*[]*uint32{&g.Grid.X, &g.Grid.Y, &g.Grid.Z}[f.axis] = uint32(n)
		case factBlock:
			*[]*uint32{&g.Block.X, &g.Block.Y, &g.Block.Z}[f.axis] = uint32(n)
		}
	}
	return g
}

// cost rates the current values: impossible, or the sum of how far the facts are from what is
// usual. Only the order of costs means something.
func (s *search) cost() float64 {
	s.left--
	blocks, threads, total := 1.0, 1.0, 0.0
	guessed, shaped := false, false // the grid, the block depend on guesses
	for i := range s.p.facts {
		f := &s.p.facts[i]
		n, ok := f.expr.Eval(s.p.values)
		if !ok && f.kind == factArg && s.others(f.expr) {
			continue
		}
		if !ok {
			return impossible
		}
		if f.want != nil && n != *f.want {
			total += 1000
		}
		open := f.expr.Op != OpConst
		switch f.kind {
		case factGrid:
			guessed = guessed || open
			blocks *= float64(n)
			total += gridCost(n, f.axis, open)
			c := s.r.k.ReqCluster
			if c := int64([...]uint32{c.X, c.Y, c.Z}[f.axis]); c > 1 && n%c != 0 {
				total += 200
			}
		case factBlock:
			shaped = shaped || open
			threads *= float64(n)
			if n < 1 || f.axis == 2 && n > maxBlockZ {
				return impossible
			}
		case factShared:
			total += s.sharedCost(n, open)
		case factArg:
			total += argCost(n, f.bits, open)
		}
		total += uneven(f.expr, s.p.values)
	}
	if total >= impossible {
		return impossible
	}
	total += s.shapeCost(blocks, threads, guessed, shaped)
	return total + s.valueCost(threads)
}

// others reports whether an expression has unknowns that are not searched for.
func (s *search) others(e *Expr) bool {
	return slices.ContainsFunc(e.Unknowns(), func(u string) bool {
		_, ok := s.p.values[u]
		return !ok
	})
}

// gridCost rates a dimension of the grid: from 2 to 4 blocks show races between neighbours.
func gridCost(n int64, axis int, open bool) float64 {
	switch {
	case n < 1 || n > maxGridX || axis > 0 && n > maxGridYZ:
		return impossible
	case !open:
		return 0
	case n == 1:
		return 12
	case n > 4:
		return 6 * math.Log2(float64(n)/4)
	}
	return 0
}

// shapeCost rates the numbers of blocks and of threads in a block.
func (s *search) shapeCost(blocks, threads float64, guessed, shaped bool) float64 {
	limit := float64(maxThreads)
	if n := s.r.k.MaxNTID.Count(); n > 0 {
		limit = float64(n)
	}
	if threads > limit {
		return impossible
	}
	total := 0.0
	if guessed {
		total += math.Abs(math.Log2(blocks/4)) / 2
		if blocks < 2 {
			total += 25
		} else if blocks > 16 {
			total += 8 * math.Log2(blocks/16)
		}
	}
	if shaped {
		total += 4 * math.Abs(math.Log2(threads/float64(s.block.Count())))
		if int64(threads)%event.WarpSize != 0 {
			total += 10
		}
	}
	return total
}

// sharedCost rates a number of bytes of dynamic shared memory.
func (s *search) sharedCost(n int64, open bool) float64 {
	static := int64(s.r.code.static)
	switch {
	case n < 0 || n+static > sharedOptIn:
		return impossible
	case open && n+static > sharedPlain && s.p.host.Limit == nil:
		return 60
	}
	return 0
}

// argCost rates an integer argument.
func argCost(n int64, bits int, open bool) float64 {
	switch {
	case !open:
		return 0
	case bits < 64 && (n >= 1<<bits || n < -(1<<(bits-1))):
		return 5000
	case bits < 64 && n >= 1<<(bits-1), n < 0:
		return 40
	}
	return 0
}

// uneven adds a cost for each division with a remainder: a first run has sizes that are multiples
// of what they are divided by.
func uneven(e *Expr, values map[string]int64) float64 {
	total := 0.0
	e.walk(func(x *Expr) {
		if x.Op != OpDiv && x.Op != OpCeilDiv {
			return
		}
		n, ok := x.Args[0].Eval(values)
		d, ok2 := x.Args[1].Eval(values)
		if !ok || !ok2 || d < 2 {
			return
		}
		up := x.Args[0].Op == OpAdd || x.Args[0].Op == OpSub
		if rem := n % d; rem != 0 && (!up || rem != d-1) {
			total += 5
		}
	})
	return total
}

// valueCost rates the values themselves: near what their names suggest, at least a block of
// threads, and different from each other, so that a mix-up of two sizes shows.
func (s *search) valueCost(threads float64) float64 {
	total := 0.0
	for i, u := range s.free {
		n, want := s.p.values[u], s.prefer[u]
		if n < 1 && want > 0 {
			total += 60
			continue
		}
		total += math.Abs(math.Log2(float64(n+1) / float64(want+1)))
		if want > 4 && float64(n) < math.Min(threads, 64) {
			total += 5
		}
		if n != 0 && want == 0 {
			total += 3
		}
		for _, w := range s.free[:i] {
			if s.p.values[w] == n && n > 4 {
				total += 0.7
			}
		}
	}
	return total
}

// enlarge sets the unknown that only shared memory depends on to the largest value that fits: with
// less, heddle would report accesses as out of bounds that are not.
func (s *search) enlarge() {
	limit := int64(sharedPlain)
	if s.p.host.Limit != nil {
		limit = sharedOptIn
	}
	limit -= int64(s.r.code.static)
	fits := func(v int64) bool {
		s.p.values[s.p.largest] = v
		n, ok := s.p.host.Shared.Eval(s.p.values)
		return ok && n <= limit && n >= 0
	}
	keep := s.p.values[s.p.largest]
	if !fits(1) {
		s.p.values[s.p.largest] = keep
		return
	}
	low, high := int64(1), int64(1<<20)
	for low < high {
		mid := (low + high + 1) / 2
		if fits(mid) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	s.p.values[s.p.largest] = low
}
