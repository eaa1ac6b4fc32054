package launch

import (
	"cmp"
	"slices"
	"strings"

	"heddle/internal/source"
)

// HostLaunch is one kernel<<<grid, block, shared>>>(args) in host code, with the values that its
// expressions have there. What heddle does not know is nil, or an Expr with unknowns.
type HostLaunch struct {
	Kernel string // unqualified name
	// Template are the template arguments; nil for those that are no integers.
	Template    []*Expr
	Grid, Block [3]*Expr // blocks, threads per block; all nil if not understood
	// Open says for grid and block that the value has an unknown type: it may be an integer, which
	// the expressions assume, or a dim3.
	Open   [2]bool
	Shared *Expr // bytes of dynamic shared memory
	// Limit is the bytes of dynamic shared memory that the host allows the kernel
	// (cudaFuncAttributeMaxDynamicSharedMemorySize); nil if it does not say.
	Limit      *Expr
	Args       []HostArg          // by position
	Symbols    map[string]HostArg // module variables that the host set before
	Unresolved []string           // "grid: blocks() is not understood"
	// Again is an earlier launch of the kernel, if the host code launches no other kernel in
	// between: what it left in variables of the device is there; invalid if none is known.
	Again source.Span
	Span  source.Span // from the name of the kernel to ">>>"
	// Cooperative says that the blocks run at the same time (cudaLaunchCooperativeKernel), as
	// barriers of the grid need (CUDA C++ Programming Guide, "Grid Synchronization").
	Cooperative bool
	// Doubts are the constructs that facts may depend on although heddle may not follow them
	// completely, by "grid", "block", and the numbers of arguments from 0.
	Doubts map[string]*Construct
}

// HostArg is an argument of a launch in host code. Which of its forms counts depends on the type of
// the parameter: something unknown can be a number or a pointer.
type HostArg struct {
	Text    string       // in the source
	Value   *Expr        // an integer
	Float   string       // a floating-point constant, as a literal
	Pointer *HostPointer // a pointer
	Fields  []HostField  // of a struct with known layout
	Data    []byte       // Symbols: the contents of the variable
	Size    int64        // Symbols: bytes of the value; 0 if unknown
}

// HostField is a member of a struct that is passed by value.
type HostField struct {
	Offset, Size int64 // bytes
	Value        HostArg
}

// HostPointer is an address in host code: two pointers with one root point into the same memory.
type HostPointer struct {
	Root   int    // numbers the memory within the launch
	Name   string // what the host calls it
	Offset *Expr  // bytes from its start; nil if not known
	Size   *Expr  // bytes of the memory; nil if not known
	Symbol string // the module variable that it is, from cudaGetSymbolAddress
	// Unknown says that the host code does not tell where it points: other pointers may point
	// there.
	Unknown bool
	// Data are the contents before the launch, followed by bytes of Fill; nil and Fill < 0 if
	// unknown.
	Data []byte
	Fill int
	// Again is an earlier launch of the kernel that may have changed the memory, if nothing has set
	// it since; invalid if none is known.
	Again source.Span
}

// What this can get wrong: it reads no headers of the system, and decides no #if but the simplest.
// The origin of the fact (host code) is in every report, and any other origin except PTX overrides
// it.

// hostLaunches collects the launches of a file by executing its functions: first those that no
// other function names, such as main, then those with launches that were not reached.
func (s *SourceFacts) hostLaunches(f *source.File, toks []token, pre *Preprocessing) {
	if !slices.ContainsFunc(toks, func(t token) bool {
		return t.is("<<<") || isLaunchCall(t) || t.kind == tokDirective
	}) {
		return
	}
	var defines []string
	if pre != nil {
		defines = pre.Defines
	}
	toks, opaque := preprocess(toks, defines)
	toks = withLaunches(toks)
	if !slices.ContainsFunc(toks, func(t token) bool { return t.is("<<<") }) {
		return
	}
	s.changed = changedVariables(toks)
	x := &exec{hostFile: newHostFile(f, toks, opaque), fuel: maxHostWork + 20*len(toks),
		visited: make(map[int]bool), dead: make(map[int]bool), unsure: make(map[int]*Construct),
		ran: make(map[*hostFunc]bool)}
	x.sure = newCertainty(x.hostFile)
	for _, fn := range x.order {
		if !x.mentioned[fn.name] {
			x.root(fn)
		}
	}
	for _, fn := range x.order {
		if x.loose[fn.name] || x.launching[fn.name] && !x.ran[fn] {
			x.root(fn)
		}
	}
	x.remaining()
	slices.SortStableFunc(x.launches, func(a, b HostLaunch) int {
		return cmp.Compare(a.Span.Start, b.Span.Start)
	})
	for i, d := range x.unsure {
		if name, _, ok := x.nameBefore(i); ok && d != nil && !x.visited[i] {
			s.unmade = append(s.unmade, unmade{name.text, d})
		}
	}
	slices.SortFunc(s.unmade, func(a, b unmade) int {
		return cmp.Compare(a.beyond.Span.Start, b.beyond.Span.Start)
	})
	s.Launches = x.launches
}

