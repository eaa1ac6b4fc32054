package launch

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/source"
)

// Resolve decides the launch of kernel k. Each fact is decided separately, by the first of these
// that specifies it: the command line (req), a configuration file, a "heddle:" comment, a launch in
// host code, the PTX, a default. A later comment overrides an earlier one. If the host code
// launches the kernel several times, the first launch with a constant grid and block is used. facts
// may be nil.
//
// All errors are returned together; the configuration is nil if there is any.
func Resolve(k *ir.Func, req Request, facts *SourceFacts) (*Config, []*Error) {
	facts = facts.unless(req.Saved)
	r := newResolver(k, gather(k))
	return r.resolve(req, facts, r.hostLaunch(req, facts))
}

// newResolver returns a resolver without any facts but those of the kernel's code.
func newResolver(k *ir.Func, code *kernelFacts) *resolver {
	return &resolver{
		k:    k,
		code: code,
		span: make(map[string]source.Span),
		cfg:  &Config{Origins: make(map[string]Origin), Reasons: make(map[string]string)},
	}
}

// resolve decides all facts. n is the index in facts of the launch in host code to follow; negative
// if there is none.
func (r *resolver) resolve(req Request, facts *SourceFacts, n int) (*Config, []*Error) {
	k := r.k
	if facts != nil {
		r.metadata(facts.Metadata)
	}
	for _, p := range pragmasOf(k, facts) {
		r.layers = append(r.layers, layer{origin: FromPragma, req: p.Request, span: p.Span})
		r.errs = append(r.errs, p.Errs...)
	}
	for _, s := range req.Config {
		r.layers = append(r.layers, layer{origin: FromConfig, req: s.Request, span: s.Span})
	}
	r.saved(req.Saved)
	r.layers = append(r.layers, layer{origin: FromFlag, req: req})
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	p := r.follow(req, facts, n)
	r.geometry()
	r.shared()
	r.args(p)
	r.locals()
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	r.symbols(p, facts)
	r.initial(facts)
	r.again(p, facts)
	for key, why := range r.cfg.Reasons { // of what another origin overrode
		if strings.HasPrefix(why, hostReason) && r.cfg.Origins[key] != FromRelation {
			delete(r.cfg.Reasons, key)
		}
	}
	return r.cfg, nil
}

// saved adds the facts of a saved launch, if there is one.
func (r *resolver) saved(s *Saved) {
	if s == nil {
		return
	}
	req, buffers, err := s.layer(r.k)
	if err != nil {
		r.errorf("%v", err)
		return
	}
	r.layers = append(r.layers, layer{origin: FromProgram, req: req})
	r.cfg.Saved, r.cfg.Vars, r.cfg.FirstFunc = s.Path, s.variables(buffers), s.FirstFunc
}

// A layer is the facts of one origin. Later layers override earlier ones.
type layer struct {
	origin Origin
	req    Request
	span   source.Span
	spans  map[string]source.Span // of single facts, by their keys in resolver.span; may be nil
}

// at is where the layer specifies a fact.
func (l *layer) at(key string) source.Span {
	if s, ok := l.spans[key]; ok {
		return s
	}
	return l.span
}

// A resolver holds the state of one call of Resolve.
type resolver struct {
	k      *ir.Func
	code   *kernelFacts
	layers []layer                // in increasing precedence
	optIn  bool                   // the host allows the kernel more shared memory than usual
	span   map[string]source.Span // where "grid", "block", "cluster" and "shared" were specified
	cfg    *Config
	errs   []*Error
	joined []joined      // to be done when all parameters are resolved
	uses   map[Place]Use // nil until it is needed
}

// failf reports an error in the fact named key, at the place that specified it.
func (r *resolver) failf(key, format string, args ...any) {
	r.errorf(format, args...).Span = r.span[key]
}

// errorf adds an error without a position and returns it, so that the caller can set one.
func (r *resolver) errorf(format string, args ...any) *Error {
	e := &Error{Msg: fmt.Sprintf(format, args...)}
	r.errs = append(r.errs, e)
	return e
}

