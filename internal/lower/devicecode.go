package lower

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"heddle/internal/lazyregexp"
)

// Errors in device code cost the kernels that need it, and no others.
//
//   - For an error in the body of a kernel or a device function, the body becomes empty. Its
//     declaration stays, so overload resolution, the instances of templates and host launches are
//     what they were. In clang's IR the function is then known to be broken: each kernel that
//     reaches it by calls or references is left out, with clang's error as the reason.
//   - For an error in the declaration of a kernel, the declaration is removed. Only launches
//     refer to a kernel, and its name is reported.
//   - For an error in any other declaration, the declaration is removed if nothing can take its
//     place: see unique. Whatever uses the name then has an error itself.
//
// Why the remaining kernels mean what they meant before: the meaning of a function depends on its
// own text, on declarations that name lookup finds, and on the bodies of what it calls. Its text is
// unchanged, or it is broken. A declaration that was kept is found as before; one that was removed
// was the only one of its name, so a use of it is an error and not another entity. A body decides
// the meaning of other declarations only where a result type is deduced or a call is evaluated by
// the compiler: functions with auto, decltype, constexpr or consteval are never emptied. A body
// that is called makes the caller broken. A call through a pointer may reach any function whose
// address is taken, so a file in which a broken function has its address taken is rejected, and
// kernels with such calls are left out.
//
// If no kernel is left, the file is rejected with clang's diagnostics for the original text.

// Omitted is a kernel of the input that is not in the PTX.
type Omitted struct {
	Kernel
	Reason string // one line: why it is not in the PTX, and what to do
}

// refusal is a declaration of device code that does not compile.
type refusal struct {
	path   string      // absolute
	file   *edited     // that contains it
	decl   declaration // what was emptied or removed
	name   string      // in the source, without scope
	kernel bool
	reason string // position and text of clang's error
}

// contains reports whether a function whose name is in a line of a file is the one that was
// refused, or shares a line with it.
func (f *refusal) contains(p place) bool {
	if p.path != f.path {
		return false
	}
	off := offsetOf(f.file.orig, p.line, 1)
	return off < f.decl.headEnd() && offsetOf(f.file.orig, p.line+1, 1) > f.decl.start
}

// diagnostic is one error of clang at a position of an editable file.
type diagnostic struct {
	file      string
	line, col int
	msg       string
}

// The words that make the meaning of other declarations depend on the body of a function, the
// attribute of a kernel, in CUDA and in OpenCL C, and the head of an explicit specialization.
var (
	deducedRE    = lazyregexp.New(`\b(auto|decltype|constexpr|consteval)\b`)
	kernelAttrRE = lazyregexp.New(`__global__|__attribute__\s*\(\(\s*global\b`)
	clKernelRE   = lazyregexp.New(`\b(__)?kernel\b`)
	specialRE    = lazyregexp.New(`^(template\s*<\s*>|extern\s+template\b)`)
)

// refuse empties or removes device code that has an error. It returns false if that could change
// the meaning of other code, or if nothing is left to remove.
func (r *recovery) refuse(e *edited, d declaration, at diagnostic, off int) bool {
	written := string(e.orig[d.start:d.headEnd()])
	head := r.expandedHead(at.file, e.orig, d)
	f := &refusal{path: r.path(at.file), file: e, decl: d, name: declaredName(written),
		kernel: kernelAttrRE.MatchString(written) || kernelAttrRE.MatchString(head) ||
			r.b.cl != nil && clKernelRE.MatchString(head),
		reason: e.place(at.line, at.col) + ": " + at.msg}
	if r.kernelsIn(at.file, e.orig, d) > 1 {
		return false // macros that define kernels, of which only one would be named
	}
	if d.bodyStart >= 0 && off >= d.bodyStart && off < d.bodyEnd {
		if !f.kernel && (deducedRE.MatchString(written) || deducedRE.MatchString(head) ||
			r.constructor(e, written)) {
			return false
		}
		if e.takeOut(d.bodyStart, d.bodyEnd, false) {
			r.refusals = append(r.refusals, f)
			return true
		}
	}
	if specialRE.MatchString(written) || !f.kernel && !r.unique(at.file, e, d, f.name) {
		return false
	}
	if !e.takeOut(d.start, d.end, false) {
		return false
	}
	r.refusals = append(r.refusals, f)
	return true
}

// kernelsIn returns the number of kernels in the preprocessed lines of a declaration.
func (r *recovery) kernelsIn(file string, src []byte, d declaration) int {
	attr := kernelAttrRE
	if r.b.cl != nil {
		attr = clKernelRE
	}
	first, last := lineRange(src, d.start, d.end)
	lines := r.expand().at[r.path(file)]
	n := 0
	for i := first; i <= last; i++ {
		n += len(attr.FindAllString(lines[i], -1))
	}
	return n
}

