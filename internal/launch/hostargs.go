package launch

import (
	"fmt"
	"slices"
	"strconv"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/source"
)

// follow decides what the launch of host code with index n in facts specifies, and adds it below
// the other layers. It returns nil if n is negative.
func (r *resolver) follow(req Request, facts *SourceFacts, n int) *plan {
	if n < 0 {
		return nil
	}
	l := &facts.Launches[n]
	p := r.newPlan(l, &req, &facts.chosen)
	l = p.host
	r.cfg.Launch, r.cfg.Host, r.cfg.Cooperative = l.Span, n+1, l.Cooperative
	r.optIn = l.Limit != nil
	line := l.Span.Start.Line()
	for _, u := range l.Unresolved {
		r.note("launch in line %d of the host code: %s", line, u)
	}
	relation := layer{origin: FromRelation, span: l.Span}
	host := layer{origin: FromHost, span: l.Span}
	for _, what := range []string{"grid", "block"} {
		axes := l.Grid
		if what == "block" {
			axes = l.Block
		}
		d, origin := p.dim(axes)
		to := &host.req
		if origin == FromRelation {
			to = &relation.req
			r.cfg.Reasons[what] = p.reasonOf(axes[:])
		}
		if what == "grid" {
			to.Grid = d
		} else {
			to.Block = d
		}
	}
	if n, origin, ok := p.value(l.Shared); ok && n >= 0 && n <= 1<<31 {
		bytes := uint32(n)
		if origin == FromRelation {
			relation.req.Shared = &bytes
			r.cfg.Reasons["shared"] = p.reason(l.Shared)
		} else {
			host.req.Shared = &bytes
		}
	}
	r.layers = append([]layer{relation, host}, r.layers...)
	r.cfg.Unknowns = p.unknownsUsed()
	return p
}

// dim computes the dimensions of a launch; nil if they are not known or are none.
func (p *plan) dim(axes [3]*Expr) (*event.Dim3, Origin) {
	var d [3]uint32
	least := FromHost
	for i, e := range axes {
		n, origin, ok := p.value(e)
		if !ok || n < 1 || n > 1<<32-1 {
			return nil, Default
		}
		d[i] = uint32(n)
		least = min(least, origin)
	}
	return &event.Dim3{X: d[0], Y: d[1], Z: d[2]}, least
}

// reasonOf explains dimensions that follow from guesses.
func (p *plan) reasonOf(axes []*Expr) string {
	last := len(axes)
	for last > 1 {
		if n, ok := axes[last-1].Constant(); !ok || n != 1 {
			break
		}
		last--
	}
	if last == 1 {
		return p.reason(axes[0])
	}
	text := hostReason
	var all []string
	for i, e := range axes[:last] {
		if i > 0 {
			text += ", "
		}
		text += e.String()
		for _, u := range e.Unknowns() {
			if !p.fixed[u] && !slices.Contains(all, u) {
				all = append(all, u)
			}
		}
	}
	for i, u := range all {
		text += [...]string{" with ", ", "}[min(i, 1)] + u + " = " + strconv.FormatInt(p.values[u], 10)
	}
	return text + " guessed"
}

// unknownsUsed returns the guessed values in the order of their appearance.
func (p *plan) unknownsUsed() []Unknown {
	var out []Unknown
	seen := make(map[string]bool)
	for _, f := range p.facts {
		for _, u := range f.expr.Unknowns() {
			if !p.fixed[u] && !seen[u] {
				seen[u] = true
				out = append(out, Unknown{Name: u, Value: p.values[u], Span: p.host.Span})
			}
		}
	}
	return out
}

// constant reports whether grid and block are constant.
func (l *HostLaunch) constant() bool {
	for i := range 3 {
		if _, ok := l.Grid[i].Constant(); !ok {
			return false
		}
		if _, ok := l.Block[i].Constant(); !ok {
			return false
		}
	}
	return true
}

// instantiates reports whether the launch can be one of kernel k, as far as integers among its
// template arguments tell.
func (l *HostLaunch) instantiates(k *ir.Func) bool {
	for i, t := range templateArguments(k.Demangled) {
		n, ok := parseCInteger(t)
		if !ok || i >= len(l.Template) {
			continue
		}
		if m, ok := l.Template[i].Constant(); ok && m != n {
			return false
		}
	}
	return true
}

