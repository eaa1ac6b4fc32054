package lower

import (
	"fmt"
	"regexp"
	"strings"
)

// location is what a number in a .loc of llc's output stands for.
type location struct {
	chain []frame // innermost first; empty: unknown
	kind  access
}

// lowered is the text for llc, and what is needed to undo its numbering.
type lowered struct {
	ir      []byte
	locs    []location // index 0 is unused: line 0 means "no line"
	kernels []kernelFacts
}

// kernelFacts is what the IR says of a kernel.
type kernelFacts struct {
	name   string
	line   int
	path   string
	scope  string // its DISubprogram; empty without debug info
	params []Param
}

// lowerIR prepares a module for llc: drops what no kernel reaches and numbers locations. With keep, plain
// accesses are marked volatile, for analysis; without, they are left to the optimizer (-O LEVEL).
func lowerIR(m *irModule, d *debugInfo, keep bool) *lowered {
	w := &irWriter{d: d, keep: keep, out: &lowered{locs: make([]location, 1)}, shared: make(map[string]int)}
	for _, line := range m.head {
		if isIndexObject(line) {
			continue
		}
		w.buf.WriteString(withoutAttachments(line))
		w.buf.WriteByte('\n')
	}
	live := m.reachable()
	for _, f := range m.funcs {
		if !live[f.name] {
			continue // a comdat or attribute group without user is legal: nothing takes its place
		}
		if f.kernel {
			w.out.kernels = append(w.out.kernels, facts(f, d))
		}
		w.function(f)
	}
	w.metadata(m, live)
	w.out.ir = []byte(w.buf.String())
	return w.out
}

var declareAttachRE = regexp.MustCompile(`^declare( ![a-zA-Z_.]+ ![0-9]+)+`)

// withoutAttachments takes from a global variable or a declaration the metadata that is not written again.
func withoutAttachments(line string) string {
	switch {
	case strings.HasPrefix(line, "@"):
		return attachRE.ReplaceAllString(line, "")
	case strings.HasPrefix(line, "declare !"):
		return declareAttachRE.ReplaceAllString(line, "declare")
	}
	return line
}

// isIndexObject reports the declarations of threadIdx and its like, objects without storage that no code
// refers to once their members are read.
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

// reachable returns the functions that kernels or the initialisers of variables reach; all, if the file
// has no kernel.
func (m *irModule) reachable() map[string]bool {
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
		if f.kernel {
			kernels = true
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

type irWriter struct {
	buf       strings.Builder
	d         *debugInfo
	keep      bool
	out       *lowered
	undefined undefined      // values of the function that is written
	shared    map[string]int // ids of !dbg nodes for instructions that need no id of their own
	spFunc    []string       // DISubprogram n belongs to this function
	locSP     []int          // id -> DISubprogram
}

var (
	defineDbgRE    = regexp.MustCompile(` !dbg ![0-9]+`)
	defineAttachRE = regexp.MustCompile(`( ![a-zA-Z_.]+ ![0-9]+)+$`)
)

// Metadata numbers of the text that we write: names that cannot clash with those of the input are
// impossible (metadata is numbered), so ours start far above.
const metaBase = 10_000_000

func (w *irWriter) function(f *irFunc) {
	w.spFunc = append(w.spFunc, f.name)
	clear(w.shared)
	head := defineAttachRE.ReplaceAllString(strings.TrimSuffix(f.define, " {"), "")
	fmt.Fprintf(&w.buf, "%s !dbg !%d {\n", head, metaBase+2+len(w.spFunc))
	w.undefined = findUndefined(f.body)
	for _, line := range f.body {
		w.instruction(f, line)
	}
	w.buf.WriteString("}\n")
}

// instruction writes one line of a body with its accesses kept and its location numbered.
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
	if value, ok := opaqueValue(text); ok && w.keep {
		text, dbg = value, ""
	}
	invariant := invariantRE.FindString(attach)
	kept, kind := f.keepAccess(text, invariant != "")
	switch {
	case w.keep:
		text = kept
	case kind == plainAccess || kind == constantAccess:
		kind = keptAccess // nothing is marked, so nothing is to be unmarked
		text += invariant
	}
	w.buf.WriteString(text)
	if dbg != "" || kind != noAccess {
		fmt.Fprintf(&w.buf, ", !dbg !%d", metaBase+1_000_000+w.id(dbg, kind))
	}
	w.buf.WriteByte('\n')
}

var invariantRE = regexp.MustCompile(`, !invariant\.load ![0-9]+`)

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

// metadata writes what llc still needs: module flags and kernel annotations of the input, and debug info
// that says "line N of this function" and nothing else.
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
		fmt.Fprintf(&w.buf, "!llvm.module.flags = !{!%d}\n!%d = !{i32 2, !\"Debug Info Version\", i32 3}\n", metaBase-1, metaBase-1)
	}
	fmt.Fprintf(&w.buf, "!llvm.dbg.cu = !{!%d}\n", metaBase)
	fmt.Fprintf(&w.buf, "!%d = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !%d, emissionKind: DebugDirectivesOnly)\n", metaBase, metaBase+1)
	fmt.Fprintf(&w.buf, "!%d = !DIFile(filename: \"ids\", directory: \"/\")\n", metaBase+1)
	fmt.Fprintf(&w.buf, "!%d = !DISubroutineType(types: !{null})\n", metaBase+2)
	for i := range w.spFunc {
		fmt.Fprintf(&w.buf, "!%d = distinct !DISubprogram(name: \"f\", scope: !%d, file: !%d, type: !%d, spFlags: DISPFlagDefinition, unit: !%d)\n",
			metaBase+3+i, metaBase+1, metaBase+1, metaBase+2, metaBase)
	}
	for i, sp := range w.locSP {
		fmt.Fprintf(&w.buf, "!%d = !DILocation(line: %d, scope: !%d)\n", metaBase+1_000_000+i+1, i+1, metaBase+2+sp)
	}
}