// root executes a function that the host may call with any arguments.
func (x *exec) root(f *hostFunc) {
	if !x.spend(len(x.globalsAt)) {
		return
	}
	x.clear()
	for _, at := range x.enumsAt {
		x.scope = x.scopes[at[0]]
		x.enumerators(at)
	}
	for _, at := range x.globalsAt {
		x.scope = x.scopes[at[0]]
		x.declaration(at[0], at[1])
	}
	x.scope = hostScope{}
	x.outside()
	if len(x.funcs["main"]) == 0 { // other files call it
		x.elsewhere()
	}
	x.call(f, nil, nil, nil)
}

// enumerators declares the constants of an enumeration.
func (x *exec) enumerators(at [2]int) {
	next := number(0)
	for _, p := range splitList(x.toks[at[0]:max(at[0], at[1])]) {
		if len(p) == 0 || p[0].kind != tokIdent {
			continue
		}
		if len(p) > 2 && p[1].is("=") {
			next = x.eval(p[2:]).integer()
		}
		// The underlying type may be another, and so may what operators do.
		v := integer(next).of(0, false)
		if slices.ContainsFunc(x.funcs["operator"], (*hostFunc).takesEnumeration) {
			v = x.object(p[0].text)
			v.real = true // nothing is computed with it
		}
		x.declare(p[0].text, ctype{class: classInteger, fixed: true}, v, true)
		if next != nil {
			next = operation(OpAdd, next, number(1))
		}
	}
}

// clear forgets all state of an execution.
func (x *exec) clear() {
	x.globals, x.externs = make(map[string]*cell), make(map[string]*cell)
	x.symbols, x.limits = make(map[string]*cell), make(map[string]*cell)
	x.used, x.texts = make(map[string]int), make(map[string]opaqueText)
	x.frame, x.journal, x.calls = nil, nil, nil
	x.escaped, x.aliases, x.kept, x.switched = nil, nil, nil, nil
	x.isKept = make(map[*root]bool)
	x.last = &cell{val: value{kind: aMemory, fill: -1}}
}

// remaining adds the launches that were not reached, without facts: too much work came before them,
// or heddle did not understand the code around them. If calls were not executed because of too much
// work or nesting, it adds all launches, since each may be made with other values, too.
func (x *exec) remaining() {
	if x.deep || x.fuel <= 0 {
		clear(x.visited)
	}
	x.fuel = 20 * len(x.toks)
	x.clear()
	for i, t := range x.toks {
		if t.is("<<<") && !x.visited[i] && !x.dead[i] {
			x.launch(i)
		}
	}
}

// launch records the launch whose "<<<" is at i. It returns the index of the last token of it.
func (x *exec) launch(i int) (end int, ok bool) {
	name, targs, ok := x.nameBefore(i)
	if !ok {
		return i, false
	}
	config, shut := x.splitAt(i+1, ">>>")
	if shut < 0 || len(config) < 2 {
		return i, false
	}
	var args [][]token
	end = shut
	if shut+1 < len(x.toks) && x.toks[shut+1].is("(") {
		end = x.closer[shut+1]
		args = splitList(x.toks[shut+2 : max(end, shut+2)])
	}
	x.met++
	x.effectsOfLaunch([2]int{i + 1, shut}, [2]int{shut + 1, end})
	if x.dry > 0 {
		x.launched(i, args)
		return end, true
	}
	x.visited[i] = true
	l := HostLaunch{Kernel: name.text, Span: spanOf(x.file, min(name.start, x.toks[shut].end),
		max(name.end, x.toks[shut].end)), Cooperative: x.toks[i].cooperative}
	for _, t := range splitList(targs) {
		l.Template = append(l.Template, x.templateArgument(t))
	}
	l.configure(x, config)
	l.Doubts = x.sure.doubts([2]int{i + 1, shut}, [2]int{min(shut+2, end), end})
	if c := x.limits[l.Kernel]; c != nil {
		l.Limit = c.val.integer()
	}
	roots := make(map[*root]int)
	for _, a := range args {
		if len(a) == 0 {
			l.Args = append(l.Args, HostArg{})
			continue
		}
		v := x.known(a)
		h := x.argument(v, text(a), roots)
		if p, ok := v.pointer(); ok && h.Pointer != nil && !p.root.unknown && p.root.symbol == "" {
			h.Pointer.Again = x.again(p.root.mem, name)
		}
		if t := x.structOf(a); t.rec != nil && t.ptr == 0 {
			h.Fields = x.fields(v, t.rec, roots)
		}
		l.Args = append(l.Args, h)
	}
	for _, name := range sortedKeys(x.symbols) {
		c := x.symbols[name]
		if l.Symbols == nil {
			l.Symbols = make(map[string]HostArg)
		}
		a := x.argument(c.val, name, roots)
		a.Size = c.typ.bytes()
		l.Symbols[name] = a
	}
	if len(x.equal) > 0 {
		l.exprs(func(e **Expr) { *e = (*e).given(x.equal) })
	}
	l.Again = x.again(x.last, name)
	l.rename()
	recent := x.launches[max(0, len(x.launches)-maxUnrolled):]
	if k := slices.IndexFunc(recent, func(m HostLaunch) bool { return m.same(&l) }); k >= 0 {
		recent[k].repeated(&l)
	} else if len(x.launches) < maxHostLaunches {
		x.launches = append(x.launches, l)
	}
	x.launched(i, args)
	return end, true
}

