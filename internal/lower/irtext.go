package lower

import (
	"fmt"
	"strings"

	"heddle/internal/lazyregexp"
)

// This file writes the module that llc compiles. Compared with opt's output it lacks functions that
// neither a kernel nor another file reaches and all metadata except module flags, kernel
// annotations and minimal debug info. Every instruction with a source location gets a number in
// place of the location (debugloc.go), and every memory instruction a number of its own, so that
// finishPTX can find the access that a line of PTX belongs to.  What this relies on: llc prints a
// .loc before an instruction whose line differs from that of the instruction before it, and the
// line of a volatile access is that of its instruction, since llc never merges volatile accesses.

// location is the meaning of a number in a .loc of llc's output.
type location struct {
	chain []frame // innermost first; empty: unknown
	kind  access  // of the instruction
	scope string  // of an atomic instruction, that of PTX; empty: the widest, or that of llc
}

// lowered is the text for llc, with what finishPTX needs.
type lowered struct {
	ir      []byte
	locs    []location // by number; index 0 is unused, since line 0 means "no line"
	kernels []kernelFacts
	arrays  []arrayFacts
	unroll  bool // loops over registers are to be unrolled; undefined values are frozen until then
}

// kernelFacts are the facts about a kernel in the IR.
type kernelFacts struct {
	name   string // mangled
	line   int    // of the definition, from 1; 0 without debug info
	path   string // name of the file in messages
	scope  string // its DISubprogram; empty without debug info
	params []Param
	fields map[int][]int64 // by index of a struct parameter: the offsets of its pointers
}

// lowerIR prepares a module for llc: it removes functions that are not reachable and numbers
// locations. With keep it marks plain accesses volatile, for analysis; without, the optimizer may
// change them (-O LEVEL). With separate, other files may call its functions.
func lowerIR(m *irModule, d *debugInfo, keep, separate bool) *lowered {
	w := &irWriter{d: d, keep: keep, out: &lowered{locs: make([]location, 1)},
		shared: make(map[string]int)}
	for _, line := range m.head {
		if isIndexObject(line) {
			continue
		}
		w.buf.WriteString(alignedDynamic(withoutAttachments(line)))
		w.buf.WriteByte('\n')
	}
	w.out.arrays = arraysOf(m.head)
	w.out.unroll = keep && needsRegisters(m)
	live, layouts := m.reachable(separate), newLayouts(m.head)
	layouts.most = maxUnset
	for _, f := range m.funcs {
		if !live[f.name] {
			continue // its comdat and attribute group may stay: an unused one is legal
		}
		if f.kernel {
			k := facts(f, d)
			k.fields = pointerFields(f, layouts)
			w.out.kernels = append(w.out.kernels, k)
		}
		w.function(f)
	}
	w.metadata(m, live)
	w.out.ir = []byte(w.buf.String())
	return w.out
}

// declareAttachRE matches the attachments of a declaration.
var declareAttachRE = lazyregexp.New(`^declare( ![a-zA-Z_.]+ ![0-9]+)+`)

// withoutAttachments removes the metadata of a global variable or a declaration, whose nodes are
// not written.
func withoutAttachments(line string) string {
	switch {
	case strings.HasPrefix(line, "@"):
		return attachRE.ReplaceAllString(line, "")
	case strings.HasPrefix(line, "declare !"):
		return declareAttachRE.ReplaceAllString(line, "declare")
	}
	return line
}

// dynamicSharedRE matches the declaration of dynamic shared memory, with an alignment of less than
// dynamicAlign.
var dynamicSharedRE = lazyregexp.New(
	`^(@\S+ = external .*addrspace\(3\) global \[0 x .*\], align )[1248]\b`)

// dynamicAlign is the alignment that nvcc gives dynamic shared memory at least, whatever the type of
// the array is. Libraries count on it: CUB's BlockLoadToShared has bulk copies to arrays of char.
const dynamicAlign = "16"

// alignedDynamic gives a declaration of dynamic shared memory that alignment.
func alignedDynamic(line string) string {
	return dynamicSharedRE.ReplaceAllString(line, "${1}"+dynamicAlign)
}