// nodes writes the nodes that refs names, and those that they name.
func (w *irWriter) nodes(m *irModule, refs string) {
	for _, r := range nodeRefs(refs) {
		w.buf.WriteString(r + " = " + m.meta[r] + "\n")
	}
}

var nodeRE = regexp.MustCompile(`![0-9]+`)

func nodeRefs(s string) []string { return nodeRE.FindAllString(s, -1) }

func findNamed(named []string, name string) (string, bool) {
	for _, n := range named {
		if strings.HasPrefix(n, name+" ") {
			return n, true
		}
	}
	return "", false
}

func (m *irModule) hasDebugVersion() bool {
	flags, _ := findNamed(m.named, "!llvm.module.flags")
	for _, r := range nodeRefs(flags) {
		if strings.Contains(m.meta[r], `"Debug Info Version"`) {
			return true
		}
	}
	return false
}

func (m *irModule) isGlobal(name string) bool {
	for _, line := range m.head {
		if strings.HasPrefix(line, "@") && symbolIn(line) == name {
			return true
		}
	}
	return false
}

// facts reads a kernel's parameters and place.
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

// paramFacts reads "ptr noundef byval(%struct.P) align 4 %pp".
func paramFacts(p string) Param {
	typ, rest := paramType(p)
	out := Param{Type: typ, Pointer: strings.HasPrefix(typ, "ptr") || strings.HasSuffix(typ, "*")}
	if strings.Contains(rest, "byval(") {
		out.Pointer = false
		out.Type = "" // its size stands in the PTX
	}
	if j := strings.LastIndexByte(p, '%'); j >= 0 {
		name, n := readSymbol(p[j+1:])
		if j+1+n == len(p) && (name == "" || name[0] < '0' || name[0] > '9') {
			out.Name = name
		}
	}
	return out
}

// paramType cuts the type off a parameter: brackets, and stars of LLVM 14's typed pointers, belong to it.
func paramType(p string) (typ, rest string) {
	depth := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '(', '[', '{', '<':
			depth++
		case ')', ']', '}', '>':
			depth--
		case ' ':
			if depth == 0 && !strings.HasPrefix(p[i:], " addrspace(") && !strings.HasPrefix(p[i:], " (") && !strings.HasPrefix(p[i:], " *") {
				return p[:i], p[i:]
			}
		}
	}
	return p, ""
}