// pragmasOf selects the pragmas of k. If any of them belongs to the very line that defines k, only
// those count: kernels in different namespaces can have the same name.
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

// hostLaunch returns the index of the launch to use: the one that req selects, else the first with
// a constant grid and block, else the first; -1 if there is none. It adds a note about launches
// that it ignores, so that a user who expects another one finds out why.
func (r *resolver) hostLaunch(req Request, facts *SourceFacts) int {
	all := hostLaunches(r.k, facts)
	if n := req.Host - 1; slices.Contains(all, n) {
		return n
	}
	if len(all) == 0 {
		return -1
	}
	best := all[0]
	for _, n := range all {
		if facts.Launches[n].constant() {
			best = n
			break
		}
	}
	if len(all) > 1 {
		r.note("the host code launches this kernel at %d places; heddle uses the launch in line %d",
			len(all), facts.Launches[best].Span.Start.Line())
	}
	return best
}

// hostLaunches returns the indices of the launches of k in host code.
func hostLaunches(k *ir.Func, facts *SourceFacts) []int {
	var out []int
	if facts != nil {
		for n := range facts.Launches {
			if l := &facts.Launches[n]; Matches(k, l.Kernel) && l.instantiates(k) {
				out = append(out, n)
			}
		}
	}
	return out
}

// note adds a note for the user.
func (r *resolver) note(format string, args ...any) {
	r.cfg.Notes = append(r.cfg.Notes, fmt.Sprintf(format, args...))
}

// Limits of every CUDA device of compute capability 5.0 and later (CUDA C++ Programming Guide,
// "Technical Specifications per Compute Capability").
const (
	maxThreads = 1024 // of a block
	maxBlockZ  = 64
	maxGridX   = 1<<31 - 1
	maxGridYZ  = 65535
	maxCluster = 16 // blocks; 8 without opt-in

	sharedPlain = 48 << 10 // bytes of a block without opt-in
	// bytes of a block with opt-in, on the devices with the most (9.0 and 10.0)
	sharedOptIn = 227 << 10
)

// maxWarps is the number of warps that an event.Warp can distinguish.
const maxWarps = 1 << 32

// pick returns the fact from the topmost layer that specifies it, with its origin, and remembers
// under key where that is. It returns nil and Default if no layer does.
func pick[T any](r *resolver, key string, get func(Request) *T) (*T, Origin) {
	for _, l := range slices.Backward(r.layers) {
		if v := get(l.req); v != nil {
			r.span[key] = l.at(key)
			return v, l.origin
		}
	}
	return nil, Default
}