// structOf returns the type of an argument that is a variable, or a list in braces after a type.
func (x *exec) structOf(arg []token) ctype {
	if c := x.variable(arg[0].text); len(arg) == 1 && c != nil {
		return c.typ
	}
	t, next, ok := x.parseType(arg, 0)
	if !ok || next >= len(arg) || !arg[next].is("{") || !arg[len(arg)-1].is("}") {
		return ctype{}
	}
	return t
}

// again returns the launch that left the contents of c, if it is one of the kernel with a name:
// another kernel may have prepared them.
func (x *exec) again(c *cell, name token) source.Span {
	if c.val.left == 0 {
		return source.Span{}
	}
	before, _, ok := x.nameBefore(c.val.left - 1)
	if !ok || before.text != name.text {
		return source.Span{}
	}
	return spanOf(x.file, before.start, before.end)
}

// repeated notes of a launch what is known when it is made again.
func (l *HostLaunch) repeated(m *HostLaunch) {
	if !l.Again.IsValid() {
		l.Again = m.Again
	}
	for i := range l.Args {
		if p, q := l.Args[i].Pointer, m.Args[i].Pointer; p != nil && !p.Again.IsValid() {
			p.Again = q.Again
		}
	}
}

// effectsOfLaunch makes unknown what the configuration and the arguments of a launch change. C++
// leaves open in which order they are evaluated, so no value of theirs may rest on one.
func (x *exec) effectsOfLaunch(parts ...[2]int) {
	if !slices.ContainsFunc(parts, func(p [2]int) bool {
		return p[0] < p[1] && x.varies(x.toks[p[0]:p[1]])
	}) {
		return
	}
	met := x.met
	code := func() {
		for _, p := range parts {
			x.effects(p[0], p[1])
		}
	}
	cells := x.rehearse(code)
	if x.met > met && x.dry == 0 { // launches of functions that are called
		code()
	}
	x.forgetAll(cells)
}

// maxHostLaunches bounds the launches of a file.
const maxHostLaunches = 4000

// configure evaluates grid, block and shared memory.
func (l *HostLaunch) configure(x *exec, config [][]token) {
	for k, what := range []string{"grid", "block", "shared"} {
		if k >= len(config) {
			break
		}
		v := x.eval(config[k])
		if k < 2 {
			l.Open[k] = v.kind == anObject
		}
		if k == 2 {
			l.Shared = v.truncated().n
		} else if d := v.truncatedDim(); k == 0 {
			l.Grid = d
		} else {
			l.Block = d
		}
		if v.kind == nothing {
			l.Unresolved = append(l.Unresolved, what+": "+text(config[k])+" is not understood")
		}
	}
}

// truncatedDim returns v as the dimensions of a launch; nil expressions if it is none.
func (v value) truncatedDim() [3]*Expr {
	if isReal(v) {
		v = v.truncated()
	}
	return v.asDim().dim
}

// launched notes what the launch whose "<<<" is at i may have changed: variables of the device, and
// what its arguments point to.
func (x *exec) launched(i int, args [][]token) {
	x.leftBy(x.last, i+1)
	if x.mapped {
		x.epoch++
	}
	for _, a := range args {
		for _, t := range a {
			if c := x.variable(t.text); c != nil && t.kind == tokIdent {
				x.drop(c.val)
				for _, s := range c.val.set {
					x.drop(s.val)
				}
				if c.val.kind == aPointer && !x.isKept[c.val.root] {
					x.leftBy(c.val.root.mem, i+1)
				}
			}
		}
	}
	x.dropKept()
}