// isIndexObject reports whether a line declares threadIdx or a similar object. These have no
// storage, and no code refers to them, since their members are special registers.
func isIndexObject(line string) bool {
	if !strings.HasPrefix(line, "@") {
		return false
	}
	switch symbolIn(line) {
	case "threadIdx", "blockIdx", "blockDim", "gridDim":
		return true
	}
	return false
}

// exported reports whether other files may call a function. What other files can also define
// (linkonce_odr: inline functions, implicit instances of templates) is in each file that calls it.
func (f *irFunc) exported() bool {
	linkage, _, _ := strings.Cut(strings.TrimPrefix(f.define, "define "), " ")
	switch linkage {
	case "private", "internal", "available_externally", "linkonce", "linkonce_odr":
		return false
	}
	return true
}

// reachable returns the functions that kernels or initialisers of variables reach, and with
// separate those that other files may call. If there is no kernel, as in a library, it returns all
// functions. A reference counts as a call, since its target may be called through a pointer.
func (m *irModule) reachable(separate bool) map[string]bool {
	byName := make(map[string]*irFunc, len(m.funcs))
	live := make(map[string]bool)
	var work []string
	add := func(name string) {
		if f := byName[name]; f != nil && !live[name] {
			live[name] = true
			work = append(work, name)
		}
	}
	for _, f := range m.funcs {
		byName[f.name] = f
	}
	for _, line := range m.head {
		if strings.HasPrefix(line, "@") {
			references(line, add)
		}
	}
	kernels := false
	for _, f := range m.funcs {
		kernels = kernels || f.kernel
		if f.kernel || separate && f.exported() {
			add(f.name)
		}
	}
	if !kernels {
		for _, f := range m.funcs {
			add(f.name)
		}
	}
	for len(work) > 0 {
		f := byName[work[len(work)-1]]
		work = work[:len(work)-1]
		for _, line := range f.body {
			if strings.IndexByte(line, '@') >= 0 {
				references(line, add)
			}
		}
	}
	return live
}

// irWriter writes the text for llc.
type irWriter struct {
	buf       strings.Builder
	d         *debugInfo
	keep      bool
	out       *lowered
	undefined undefined       // values of the current function
	shared    map[string]int  // numbers by !dbg node, for instructions that can share one
	spFunc    []string        // the functions, each with a DISubprogram
	locSP     []int           // by location: the number of its DISubprogram, from 1
	written   map[string]bool // nodes of metadata
}

// The debug scope, and all attachments, of a define line.
var (
	defineDbgRE    = lazyregexp.New(` !dbg ![0-9]+`)
	defineAttachRE = lazyregexp.New(`( ![a-zA-Z_.]+ ![0-9]+)+$`)
)

// metaBase is the first number of the metadata nodes that irWriter adds. Nodes have numbers and not
// names, so these start far above those of any input.
const metaBase = 10_000_000

// function writes a function with a debug scope of its own.
func (w *irWriter) function(f *irFunc) {
	w.spFunc = append(w.spFunc, f.name)
	clear(w.shared)
	head := defineAttachRE.ReplaceAllString(strings.TrimSuffix(f.define, " {"), "")
	fmt.Fprintf(&w.buf, "%s !dbg !%d {\n", head, metaBase+2+len(w.spFunc))
	w.undefined = findUndefined(f.body)
	for _, line := range f.body {
		for _, l := range ordered(line) {
			w.instruction(f, l)
		}
	}
	w.buf.WriteString("}\n")
}