// hostArgs uses the arguments of the host launch: numbers, the contents of buffers and the fields
// of structs. A number that does not fit the parameter is ignored: the host code may convert it.
func (r *resolver) hostArgs(slots []slot, p *plan) {
	if p == nil || len(p.host.Args) != len(slots) {
		return
	}
	for i := range slots {
		v, a := slots[i].v, &p.host.Args[i]
		switch {
		case isPointer(v):
		case isStruct(v):
			r.hostFields(&slots[i], a, p)
		default:
			r.hostNumber(&slots[i], a, p)
		}
	}
	exact := r.exact(slots, p)
	for i := range slots {
		if a := &p.host.Args[i]; isPointer(slots[i].v) && a.Pointer != nil {
			r.hostContents(&slots[i], a.Pointer, exact)
		}
	}
}

// unplaced notes the pointers of which neither the host code nor anything else tells where they
// point.
func (r *resolver) unplaced(slots []slot, p *plan) {
	if p == nil || len(p.host.Args) != len(slots) {
		return
	}
	note := func(s *slot, field int, a *HostArg, name string) {
		given := s.at(place{field: field})
		if (given == nil || given.origin.Guessed()) && !a.placed() {
			r.cfg.Unplaced = append(r.cfg.Unplaced, name)
		}
	}
	for i := range slots {
		s, a := &slots[i], &p.host.Args[i]
		if isPointer(s.v) {
			note(s, -1, a, paramName(s.v))
			continue
		}
		for _, off := range s.v.PtrFields {
			var member HostArg // nothing is known of one that is not listed
			for _, f := range a.Fields {
				if int(f.Offset) == off {
					member = f.Value
				}
			}
			note(s, off, &member, fieldName(paramName(s.v), off))
		}
	}
}

// placed reports whether host code tells where a pointer points. A null pointer is no fact:
// sketches of host code pass one for memory that they do not allocate.
func (a *HostArg) placed() bool {
	if a.Pointer != nil {
		return !a.Pointer.Unknown
	}
	n, ok := a.Value.Constant()
	return ok && n == 0
}

// spec returns the specification of a whole parameter by the host code.
func (r *resolver) spec(v *ir.Var, kind ArgKind, text string) ArgSpec {
	return ArgSpec{Param: paramName(v), Offset: -1, Kind: kind, Text: text}
}

// hostNumber uses a number.
func (r *resolver) hostNumber(s *slot, a *HostArg, p *plan) {
	text, origin := a.Float, FromHost
	if text == "" {
		n, from, ok := p.value(a.Value)
		if !ok {
			return
		}
		text, origin = strconv.FormatInt(n, 10), from
	}
	if _, err := encodeLiteral(text, s.v.Type, r.readAsFloat(s.v)); err != nil {
		return
	}
	if origin == FromRelation {
		if s.v.Type.IsFloat() || r.readAsFloat(s.v) {
			return // a float that heddle guessed as an integer
		}
		r.cfg.Reasons["arg "+paramName(s.v)] = p.reason(a.Value)
	}
	s.set(assigned{r.spec(s.v, ArgValue, text), origin})
}

// hostFields uses the integers among the fields of a struct.
func (r *resolver) hostFields(s *slot, a *HostArg, p *plan) {
	for _, f := range a.Fields {
		n, origin, ok := p.value(f.Value.Value)
		if !ok || f.Value.Pointer != nil && f.Size == 8 && slices.Contains(s.v.PtrFields,
			int(f.Offset)) || f.Offset+f.Size > int64(s.v.Size) {
			continue
		}
		spec := r.spec(s.v, ArgValue, fmt.Sprintf("s%d:%d", 8*f.Size, n))
		spec.Offset = int(f.Offset)
		if n > 1<<(8*f.Size-1)-1 {
			spec.Text = "u" + spec.Text[1:]
		}
		if _, err := encodeLiteral(spec.Text[slices.Index([]byte(spec.Text), ':')+1:],
			literalTypes[spec.Text[:slices.Index([]byte(spec.Text), ':')]], false); err != nil {
			continue
		}
		s.set(assigned{spec, origin})
	}
}