// leftBy notes the launch that left the contents of memory, as in value.left.
func (x *exec) leftBy(c *cell, left int) {
	if c.val.kind == aMemory && c.val.left != left {
		v := c.val
		v.left = left
		x.assign(c, v)
	}
}

// argument returns a value as an argument of a launch. roots numbers the memory of the launch.
func (x *exec) argument(v value, text string, roots map[*root]int) HostArg {
	a := HostArg{Text: text, Value: v.integer()}
	if isReal(v) {
		if f, ok := v.float(); ok {
			a.Float = formatFloat(f)
		} else {
			a.Value = nil
		}
		return a
	}
	if v.kind == aMemory {
		a.Data = v.data
		return a
	}
	if v.kind == anInteger {
		return a
	}
	if p, ok := v.pointer(); ok {
		n, seen := roots[p.root]
		if !seen {
			n = len(roots)
			roots[p.root] = n
		}
		m := p.root.mem.val
		a.Pointer = &HostPointer{Root: n, Name: plainName(p.root.name), Offset: p.off, Size: m.n,
			Symbol: p.root.symbol, Unknown: p.root.unknown, Data: m.data, Fill: m.fill}
	}
	return a
}

// fields returns the members of a struct that the host code assigned or read.
func (x *exec) fields(v value, rec *record, roots map[*root]int) []HostField {
	var out []HostField
	for _, f := range rec.fields {
		m, ok := v.member("." + f.name)
		if !ok && v.kind == anObject {
			m, ok = v.obj.members["."+f.name]
		}
		if ok && rec.ok {
			out = append(out, HostField{Offset: f.offset, Size: f.typ.bytes(),
				Value: x.argument(m, f.name, roots)})
		}
	}
	return out
}

// templateArgument returns the value of a template argument; nil for a type.
func (x *exec) templateArgument(toks []token) *Expr {
	t, next, ok := x.parseType(toks, 0)
	if ok && next == len(toks) && (t.class != classOther || t.rec != nil || t.ptr > 0 || t.size > 0) {
		return nil
	}
	return x.eval(toks).integer()
}

// nameBefore returns the name of the kernel before the "<<<" at i, and its template arguments:
// name, ns::name, name<int, 4>.
func (x *exec) nameBefore(i int) (name token, targs []token, ok bool) {
	end := i - 1
	i = end
	if i >= 0 && (x.toks[i].is(">") || x.toks[i].is(">>")) {
		open := x.templateStart(i)
		if open < 0 {
			return token{}, nil, false
		}
		targs = x.toks[open+1 : end]
		i = open - 1
	}
	if i < 0 || x.toks[i].kind != tokIdent {
		return token{}, nil, false
	}
	return x.toks[i], targs, true
}

// templateStart returns the index of the '<' that opens the template arguments that end at i; -1 if
// there is none in this statement.
func (h *hostFile) templateStart(i int) int {
	angles, parens := 0, 0
	for limit := i - maxListTokens; i >= 0 && i > limit; i-- {
		switch t := h.toks[i]; {
		case t.is(";"), t.is("{"), t.is("}"):
			return -1
		case t.is(")"):
			parens++
		case t.is("("):
			parens--
		case parens > 0:
		case t.is(">"):
			angles++
		case t.is(">>"):
			angles += 2
		case t.is("<"):
			if angles--; angles <= 0 {
				return i
			}
		}
	}
	return -1
}

// splitAt splits the tokens from i up to the closing token at commas. end is the index of the
// closing token; -1 if there is none in this statement.
func (h *hostFile) splitAt(i int, closing string) (parts [][]token, end int) {
	start := i
	for limit := i + maxListTokens; i < min(limit, len(h.toks)); i++ {
		switch t := h.toks[i]; {
		case t.is(closing):
			if i > start || len(parts) > 0 {
				parts = append(parts, h.toks[start:i])
			}
			return parts, i
		case t.is(","):
			parts = append(parts, h.toks[start:i])
			start = i + 1
		case t.is("("), t.is("["), t.is("{"):
			i = h.closer[i]
		case t.is(";"), t.is("}"):
			return nil, -1
		}
	}
	return nil, -1
}

// text joins tokens for a message, with a space where the file has white space.
func text(toks []token) string {
	var b strings.Builder
	for i, t := range toks {
		if i > 0 && (t.start > toks[i-1].end || t.kind == tokIdent && toks[i-1].kind == tokIdent) {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}