// constructor reports whether a head may be that of a constructor or destructor: clang omits calls
// of empty ones in some places, so that the broken function would not be seen.
func (r *recovery) constructor(e *edited, head string) bool {
	name := declaredName(head)
	return name == "" || strings.Contains(head, "~") ||
		regexp.MustCompile(`\b`+name+`\s*::\s*`+name+`\b`).MatchString(head) ||
		regexp.MustCompile(`\b(class|struct|union)\b(?:[^;{}()<>,=]|\([^()]*\))*\b`+name+`\b`).
			Match(e.orig)
}

// identifierRE matches a name.
var identifierRE = lazyregexp.New(`[A-Za-z_]\w*`)

// declaredName returns the name that the text of a declaration declares: that before the last
// parameter list of a function, the last one before the initialiser of a variable, or the one after
// class, struct, union, enum or using. It returns "" if it finds none.
func declaredName(head string) string {
	head = stripTemplate(strings.TrimSpace(head))
	if m := namedTypeRE.FindStringSubmatch(head); m != nil {
		return m[1]
	}
	if i := lastParameters(head); i > 0 {
		head = head[:i]
	} else {
		head, _, _ = strings.Cut(head, "=")
		head, _, _ = strings.Cut(head, "{")
		for strings.HasSuffix(strings.TrimRight(head, "; \t\r\n"), "]") {
			head = head[:strings.LastIndexByte(head, '[')]
		}
	}
	names := identifierRE.FindAllString(head, -1)
	if len(names) == 0 {
		return ""
	}
	return names[len(names)-1]
}

// namedTypeRE matches the definition of a type or an alias.
var namedTypeRE = lazyregexp.New(`^(?:typedef\s+)?(?:using|(?:class|struct|union|enum)` +
	`(?:\s+(?:class|struct))?)\s+(?:__\w+__\s*(?:\([^()]*\)\s*)?|alignas\s*\([^()]*\)\s*)*` +
	`([A-Za-z_]\w*)\s*(?:final\s*)?(?:$|[=:;{<])`)

// lastParameters returns the offset of the bracket that opens the last parenthesized list of a head
// outside of brackets; -1 if there is none, or if the head has an initialiser.
func lastParameters(head string) int {
	depth, at := 0, -1
	for i := range len(head) {
		switch head[i] {
		case '(':
			if depth == 0 {
				at = i
			}
			depth++
		case ')':
			depth--
		case '=':
			if depth == 0 && !strings.Contains(head, "operator") {
				return -1
			}
		}
	}
	return at
}

// unique reports whether a declaration may be removed because no other declaration has its name:
// then no use of the name finds anything else, and each is an error. It must not be a member of a
// class, whose layout and special members depend on it, nor an explicit specialization. Expressions
// in which an error only selects another overload must not exist either.
func (r *recovery) unique(file string, e *edited, d declaration, name string) bool {
	written := string(e.orig[d.start:d.end])
	several := lastParameters(written) < 0 && len(splitTop(written)) > 1
	member := len(enclosingClasses(e.orig, d.start)) > 0
	return !several && !member && r.soleOwner(file, e, d, name)
}

// requiresRE matches the word that begins a constraint, which may ask whether a name exists.
var requiresRE = lazyregexp.New(`\brequires\b`)

// soleOwner is unique for a declaration of one name that is a member of no class.
func (r *recovery) soleOwner(file string, e *edited, d declaration, name string) bool {
	if name == "" || specialRE.Match(e.orig[d.start:d.end]) || !ownLines(e.orig, d) {
		return false
	}
	text := withoutLiterals(r.textWithout(r.path(file), e.orig, d))
	if requiresRE.Match(text) ||
		regexp.MustCompile(`\bdecltype\s*\([^;{}]*\b`+name+`\b`).Match(text) {
		return false
	}
	alone := true
	walkDecls(text, func(d declaration, _ []string) {
		alone = alone && !declares(text[d.start:d.headEnd()], name)
	})
	return alone
}

// withoutLiterals returns a text with spaces for the literals in quotes.
func withoutLiterals(text []byte) []byte {
	out := bytes.Clone(text)
	s := &declScanner{src: text}
	for i := 0; i < len(text); {
		j := s.skipInert(i)
		if text[i] == '"' || text[i] == '\'' {
			blank(out[i:j])
		}
		i = max(j, i+1)
	}
	return out
}