// exact reports whether nothing about the shape and the numbers of the launch is a guess. Only then
// do the sizes of allocations bound buffers: an access beyond them for a guessed size is no bug.
func (r *resolver) exact(slots []slot, p *plan) bool {
	if len(p.unknownsUsed()) > 0 || !p.host.constant() {
		return false
	}
	for i := range slots {
		if v := slots[i].v; !isPointer(v) && slots[i].value == nil {
			return false
		}
	}
	return true
}

// hostContents uses the contents and, if exact is set, the size of a buffer.
func (r *resolver) hostContents(s *slot, h *HostPointer, exact bool) {
	size := uint64(0)
	if n, ok := h.Size.Constant(); ok && n > 0 && exact {
		size = uint64(n)
	}
	if start, ok := h.Offset.Constant(); h.Fill >= 0 && ok && start == 0 {
		spec := r.spec(s.v, ArgBuffer, "")
		switch {
		case len(h.Data) > 0:
			spec.Kind, spec.Text = ArgBytes, HexBytes(h.Data)
			if size == 0 {
				spec.Text += andZeros
			}
		case h.Fill > 0:
			spec.Fill, spec.Value, spec.Size = FillValue, uint32(h.Fill)*0x01010101, size
		default:
			spec.Size = size
		}
		s.set(assigned{spec, FromHost})
		return
	}
	if size > 0 {
		spec := r.spec(s.v, ArgBuffer, "")
		spec.Size = size
		s.set(assigned{spec, FromRelation})
		r.cfg.Reasons["arg "+paramName(s.v)] = fmt.Sprintf("%s%d bytes; contents guessed",
			hostReason, size)
	}
}

// unknownOffset is where a pointer is taken to point that has an unknown distance from the start of
// its memory: far enough for accesses before it.
const unknownOffset = 1 << 16

// A place is a pointer among the arguments: a parameter, or a pointer in a struct parameter.
type place struct {
	param int
	field int // byte in the struct; -1 for the parameter itself
	host  *HostPointer
	text  string // of the host code
	at    int64  // where it points, in bytes from what the host code knows as the start
}

// hostAddresses makes pointers share buffers as the host code has it, and places pointers within
// buffers. What is specified otherwise stays; other contents that heddle tries do not separate
// buffers that the host code shares.
func (r *resolver) hostAddresses(slots []slot, p *plan) {
	if p == nil || len(p.host.Args) != len(slots) {
		return
	}
	groups := make(map[int][]place)
	var order []int
	add := func(m place) {
		n, _, ok := p.value(m.host.Offset)
		if !ok || n > maxBuffer || n < -maxBuffer {
			n = unknownOffset
		}
		m.at = n
		if groups[m.host.Root] == nil {
			order = append(order, m.host.Root)
		}
		groups[m.host.Root] = append(groups[m.host.Root], m)
	}
	for i := range slots {
		v, a := slots[i].v, &p.host.Args[i]
		switch {
		case isPointer(v) && v.PtrSpace != event.Shared && a.Pointer != nil:
			add(place{param: i, field: -1, host: a.Pointer, text: a.Text})
		case isStruct(v):
			for _, f := range a.Fields {
				if f.Value.Pointer != nil && slices.Contains(v.PtrFields, int(f.Offset)) {
					add(place{param: i, field: int(f.Offset), host: f.Value.Pointer, text: f.Value.Text})
				}
			}
		}
	}
	for _, root := range order {
		r.share(slots, p, groups[root])
	}
}

// at returns what is specified for a place; nil if nothing is.
func (s *slot) at(m place) *assigned {
	if m.field < 0 {
		return s.value
	}
	for i := range s.fields {
		if s.fields[i].Offset == m.field {
			return &s.fields[i]
		}
	}
	return nil
}

// widen removes the bound of a buffer to whose byte at, beyond its end, the host code points.
func (a *assigned) widen(at uint64) {
	switch {
	case a.Size > 0 && at > a.Size:
		a.Size = 0
	case a.Kind == ArgBytes && !a.unbounded() && at > 0:
		a.Text += andZeros
	}
}