// instruction writes one line of a body, with its access marked and its location numbered.
func (w *irWriter) instruction(f *irFunc, line string) {
	if !strings.HasPrefix(line, "  ") { // a label
		w.buf.WriteString(line)
		w.buf.WriteByte('\n')
		return
	}
	text, dbg := splitAttach(line)
	attach := line[len(text):]
	if cast, store, ok := constantStore(text, len(w.out.locs)); ok {
		w.buf.WriteString(cast)
		text = store
	}
	if freeze, store, ok := w.undefined.certain(text, len(w.out.locs)); ok && w.keep {
		w.buf.WriteString(freeze)
		text = store
	}
	if w.keep && !w.out.unroll {
		if value, ok := opaqueValue(text); ok {
			text, dbg = value, ""
		}
	}
	invariant := invariantRE.FindString(attach)
	kept, kind := f.keepAccess(text, invariant != "")
	switch {
	case w.keep:
		text = kept
	case kind == plainAccess || kind == constantAccess:
		kind = keptAccess // finishPTX must not remove a volatile of the source
		text += invariant
	}
	w.buf.WriteString(text)
	if dbg != "" || kind != noAccess {
		id := w.id(dbg, kind)
		w.out.locs[id].scope = scopeOf(text)
		fmt.Fprintf(&w.buf, ", !dbg !%d", metaBase+1_000_000+id)
	}
	w.buf.WriteByte('\n')
}

// invariantRE matches the attachment of a load from memory that nothing writes.
var invariantRE = lazyregexp.New(`, !invariant\.load ![0-9]+`)

// id returns the number of a location. Memory instructions never share one, since it also
// identifies their access.
func (w *irWriter) id(dbg string, kind access) int {
	if kind == noAccess {
		if id, ok := w.shared[dbg]; ok {
			return id
		}
	}
	id := len(w.out.locs)
	loc := location{kind: kind}
	if dbg != "" {
		loc.chain = w.d.chain(dbg)
	}
	w.out.locs = append(w.out.locs, loc)
	w.locSP = append(w.locSP, len(w.spFunc))
	if kind == noAccess {
		w.shared[dbg] = id
	}
	return id
}

// metadata writes what llc needs: the module flags and kernel annotations of the input, and minimal
// debug info with the numbers of locations as lines.
func (w *irWriter) metadata(m *irModule, live map[string]bool) {
	for _, line := range m.named {
		name, val, _ := strings.Cut(line, " = ")
		switch name {
		case "!llvm.module.flags", "!nvvmir.version":
			w.buf.WriteString(line + "\n")
			w.nodes(m, val)
		case "!nvvm.annotations":
			var refs []string
			for _, r := range nodeRefs(val) {
				if s := symbolIn(m.meta[r]); s == "" || live[s] || m.isGlobal(s) {
					refs = append(refs, r)
				}
			}
			w.buf.WriteString(name + " = !{" + strings.Join(refs, ", ") + "}\n")
			w.nodes(m, strings.Join(refs, " "))
		}
	}
	if !w.keep {
		for _, id := range m.order {
			if m.meta[id] == "!{}" {
				w.buf.WriteString(id + " = !{}\n")
			}
		}
	}
	if _, ok := findNamed(m.named, "!llvm.module.flags"); !ok || !m.hasDebugVersion() {
		fmt.Fprintf(&w.buf, "!llvm.module.flags = !{!%d}\n!%d = !{i32 2, !\"Debug Info Version\", i32 "+
			"3}\n", metaBase-1, metaBase-1)
	}
	fmt.Fprintf(&w.buf, "!llvm.dbg.cu = !{!%d}\n", metaBase)
	fmt.Fprintf(&w.buf, "!%d = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !%d, "+
		"emissionKind: DebugDirectivesOnly)\n", metaBase, metaBase+1)
	fmt.Fprintf(&w.buf, "!%d = !DIFile(filename: \"ids\", directory: \"/\")\n", metaBase+1)
	fmt.Fprintf(&w.buf, "!%d = !DISubroutineType(types: !{null})\n", metaBase+2)
	for i := range w.spFunc {
		fmt.Fprintf(&w.buf, "!%d = distinct !DISubprogram(name: \"f\", scope: !%d, file: !%d, type: "+
			"!%d, spFlags: DISPFlagDefinition, unit: !%d)\n",
			metaBase+3+i, metaBase+1, metaBase+1, metaBase+2, metaBase)
	}
	for i, sp := range w.locSP {
		fmt.Fprintf(&w.buf, "!%d = !DILocation(line: %d, scope: !%d)\n", metaBase+1_000_000+i+1, i+1,
			metaBase+2+sp)
	}
}