// geometry decides block, cluster and grid, in this order: a guessed grid is a multiple of the
// cluster, and OpenCL's global size is divided by the block. It checks the limits last, on the
// resolved values, so that a message can name the origin of each.
func (r *resolver) geometry() {
	g := &r.cfg.Geometry
	g.Block = r.block()
	g.Cluster = r.cluster()
	grid, origin := r.grid()
	if grid == nil {
		d, why := r.code.grid()
		grid = &d
		if r.cfg.Origins["cluster"] == Default && ir.HasPairs(r.k) {
			g.Cluster = event.Dim3{X: 2, Y: 1, Z: 1}
			r.cfg.Reasons["cluster"] = "the kernel is for pairs of blocks, .cta_group::2"
		}
		if c := g.Cluster; c.Count() > 1 {
			d = event.Dim3{X: roundUp(d.X, c.X), Y: roundUp(d.Y, c.Y), Z: roundUp(d.Z, c.Z)}
			why = "rounded up to a multiple of the cluster"
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

// grid returns the specified number of blocks, or the global size divided by the block; nil if
// neither is specified. If they are invalid it reports an error and returns one block, so that
// later checks go on.
func (r *resolver) grid() (*event.Dim3, Origin) {
	for _, l := range slices.Backward(r.layers) {
		grid, global := l.req.Grid, l.req.Global
		if grid == nil && global == nil {
			continue
		}
		r.span["grid"] = l.at("grid")
		if global == nil {
			return grid, l.origin
		}
		b := r.cfg.Geometry.Block
		switch {
		case grid != nil:
			r.failf("grid", "both grid %s and global size %s are given (%s); give only one of them",
				Dims(*grid), Dims(*global), l.origin)
		case b.Count() == 0:
		case global.X%b.X != 0 || global.Y%b.Y != 0 || global.Z%b.Z != 0:
			r.failf("grid", "global size %s (%s) is not a multiple of the local size %s (%s) in every "+
				"dimension", Dims(*global), l.origin, Dims(b), r.cfg.Origins["block"])
		default:
			return &event.Dim3{X: global.X / b.X, Y: global.Y / b.Y, Z: global.Z / b.Z}, l.origin
		}
		return &event.Dim3{X: 1, Y: 1, Z: 1}, l.origin // after an error
	}
	return nil, Default
}

// within returns the largest block up to d that divides the global size, if one is given: the
// choice that an OpenCL runtime makes for an unspecified local size. Without a global size it
// returns d.
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

// block returns the threads of a block: what is specified, .reqntid, or that of defaultBlock. A
// specification that differs from .reqntid is an error, since the hardware refuses the launch.
func (r *resolver) block() event.Dim3 {
	block, origin := pick(r, "block", func(q Request) *event.Dim3 { return q.Block })
	reqd := r.k.ReqNTID
	switch {
	case reqd.Count() > 0 && origin == FromRelation:
		block, origin = &reqd, FromPTX
	case reqd.Count() > 0 && block != nil && *block != reqd:
		r.failf("block", "block %s (%s) contradicts .reqntid %s of kernel %s", Dims(*block), origin,
			Dims(reqd), r.k.Demangled)
	case reqd.Count() > 0 && block == nil:
		block, origin = &reqd, FromPTX
	case block == nil:
		block, origin = r.defaultBlock()
	}
	r.cfg.Origins["block"] = origin
	return *block
}

// defaultBlock returns the block where nothing specifies one.
func (r *resolver) defaultBlock() (*event.Dim3, Origin) {
	if d, class, ok := libraryBlock(r.k); ok {
		r.cfg.Reasons["block"] = class
		return &d, FromLibrary
	}
	d := r.within(r.code.block(r.k.MaxNTID))
	if r.k.MaxNTID.Count() > 0 {
		return &d, FromPTX
	}
	return &d, Default
}

// cluster returns the blocks of a cluster; without clusters that is one.
func (r *resolver) cluster() event.Dim3 {
	cluster, origin := pick(r, "cluster", func(q Request) *event.Dim3 { return q.Cluster })
	reqd := r.k.ReqCluster
	switch {
	case reqd.Count() > 0 && cluster != nil && *cluster != reqd:
		r.failf("cluster", "cluster %s (%s) contradicts .reqnctapercluster %s of kernel %s",
			Dims(*cluster), origin, Dims(reqd), r.k.Demangled)
	case reqd.Count() > 0 && cluster == nil:
		cluster, origin = &reqd, FromPTX
	case cluster == nil:
		cluster = &defaultCluster
	}
	r.cfg.Origins["cluster"] = origin
	return *cluster
}

// checkGeometry reports dimensions that no device accepts, or that contradict the kernel.
func (r *resolver) checkGeometry() {
	g := r.cfg.Geometry
	b, o := g.Block, r.cfg.Origins["block"]
	switch {
	case b.X == 0 || b.Y == 0 || b.Z == 0:
		r.failf("block", "block %s (%s) has a dimension of 0", Dims(b), o)
	case b.Count() > maxThreads || b.X > maxThreads || b.Y > maxThreads || b.Z > maxThreads:
		r.failf("block", "block %s (%s) has %d threads; a block has at most %d", Dims(b), o, b.Count(),
			maxThreads)
	case b.Z > maxBlockZ:
		r.failf("block", "block %s (%s) has a z dimension of %d; it is at most %d", Dims(b), o, b.Z,
			maxBlockZ)
	case r.k.MaxNTID.Count() > 0 && b.Count() > r.k.MaxNTID.Count():
		r.failf("block", "block %s (%s) has %d threads; .maxntid (__launch_bounds__) of kernel %s "+
			"allows at most %d",
			Dims(b), o, b.Count(), r.k.Demangled, r.k.MaxNTID.Count())
	}
	d, o := g.Grid, r.cfg.Origins["grid"]
	switch {
	case d.X == 0 || d.Y == 0 || d.Z == 0:
		r.failf("grid", "grid %s (%s) has a dimension of 0", Dims(d), o)
	case d.X > maxGridX || d.Y > maxGridYZ || d.Z > maxGridYZ:
		r.failf("grid", "grid %s (%s) is too large; a grid has at most %d,%d,%d blocks in x, y, z",
			Dims(d), o, maxGridX, maxGridYZ, maxGridYZ)
	}
	if len(r.errs) > 0 {
		return
	}
	// The product of three dimensions within these limits fits in 64 bits; the number of warps might
	// not.
	if blocks := d.Count(); blocks > maxWarps/uint64(g.WarpsPerBlock()) {
		r.failf("grid", "grid %s of blocks of %s threads has more than 2^32 warps, which heddle does "+
			"not support; give a smaller grid", Dims(d), Dims(b))
	}
	r.checkCluster()
}

// checkCluster reports a cluster that no device accepts, or that does not divide the grid.
func (r *resolver) checkCluster() {
	c, d := r.cfg.Geometry.Cluster, r.cfg.Geometry.Grid
	switch {
	case c.X == 0 || c.Y == 0 || c.Z == 0:
		r.failf("cluster", "cluster %s has a dimension of 0", Dims(c))
	case c.X > maxCluster || c.Y > maxCluster || c.Z > maxCluster || c.Count() > maxCluster:
		r.failf("cluster", "cluster %s has %d blocks; a cluster has at most %d", Dims(c), c.Count(),
			maxCluster)
	case d.X%c.X != 0 || d.Y%c.Y != 0 || d.Z%c.Z != 0:
		r.failf("grid", "grid %s (%s) is not a multiple of the cluster %s in every dimension", Dims(d),
			r.cfg.Origins["grid"], Dims(c))
	}
}

// roundUp returns the smallest multiple of unit that is at least n; n for a unit of 0.
func roundUp(n, unit uint32) uint32 {
	if unit == 0 {
		return n
	}
	return (n + unit - 1) / unit * unit
}

// shared decides the dynamic shared memory. If its size is unspecified, a kernel that uses some
// gets all that a block can have without opt-in: with less, heddle would report accesses as out of
// bounds that are not.
func (r *resolver) shared() {
	size, origin := pick(r, "shared", func(q Request) *uint32 { return q.Shared })
	if size == nil {
		n := uint32(0)
		if r.code.dynamic && r.code.static < sharedPlain {
			n = (sharedPlain - uint32(r.code.static)) &^ 15
			r.cfg.Reasons["shared"] = "the most that a block can have without opt-in"
		}
		size = &n
	}
	r.cfg.DynShared = *size
	r.cfg.Origins["shared"] = origin
	switch total := uint64(*size) + r.code.static; {
	case total > sharedOptIn && slices.ContainsFunc(r.layers,
		func(l layer) bool { return l.req.AnyShared }):
		r.cfg.Oversize = total
	case total > sharedOptIn:
		r.failf("shared", "%d bytes of dynamic (%s) and %d bytes of static shared memory; a block has "+
			"at most %d bytes on any GPU",
			*size, origin, r.code.static, sharedOptIn)
	case total > sharedPlain && !r.optIn:
		r.note("%d bytes of shared memory per block: more than %d need "+
			"cudaFuncAttributeMaxDynamicSharedMemorySize on hardware", total, sharedPlain)
	}
}

// Dims formats dimensions as flags do: 4, 4,2 or 4,2,2, without trailing ones.
func Dims(d event.Dim3) string {
	switch {
	case d.Z != 1:
		return fmt.Sprintf("%d,%d,%d", d.X, d.Y, d.Z)
	case d.Y != 1:
		return fmt.Sprintf("%d,%d", d.X, d.Y)
	}
	return fmt.Sprint(d.X)
}