// share makes the places of members point into one buffer. A parameter owns it, if there is one.
func (r *resolver) share(slots []slot, p *plan, members []place) {
	owner := members[0]
	for _, m := range members[1:] {
		if (m.field < 0) == (owner.field < 0) && m.at < owner.at || m.field < 0 && owner.field >= 0 {
			owner = m
		}
	}
	low, high := owner.at, owner.at
	for _, m := range members {
		low, high = min(low, m.at), max(high, m.at)
	}
	first := owner.at - min(low, 0) // from the start of the buffer
	s := &slots[owner.param]
	switch was := s.at(owner); {
	case was == nil && first > 0:
		spec := r.spec(s.v, ArgBuffer, "")
		spec.Offset, spec.At = owner.field, uint64(first)
		s.set(assigned{spec, FromRelation})
		r.cfg.Reasons["arg "+paramName(s.v)] = hostReason + owner.text + "; contents guessed"
	case was != nil && was.origin <= FromHost && was.At == 0 && was.Kind != ArgValue:
		was.At = uint64(first)
		was.widen(uint64(high - owner.at + first))
	}
	r.joined = append(r.joined, joined{owner, members})
	if owner.field >= 0 {
		return // a buffer of a field cannot be shared by name
	}
	for _, m := range members {
		t := &slots[m.param]
		was := t.at(m)
		if m == owner || was != nil && was.origin > FromHost || m.at < owner.at {
			continue
		}
		spec := r.spec(t.v, ArgAlias, paramName(s.v))
		spec.Offset, spec.At = m.field, uint64(m.at-owner.at)
		_, origin, ok := p.value(m.host.Offset)
		_, other, ok2 := p.value(owner.host.Offset)
		if !ok || !ok2 {
			origin = FromRelation
		}
		delete(r.cfg.Reasons, "arg "+paramName(t.v))
		t.set(assigned{spec, min(origin, other)})
	}
}

// joined are pointers that point into one buffer, which owner has.
type joined struct {
	owner   place
	members []place
}

// join makes pointers in struct parameters share the buffer of a pointer in a struct, unless they
// are specified otherwise, and marks the places in shared buffers that are guesses. All parameters
// are resolved before.
func (r *resolver) join(slots []slot, p *plan) {
	for _, j := range r.joined {
		b, from, _ := r.target(j.owner)
		if b == nil {
			continue
		}
		for _, m := range j.members {
			was := slots[m.param].at(m)
			if m == j.owner || was != nil && was.origin > FromHost {
				continue
			}
			a := &r.cfg.Args[m.param]
			if at := from + uint64(m.at-j.owner.at); j.owner.field >= 0 && a.pointer(m.field) != nil &&
				b.pointedAt(at) == nil {
				a.setPointer(m.field, b, at)
			}
			if of, _, guessed := r.target(m); of == b {
				*guessed = !p.apart(m.host.Offset, j.owner.host.Offset)
			}
		}
	}
}

// target returns where a place points: a buffer, the byte in it, and whether that is a guess. The
// buffer is nil if it points into none.
func (r *resolver) target(m place) (b *Buffer, at uint64, guessed *bool) {
	a := &r.cfg.Args[m.param]
	if m.field < 0 {
		return a.Buffer, a.Offset, &a.Guessed
	}
	if f := a.pointer(m.field); f != nil {
		return f.Buffer, f.At, &f.Guessed
	}
	return nil, 0, nil
}

// apart reports whether the distance of two places in one buffer is known.
func (p *plan) apart(a, b *Expr) bool {
	if a != nil && b != nil && a.Equal(b) {
		return true
	}
	_, from, ok := p.value(a)
	_, other, ok2 := p.value(b)
	return ok && ok2 && min(from, other) >= FromHost
}

// pointer returns the pointer at byte off of a struct; nil if there is none.
func (a *Arg) pointer(off int) *PointerField {
	i := slices.IndexFunc(a.Fields, func(f PointerField) bool { return f.Offset == off })
	if i < 0 {
		return nil
	}
	return &a.Fields[i]
}