// nodes writes the nodes that refs refers to, and those that they refer to.
func (w *irWriter) nodes(m *irModule, refs string) {
	for _, r := range nodeRefs(refs) {
		if w.written[r] {
			continue
		}
		if w.written == nil {
			w.written = make(map[string]bool)
		}
		w.written[r] = true
		w.buf.WriteString(r + " = " + m.meta[r] + "\n")
		w.nodes(m, m.meta[r])
	}
}

// nodeRE matches a reference to a node.
var nodeRE = lazyregexp.New(`![0-9]+`)

// nodeRefs returns the nodes that s refers to.
func nodeRefs(s string) []string { return nodeRE.FindAllString(s, -1) }

// findNamed returns the line of a named metadata node.
func findNamed(named []string, name string) (string, bool) {
	for _, n := range named {
		if strings.HasPrefix(n, name+" ") {
			return n, true
		}
	}
	return "", false
}

// hasDebugVersion reports whether the module flags declare a version of debug info, without which
// LLVM drops it.
func (m *irModule) hasDebugVersion() bool {
	flags, _ := findNamed(m.named, "!llvm.module.flags")
	for _, r := range nodeRefs(flags) {
		if strings.Contains(m.meta[r], `"Debug Info Version"`) {
			return true
		}
	}
	return false
}

// isGlobal reports whether name is a global variable.
func (m *irModule) isGlobal(name string) bool {
	for _, line := range m.head {
		if strings.HasPrefix(line, "@") && symbolIn(line) == name {
			return true
		}
	}
	return false
}

// facts returns the parameters and the position of a kernel. The name of a parameter is that of its
// value in the IR, or comes from debug info; a parameter without any name is called argN, by its
// index.
func facts(f *irFunc, d *debugInfo) kernelFacts {
	k := kernelFacts{name: f.name}
	if m := defineDbgRE.FindString(f.define); m != "" {
		sp := strings.TrimPrefix(m, " !dbg ")
		k.scope = sp
		k.line = number(d.meta[sp], "line")
		k.path = d.names(d.fileOf(sp))
	}
	params := splitParams(f.define)
	names := d.argNames(k.scope, len(params))
	for i, p := range params {
		q := paramFacts(p)
		if q.Name == "" {
			q.Name = names[i]
		}
		if q.Name == "" {
			q.Name = fmt.Sprintf("arg%d", i)
		}
		k.params = append(k.params, q)
	}
	return k
}

// pointerFields returns the offsets of the pointers in struct parameters, by index of the
// parameter.
func pointerFields(f *irFunc, l *layouts) map[int][]int64 {
	out := map[int][]int64{}
	for i, p := range splitParams(f.define) {
		m := byvalTypeRE.FindStringSubmatch(p)
		if m == nil {
			continue
		}
		elems, _, _, ok := l.scalars(m[1])
		if !ok {
			continue
		}
		out[i] = []int64{}
		for _, e := range elems {
			if pointerType(e.typ) {
				out[i] = append(out[i], e.off)
			}
		}
	}
	return out
}

// paramFacts parses a parameter such as "ptr noundef byval(%struct.P) align 4 %pp".
func paramFacts(p string) Param {
	typ, rest := paramType(p)
	out := Param{Type: typ, Pointer: pointerType(typ)}
	if strings.Contains(rest, "byval(") {
		out.Pointer = false
		out.Type = "" // byValTypes sets it
	}
	if j := strings.LastIndexByte(p, '%'); j >= 0 {
		name, n := readSymbol(p[j+1:])
		if j+1+n == len(p) && (name == "" || name[0] < '0' || name[0] > '9') {
			out.Name = name
		}
	}
	return out
}

// paramType splits a parameter into its type, including brackets and the stars of LLVM 14's typed
// pointers, and the rest.
func paramType(p string) (typ, rest string) {
	depth := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '(', '[', '{', '<':
			depth++
		case ')', ']', '}', '>':
			depth--
		case ' ':
			if depth == 0 && !strings.HasPrefix(p[i:], " addrspace(") && !strings.HasPrefix(p[i:], " (") &&
				!strings.HasPrefix(p[i:], " *") {
				return p[:i], p[i:]
			}
		}
	}
	return p, ""
}
