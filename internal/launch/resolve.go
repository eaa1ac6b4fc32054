package launch

import (
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/source"
)

// Resolve decides the launch of kernel k. A fact on the command line (req) counts before one of a
// configuration file, that before a pragma, that before a launch in host code, that before what the PTX says, and that before a default; each fact is
// decided alone. Of several pragmas the later one counts, of several host launches the first with a
// constant grid and block. facts may be nil.
//
// All mistakes are returned together; the configuration is nil if there is one.
func Resolve(k *ir.Func, req Request, facts *SourceFacts) (*Config, []*Error) {
	r := &resolver{
		k:    k,
		code: gather(k),
		span: make(map[string]source.Span),
		cfg:  &Config{Origins: make(map[string]Origin), Reasons: make(map[string]string)},
	}
	host := r.hostLaunch(facts)
	if host != nil {
		r.layers = append(r.layers, layer{FromHost, Request{Grid: host.Grid, Block: host.Block, Shared: host.Shared}, host.Span})
	}
	for _, p := range pragmasOf(k, facts) {
		r.layers = append(r.layers, layer{FromPragma, p.Request, p.Span})
		r.errs = append(r.errs, p.Errs...)
	}
	for _, s := range req.Config {
		r.layers = append(r.layers, layer{FromConfig, s.Request, s.Span})
	}
	r.layers = append(r.layers, layer{origin: FromFlag, req: req})
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	r.geometry()
	r.shared()
	r.args(host)
	r.locals()
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	return r.cfg, nil
}

// A layer is one source of facts. Later layers override earlier ones.
type layer struct {
	origin Origin
	req    Request
	span   source.Span
}

type resolver struct {
	k      *ir.Func
	code   *kernelFacts
	layers []layer
	span   map[string]source.Span // where "grid", "block", "cluster" and "shared" were said
	cfg    *Config
	errs   []*Error
}

// failf reports a mistake in the fact of that name, at the place that said it.
func (r *resolver) failf(key, format string, args ...any) {
	r.errorf(format, args...).Span = r.span[key]
}

func (r *resolver) errorf(format string, args ...any) *Error {
	e := &Error{Msg: fmt.Sprintf(format, args...)}
	r.errs = append(r.errs, e)
	return e
}

// pragmasOf selects the pragmas of k. If some stand above the very line where k is defined, only those are
// meant: kernels of one name can live in several namespaces.
func pragmasOf(k *ir.Func, facts *SourceFacts) []Pragma {
	if facts == nil {
		return nil
	}
	var all, exact []Pragma
	for _, p := range facts.Pragmas {
		if !Matches(k, p.Kernel) {
			continue
		}
		all = append(all, p)
		if k.Src != nil && (p.Line == k.Src.Pos.Line() || p.Line == 0) {
			exact = append(exact, p)
		}
	}
	if slices.ContainsFunc(exact, func(p Pragma) bool { return p.Line != 0 }) {
		return exact
	}
	return all
}

// hostLaunch picks the launch that counts, and notes what is left out.
func (r *resolver) hostLaunch(facts *SourceFacts) *HostLaunch {
	if facts == nil {
		return nil
	}
	var best *HostLaunch
	n := 0
	for i := range facts.Launches {
		l := &facts.Launches[i]
		if !Matches(r.k, l.Kernel) {
			continue
		}
		n++
		if best == nil || (best.Grid == nil || best.Block == nil) && l.Grid != nil && l.Block != nil {
			best = l
		}
	}
	if best == nil {
		return nil
	}
	line := best.Span.Start.Line()
	if n > 1 {
		r.note("the host code launches the kernel at %d places; the one in line %d is used", n, line)
	}
	for _, u := range best.Unresolved {
		r.note("launch in line %d of the host code: %s", line, u)
	}
	return best
}

func (r *resolver) note(format string, args ...any) {
	r.cfg.Notes = append(r.cfg.Notes, fmt.Sprintf(format, args...))
}

// Limits of every CUDA device of compute capability 5.0 and later (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability").
const (
	maxThreads = 1024 // of a block
	maxBlockZ  = 64
	maxGridX   = 1<<31 - 1
	maxGridYZ  = 65535
	maxCluster = 16 // blocks; 8 without opt-in

	sharedPlain = 48 << 10  // bytes of a block without opt-in
	sharedOptIn = 227 << 10 // bytes of a block with opt-in, on the device that has most (9.0 and 10.0)
)

// maxWarps is how many warps event.Warp can number.
const maxWarps = 1 << 32