// symbolOf returns the module variable that a pointer of host code points into: the address is from
// cudaGetSymbolAddress, or the variable is managed and no pointer, so that host code may name it.
// Memory of a known size is that of another variable with this name.
func (r *resolver) symbolOf(p *HostPointer, facts *SourceFacts) string {
	if p.Symbol != "" || p.Size != nil || facts == nil || !facts.changed[p.Name] || r.k.Module == nil {
		return p.Symbol
	}
	for _, v := range r.k.Module.Vars {
		if BaseName(v.Shown()) == p.Name && v.Space == event.Global && (len(v.Shape.Dims) > 0 || v.Size != 8) {
			return p.Name
		}
	}
	return ""
}

// again notes what earlier launches of the kernel may have changed: memory that pointers of the host
// code point to, and variables that no host code sets. It looks at all launches of the kernel, since
// one stands for those that differ from it in nothing else.
func (r *resolver) again(p *plan, facts *SourceFacts) {
	if p == nil || r.cfg.Vars != nil {
		return
	}
	for _, n := range hostLaunches(r.k, facts) {
		r.launchedAgain(&facts.Launches[n], facts)
	}
}

// launchedAgain is again for one launch.
func (r *resolver) launchedAgain(l *HostLaunch, facts *SourceFacts) {
	note := func(key string, at source.Span) {
		if _, known := r.cfg.Again[key]; known || !at.IsValid() {
			return
		}
		if r.cfg.Again == nil {
			r.cfg.Again = make(map[string]source.Span)
		}
		r.cfg.Again[key] = at
	}
	for i := range r.cfg.Args {
		if key := "arg " + r.cfg.Args[i].Name; i < len(l.Args) && l.Args[i].Pointer != nil &&
			isPointer(r.k.Params[i]) && r.cfg.Origins[key] <= FromHost {
			note(key, l.Args[i].Pointer.Again)
		}
	}
	for _, v := range ir.ReachableVars(r.k) {
		name := BaseName(v.Shown())
		if _, changed := facts.changed[name]; v.Space == event.Global && !changed {
			note("variable "+name, l.Again)
		}
	}
}

// symbols sets the module variables of the device that the host code sets before the launch.
func (r *resolver) symbols(p *plan, facts *SourceFacts) {
	if p == nil {
		return
	}
	for i := range r.cfg.Args {
		if i < len(p.host.Args) && p.host.Args[i].Pointer != nil && isPointer(r.k.Params[i]) &&
			r.cfg.Origins["arg "+r.cfg.Args[i].Name] <= FromHost {
			r.cfg.Args[i].Symbol = r.symbolOf(p.host.Args[i].Pointer, facts)
		}
	}
	for _, name := range sortedKeys(p.host.Symbols) {
		h := p.host.Symbols[name]
		a := Arg{Name: name}
		origin := FromHost
		switch {
		case h.Data != nil:
			a.Bits = h.Data
		case h.Pointer != nil && (h.Size == 8 || h.Size == 0):
			a.Buffer, a.Offset = r.bufferOf(h.Pointer, p)
			origin = FromRelation
			if a.Buffer == nil {
				a.Buffer = &Buffer{Name: name}
			}
		case h.Value != nil && h.Size > 0 && h.Size <= 8:
			n, from, ok := p.value(h.Value)
			if !ok {
				continue
			}
			a.Bits = make([]byte, h.Size)
			put(a.Bits, uint64(n))
			origin = from
		default:
			continue
		}
		if r.cfg.Symbols == nil {
			r.cfg.Symbols = make(map[string]Arg)
		}
		r.cfg.Symbols[name] = a
		r.cfg.Origins["symbol "+name] = origin
	}
}

// bufferOf returns the buffer that a pointer of the host points into, if an argument does, too.
func (r *resolver) bufferOf(h *HostPointer, p *plan) (*Buffer, uint64) {
	n, _, ok := p.value(h.Offset)
	if !ok {
		n = unknownOffset
	}
	for i := range r.cfg.Args {
		if i >= len(p.host.Args) || r.cfg.Args[i].Buffer == nil {
			continue
		}
		if o := p.host.Args[i].Pointer; o != nil && o.Root == h.Root {
			m, _, ok := p.value(o.Offset)
			if !ok {
				m = unknownOffset
			}
			return r.cfg.Args[i].Buffer, uint64(max(int64(r.cfg.Args[i].Offset)+n-m, 0))
		}
	}
	return nil, uint64(max(n, 0))
}