// enclosingClasses returns the names of the classes whose definitions contain an offset, outermost
// first; "" for one without a name.
func enclosingClasses(src []byte, off int) []string {
	var out []string
	walkDecls(src, func(d declaration, classes []string) {
		if off >= d.start && off < d.end {
			out = slices.Clone(classes)
		}
	})
	return out
}

// ownLines reports whether the lines of a declaration contain nothing else.
func ownLines(src []byte, d declaration) bool {
	first := bytes.LastIndexByte(src[:d.start], '\n') + 1
	last := len(src)
	if i := bytes.IndexByte(src[d.end:], '\n'); i >= 0 {
		last = d.end + i
	}
	rest := bytes.TrimSpace(src[d.end:last])
	return len(bytes.TrimSpace(src[first:d.start])) == 0 &&
		(len(rest) == 0 || bytes.HasPrefix(rest, []byte("//")))
}

// omitRefused removes from m the kernels that need device code that does not compile, and returns
// them. whole is m before functions were inlined, and fns are its functions. It fails with
// errNoKernelLeft if none is left, or if calls through pointers could reach such code.
func (b *build) omitRefused(m, whole *irModule, fns []place) ([]Omitted, error) {
	if len(b.refused) == 0 {
		return nil, nil
	}
	broken := map[string]*refusal{} // by mangled name
	seen := map[*refusal]bool{}
	for _, p := range fns {
		for _, f := range b.refused {
			if f.contains(p) {
				broken[p.fn], seen[f] = f, true
				break
			}
		}
	}
	g := newCallGraph(whole)
	for name := range broken {
		if g.taken[name] {
			return nil, errNoKernelLeft
		}
	}
	out, kept := splitKernels(m, func(kernel string) string { return g.needs(kernel, broken) })
	m.keepOnly(kept)
	for _, f := range b.refused {
		same := func(o Omitted) bool { return baseName(o.Name) == f.name || o.Name == f.name }
		if f.kernel && !seen[f] && !slices.ContainsFunc(out, same) {
			out = append(out, Omitted{Kernel{Name: f.name, Demangled: f.name},
				"it does not compile: " + f.reason})
		}
	}
	if !slices.ContainsFunc(m.funcs, func(f *irFunc) bool { return f.kernel }) {
		return nil, errNoKernelLeft
	}
	return out, nil
}

// splitKernels divides the functions of a module into kernels that why gives a reason to leave out,
// and the rest.
func splitKernels(m *irModule, why func(kernel string) string) ([]Omitted, []*irFunc) {
	var out []Omitted
	var kept []*irFunc
	for _, k := range m.funcs {
		reason := ""
		if k.kernel {
			reason = why(k.name)
		}
		if reason == "" {
			kept = append(kept, k)
			continue
		}
		out = append(out, Omitted{named([]string{k.name})[0], reason})
	}
	return out, kept
}

// keepOnly removes all functions but some from a module, with their annotations, and variables that
// refer to a removed function and that nothing uses: tables of its labels.
func (m *irModule) keepOnly(funcs []*irFunc) {
	gone := map[string]bool{}
	for _, f := range m.funcs {
		gone[f.name] = !slices.Contains(funcs, f)
	}
	m.funcs = funcs
	for i, line := range m.named {
		name, list, _ := strings.Cut(line, " = ")
		if name != "!nvvm.annotations" {
			continue
		}
		stale := func(n string) bool { return gone[symbolIn(m.meta[n])] }
		nodes := slices.DeleteFunc(nodeRefs(list), stale)
		m.named[i] = name + " = !{" + strings.Join(nodes, ", ") + "}"
	}
	for id, text := range m.meta {
		if gone[symbolIn(text)] {
			m.meta[id] = "!{}"
		}
	}
	m.head = slices.DeleteFunc(slices.Clone(m.head), func(line string) bool {
		if !strings.HasPrefix(line, "@") {
			return false
		}
		stale := false
		references(line, func(name string) { stale = stale || gone[name] })
		return stale && m.userOf("@"+symbolIn(line)) == ""
	})
}

// callGraph holds what each function and variable of a module refers to.
type callGraph struct {
	refs     map[string][]string // by name: functions and variables
	indirect map[string]bool     // functions that call through a pointer
	taken    map[string]bool     // functions whose address is taken
}

// The start of a call of a named function, and a call through a pointer.
var (
	directRE   = lazyregexp.New(`\b(?:call|invoke) [^"]*?@((?:[-\w.$]+|"[^"]*"))\(`)
	indirectRE = lazyregexp.New(`\b(?:call|invoke) [^@"]*%[-\w.$]+\(`)
)