// pick returns what the topmost layer says of the fact of that name.
func pick[T any](r *resolver, key string, get func(Request) *T) (*T, Origin) {
	for _, l := range slices.Backward(r.layers) {
		if v := get(l.req); v != nil {
			r.span[key] = l.span
			return v, l.origin
		}
	}
	return nil, Default
}

func (r *resolver) geometry() {
	g := &r.cfg.Geometry
	g.Block = r.block()
	g.Cluster = r.cluster()
	grid, origin := r.grid()
	if grid == nil {
		d, why := r.code.grid()
		grid = &d
		if c := g.Cluster; c.Count() > 1 {
			d = event.Dim3{X: roundUp(d.X, c.X), Y: roundUp(d.Y, c.Y), Z: roundUp(d.Z, c.Z)}
			why = "a multiple of the cluster"
		}
		if why != "" {
			r.cfg.Reasons["grid"] = why
		}
	}
	g.Grid = *grid
	r.cfg.Origins["grid"] = origin
	if len(r.errs) == 0 {
		r.checkGeometry()
	}
}

// grid returns what was said about the number of blocks, or about that of all threads.
func (r *resolver) grid() (*event.Dim3, Origin) {
	for _, l := range slices.Backward(r.layers) {
		grid, global := l.req.Grid, l.req.Global
		if grid == nil && global == nil {
			continue
		}
		r.span["grid"] = l.span
		if global == nil {
			return grid, l.origin
		}
		b := r.cfg.Geometry.Block
		switch {
		case grid != nil:
			r.failf("grid", "grid %s and global size %s (%s): one of them says it", Dims(*grid), Dims(*global), l.origin)
		case b.Count() == 0:
		case global.X%b.X != 0 || global.Y%b.Y != 0 || global.Z%b.Z != 0:
			r.failf("grid", "global size %s (%s) is no multiple of the local size %s (%s)", Dims(*global), l.origin, Dims(b), r.cfg.Origins["block"])
		default:
			return &event.Dim3{X: global.X / b.X, Y: global.Y / b.Y, Z: global.Z / b.Z}, l.origin
		}
		return &event.Dim3{X: 1, Y: 1, Z: 1}, l.origin // after an error
	}
	return nil, Default
}

// within returns the largest block up to d that divides the global size, if one is given: what an OpenCL runtime
// chooses for a local size that is left open.
func (r *resolver) within(d event.Dim3) event.Dim3 {
	global, _ := pick(r, "grid", func(q Request) *event.Dim3 { return q.Global })
	if global == nil {
		return d
	}
	divisor := func(n, most uint32) uint32 {
		for most > 1 && n%most != 0 {
			most--
		}
		return max(most, 1)
	}
	return event.Dim3{X: divisor(global.X, d.X), Y: divisor(global.Y, d.Y), Z: divisor(global.Z, d.Z)}
}

func (r *resolver) block() event.Dim3 {
	block, origin := pick(r, "block", func(q Request) *event.Dim3 { return q.Block })
	reqd := r.k.ReqNTID
	switch {
	case reqd.Count() > 0 && block != nil && *block != reqd:
		r.failf("block", "block %s (%s) contradicts .reqntid %s of kernel %s", Dims(*block), origin, Dims(reqd), r.k.Demangled)
	case reqd.Count() > 0 && block == nil:
		block, origin = &reqd, FromPTX
	case block == nil:
		d := r.within(r.code.block(r.k.MaxNTID))
		block = &d
		if r.k.MaxNTID.Count() > 0 {
			origin = FromPTX
		}
	}
	r.cfg.Origins["block"] = origin
	return *block
}

func (r *resolver) cluster() event.Dim3 {
	cluster, origin := pick(r, "cluster", func(q Request) *event.Dim3 { return q.Cluster })
	reqd := r.k.ReqCluster
	switch {
	case reqd.Count() > 0 && cluster != nil && *cluster != reqd:
		r.failf("cluster", "cluster %s (%s) contradicts .reqnctapercluster %s of kernel %s", Dims(*cluster), origin, Dims(reqd), r.k.Demangled)
	case reqd.Count() > 0 && cluster == nil:
		cluster, origin = &reqd, FromPTX
	case cluster == nil:
		cluster = &defaultCluster
	}
	r.cfg.Origins["cluster"] = origin
	return *cluster
}