// newCallGraph reads the references of a module.
func newCallGraph(m *irModule) *callGraph {
	g := &callGraph{refs: map[string][]string{}, indirect: map[string]bool{},
		taken: map[string]bool{}}
	for _, line := range m.head {
		owner := symbolIn(line)
		if !strings.HasPrefix(line, "@") || strings.HasPrefix(owner, "llvm.") {
			continue
		}
		references(strings.TrimPrefix(line, "@"), func(name string) {
			g.refs[owner] = append(g.refs[owner], name)
			g.taken[name] = true
		})
	}
	for _, f := range m.funcs {
		for _, line := range f.body {
			callee := ""
			if s := directRE.FindStringSubmatch(line); s != nil {
				callee = strings.Trim(s[1], `"`)
			} else if indirectRE.MatchString(line) && !strings.Contains(line, " asm ") {
				g.indirect[f.name] = true
			}
			first := true
			references(line, func(name string) {
				g.refs[f.name] = append(g.refs[f.name], name)
				if name == callee && first {
					first = false
					return
				}
				g.taken[name] = true
			})
		}
	}
	return g
}

// needs returns why a kernel cannot be compiled: a broken function that it reaches, or a call
// through a pointer if any function is broken; "" if there is no such reason.
func (g *callGraph) needs(kernel string, broken map[string]*refusal) string {
	pointer, reason := "", ""
	g.reach(kernel, func(name string) bool {
		if f := broken[name]; f != nil {
			reason = "it does not compile: " + f.reason
			if name != kernel {
				reason = fmt.Sprintf("it needs %s, which does not compile: %s", baseName(name), f.reason)
			}
		}
		if g.indirect[name] && pointer == "" {
			pointer = name
		}
		return reason == ""
	})
	if reason == "" && pointer != "" {
		return baseName(pointer) + " calls a function through a pointer, which may be one that is not " +
			"compiled"
	}
	return reason
}

// reach calls visit for a function and for each function and variable that it needs, until visit
// returns false.
func (g *callGraph) reach(from string, visit func(name string) bool) {
	seen := map[string]bool{from: true}
	work := []string{from}
	for len(work) > 0 {
		name := work[0]
		work = work[1:]
		if !visit(name) {
			return
		}
		for _, next := range g.refs[name] {
			if !seen[next] {
				seen[next] = true
				work = append(work, next)
			}
		}
	}
}

// functionWarnings returns a warning for each refusal that is not a kernel: perhaps no kernel needs
// it.
func (r *recovery) functionWarnings() []string {
	var out []string
	for _, f := range r.refusals {
		if !f.kernel {
			out = append(out, f.reason+"; heddle leaves out the kernels that need this device code")
		}
	}
	return out
}

// explain adds to the reasons of omitted kernels what their error has in common with others: a
// header that was not found, or the operators of vector types, which CUDA does not declare.
func (r *recovery) explain(omitted []Omitted) {
	for i := range omitted {
		o := &omitted[i]
		switch help := compileHelp(o.Reason); {
		case hiddenRE.MatchString(o.Reason):
			o.Reason = hiddenRE.FindStringSubmatch(o.Reason)[1] + ": " + help
		case help != "":
			o.Reason += "; " + help
		case len(r.stubs) == 1:
			o.Reason += "; header " + r.stubs[0] + " was not found"
		case len(r.stubs) > 1:
			o.Reason += "; headers " + strings.Join(r.stubs, ", ") + " were not found"
		}
	}
}

// vectorOperandRE matches clang's error about an operator of a CUDA vector type.
var vectorOperandRE = lazyregexp.New(`invalid operands to binary expression \([^()]*'` +
	`(?:const )?(?:float|double|u?int|u?short|u?char|u?long)[234]'`)

// amdRE matches clang's error about a function that only AMD's compiler has.
var amdRE = lazyregexp.New(
	`use of undeclared identifier '(__builtin_amdgcn_\w+|__(ockl|ocml|llvm_amdgcn)_\w+)'`)

// hiddenRE matches clang's error about a function of OpenCL C that heddle does not support.
var hiddenRE = lazyregexp.New(`undeclared identifier '` + hiddenPrefix + `(\w+)'`)

// compileHelp returns what to do about an error of clang; "" if that is not known.
func compileHelp(diagnostics string) string {
	if vectorOperandRE.MatchString(diagnostics) {
		return "CUDA declares no operators for vector types such as float4: #include <helper_math.h>, " +
			"which heddle provides"
	}
	if m := hiddenRE.FindStringSubmatch(diagnostics); m != nil {
		return clUnsupported(m[1])
	}
	if m := amdRE.FindStringSubmatch(diagnostics); m != nil {
		return m[1] + " is for AMD's GPUs only; heddle reads HIP as on NVIDIA's"
	}
	return gridHelp(diagnostics)
}