func (r *resolver) checkGeometry() {
	g := r.cfg.Geometry
	b, o := g.Block, r.cfg.Origins["block"]
	switch {
	case b.X == 0 || b.Y == 0 || b.Z == 0:
		r.failf("block", "block %s (%s) has a dimension of 0", Dims(b), o)
	case b.Count() > maxThreads || b.X > maxThreads || b.Y > maxThreads || b.Z > maxThreads:
		r.failf("block", "block %s (%s) has %d threads; a block has at most %d", Dims(b), o, b.Count(), maxThreads)
	case b.Z > maxBlockZ:
		r.failf("block", "block %s (%s) is %d deep; the z dimension of a block is at most %d", Dims(b), o, b.Z, maxBlockZ)
	case r.k.MaxNTID.Count() > 0 && b.Count() > r.k.MaxNTID.Count():
		r.failf("block", "block %s (%s) has %d threads; .maxntid (__launch_bounds__) of kernel %s allows %d",
			Dims(b), o, b.Count(), r.k.Demangled, r.k.MaxNTID.Count())
	}
	d, o := g.Grid, r.cfg.Origins["grid"]
	switch {
	case d.X == 0 || d.Y == 0 || d.Z == 0:
		r.failf("grid", "grid %s (%s) has a dimension of 0", Dims(d), o)
	case d.X > maxGridX || d.Y > maxGridYZ || d.Z > maxGridYZ:
		r.failf("grid", "grid %s (%s) is too large; a grid has at most %d,%d,%d blocks", Dims(d), o, maxGridX, maxGridYZ, maxGridYZ)
	}
	if len(r.errs) > 0 {
		return
	}
	// The product of three dimensions within these limits fits in 64 bits; times the warps it may not.
	if blocks := d.Count(); blocks > maxWarps/uint64(g.WarpsPerBlock()) {
		r.failf("grid", "grid %s of blocks %s has more than 2^32 warps, which heddle cannot number", Dims(d), Dims(b))
	}
	r.checkCluster()
}

func (r *resolver) checkCluster() {
	c, d := r.cfg.Geometry.Cluster, r.cfg.Geometry.Grid
	switch {
	case c.X == 0 || c.Y == 0 || c.Z == 0:
		r.failf("cluster", "cluster %s has a dimension of 0", Dims(c))
	case c.X > maxCluster || c.Y > maxCluster || c.Z > maxCluster || c.Count() > maxCluster:
		r.failf("cluster", "cluster %s has %d blocks; a cluster has at most %d", Dims(c), c.Count(), maxCluster)
	case d.X%c.X != 0 || d.Y%c.Y != 0 || d.Z%c.Z != 0:
		r.failf("grid", "grid %s (%s) is no multiple of the cluster %s", Dims(d), r.cfg.Origins["grid"], Dims(c))
	}
}

func roundUp(n, unit uint32) uint32 {
	if unit == 0 {
		return n
	}
	return (n + unit - 1) / unit * unit
}

// shared decides the dynamic shared memory. A kernel that uses some gets, if nobody said how much, all that
// a block can have without opt-in: too little would make heddle report accesses that are in bounds.
func (r *resolver) shared() {
	size, origin := pick(r, "shared", func(q Request) *uint32 { return q.Shared })
	if size == nil {
		n := uint32(0)
		if r.code.dynamic && r.code.static < sharedPlain {
			n = (sharedPlain - uint32(r.code.static)) &^ 15
			r.cfg.Reasons["shared"] = "all that a block can have"
		}
		size = &n
	}
	r.cfg.DynShared = *size
	r.cfg.Origins["shared"] = origin
	switch total := uint64(*size) + r.code.static; {
	case total > sharedOptIn && slices.ContainsFunc(r.layers, func(l layer) bool { return l.req.AnyShared }):
		r.cfg.Oversize = total
	case total > sharedOptIn:
		r.failf("shared", "%d bytes of dynamic (%s) and %d of static shared memory: a block has at most %d on any GPU",
			*size, origin, r.code.static, sharedOptIn)
	case total > sharedPlain:
		r.note("%d bytes of shared memory a block: more than %d need cudaFuncAttributeMaxDynamicSharedMemorySize", total, sharedPlain)
	}
}

// Dims prints dimensions as flags do: 4, 4,2 or 4,2,1 without ones at the end.
func Dims(d event.Dim3) string {
	switch {
	case d.Z != 1:
		return fmt.Sprintf("%d,%d,%d", d.X, d.Y, d.Z)
	case d.Y != 1:
		return fmt.Sprintf("%d,%d", d.X, d.Y)
	}
	return fmt.Sprint(d.X)
}
