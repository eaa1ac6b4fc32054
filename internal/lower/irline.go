package lower

import (
	"bytes"
	"slices"
	"strings"

	"heddle/internal/lazyregexp"
)

// This file reads textual LLVM IR line by line. It understands only what the rewriting steps need:
// the function of a line, its instruction, its operands, and its metadata attachments. It relies on
// the printer of opt and clang, which writes one instruction per line. (A switch spans several
// lines, the last of which has the attachments.) Parsing text works with every LLVM from 14 on,
// whose bitcode and APIs differ.

// irFunc is one function definition of a module's text.
type irFunc struct {
	name   string          // unquoted
	define string          // the header line
	body   []string        // the lines between the braces
	kernel bool            // an entry point
	local  map[string]bool // SSA names of pointers to memory of this thread
}

// irModule is the text of a module.
type irModule struct {
	head  []string          // all lines outside functions except metadata, in order
	funcs []*irFunc         // in order
	meta  map[string]string // "!12" -> the text after the equals sign
	named []string          // named metadata lines
	order []string          // keys of meta in the order of the text
}

// parseIR splits a module into functions, metadata and other lines. It drops debug intrinsics,
// comments and aliasing declarations, which nothing after it needs.
func parseIR(text []byte) *irModule {
	m := &irModule{meta: make(map[string]string)}
	var fn *irFunc
	for len(text) > 0 {
		var raw []byte
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			raw, text = text[:i], text[i+1:]
		} else {
			raw, text = text, nil
		}
		line := string(raw)
		switch {
		case fn != nil && line == "}":
			fn = nil
		case fn != nil:
			if s := strings.TrimSpace(line); s != "" && !strings.HasPrefix(s, "#dbg_") &&
				!strings.HasPrefix(s, ";") && !strings.Contains(s, "@llvm.dbg.") &&
				!strings.Contains(s, noaliasScope) {
				fn.body = append(fn.body, line)
			}
		case strings.HasPrefix(line, "define "):
			fn = &irFunc{name: symbolIn(line), define: line, kernel: strings.Contains(line, " ptx_kernel ")}
			fn.findLocals()
			m.funcs = append(m.funcs, fn)
		case strings.HasPrefix(line, "!"):
			m.addMeta(line)
		default:
			m.head = append(m.head, line)
		}
	}
	m.markKernels()
	for _, f := range m.funcs {
		f.deriveLocals()
	}
	return m
}

// declares reports whether the lines before the functions, which have types, variables and
// declarations, contain a text.
func (m *irModule) declares(text string) bool {
	return slices.ContainsFunc(m.head, func(line string) bool { return strings.Contains(line, text) })
}

// addMeta adds a line of metadata.
func (m *irModule) addMeta(line string) {
	name, val, ok := strings.Cut(line, " = ")
	if !ok {
		return
	}
	if len(name) > 1 && name[1] >= '0' && name[1] <= '9' {
		m.meta[name] = val
		m.order = append(m.order, name)
		return
	}
	m.named = append(m.named, line)
}

// kernelMetaRE matches the annotation of a kernel.
var kernelMetaRE = lazyregexp.New(`@("[^"]*"|[\w.$-]+),.* !"kernel", i32 1\b`)

// markKernels reads !nvvm.annotations, by which LLVM up to 20 marks kernels.
func (m *irModule) markKernels() {
	names := map[string]bool{}
	for _, v := range m.meta {
		if s := kernelMetaRE.FindStringSubmatch(v); s != nil {
			names[strings.Trim(s[1], `"`)] = true
		}
	}
	for _, f := range m.funcs {
		f.kernel = f.kernel || names[f.name]
	}
}

// symbolIn returns the first @name of a line, unquoted.
func symbolIn(line string) string {
	i := strings.IndexByte(line, '@')
	if i < 0 {
		return ""
	}
	name, _ := readSymbol(line[i+1:])
	return name
}

// readSymbol parses the name after @ or %, with or without quotes. n is its length in the text.
func readSymbol(s string) (name string, n int) {
	if strings.HasPrefix(s, `"`) {
		j := strings.IndexByte(s[1:], '"')
		if j < 0 {
			return s[1:], len(s)
		}
		return s[1 : j+1], j + 2
	}
	for n < len(s) && isSymbolByte(s[n]) {
		n++
	}
	return s[:n], n
}

// isSymbolByte reports whether c can be in an unquoted name.
func isSymbolByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' ||
		c == '.' || c == '$' || c == '-'
}

// references calls f for every @name in s, in order. Quoted names are passed without quotes.
func references(s string, f func(string)) {
	for {
		i := strings.IndexByte(s, '@')
		if i < 0 {
			return
		}
		name, n := readSymbol(s[i+1:])
		f(name)
		s = s[i+1+n:]
	}
}

// noaliasScope declares that pointers do not alias, by metadata nodes that lowerIR does not write.
const noaliasScope = "@llvm.experimental.noalias.scope.decl(metadata !"

// attachRE matches the metadata attachments at the end of an instruction.
var attachRE = lazyregexp.New(`(, ![a-zA-Z_.]+ ![0-9]+)+$`)

// dbgRE matches the attachment of a debug location.
var dbgRE = lazyregexp.New(`, !dbg (![0-9]+)`)

// splitAttach returns an instruction without its attachments, and the node of !dbg ("" if there is
// none).
func splitAttach(line string) (rest, dbg string) {
	loc := attachRE.FindStringIndex(line)
	if loc == nil {
		return line, ""
	}
	if m := dbgRE.FindStringSubmatch(line[loc[0]:]); m != nil {
		dbg = m[1]
	}
	return line[:loc[0]], dbg
}

// opcode splits an instruction into the name of its result ("" if there is none) and the text from
// the opcode on.
func opcode(line string) (result, rest string) {
	s := strings.TrimLeft(line, " ")
	if strings.HasPrefix(s, "%") {
		name, n := readSymbol(s[1:])
		if strings.HasPrefix(s[1+n:], " = ") {
			return name, s[1+n+3:]
		}
	}
	return "", s
}

// findLocals adds the parameters that point to memory of this thread: structs passed by value.
func (f *irFunc) findLocals() {
	f.local = make(map[string]bool)
	for _, p := range splitParams(f.define) {
		if strings.Contains(p, " byval(") {
			if i := strings.LastIndexByte(p, '%'); i >= 0 {
				name, _ := readSymbol(p[i+1:])
				f.local[name] = true
			}
		}
	}
}

// deriveLocals adds allocas and pointers that are computed from local pointers. Textual order is
// not necessarily dominance order; a pointer that is used before its definition counts as not
// local. The same holds for a pointer that a phi or select returns. Both keep more accesses than
// necessary, and never fewer.
func (f *irFunc) deriveLocals() {
	for _, line := range f.body {
		res, rest := opcode(line)
		if res == "" {
			continue
		}
		switch op, _, _ := strings.Cut(rest, " "); op {
		case "alloca":
			f.local[res] = true
		case "getelementptr", "bitcast", "addrspacecast":
			if base := firstLocalOperand(rest); base != "" && f.local[base] {
				f.local[res] = true
			}
		}
	}
}

// firstLocalOperand returns the first %name that is an operand and not a type: the base of a
// getelementptr or cast. An operand follows a pointer type: "ptr %x", "ptr addrspace(3) %x" or "T*
// %x".
func firstLocalOperand(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i < 2 {
			continue
		}
		before := s[:i-1]
		if s[i-1] == ' ' && (strings.HasSuffix(before, "ptr") || strings.HasSuffix(before, "*") ||
			strings.HasSuffix(before, ")") && strings.Contains(before, "addrspace(")) {
			name, _ := readSymbol(s[i+1:])
			return name
		}
	}
	return ""
}

// splitParams returns the parameters of a define line.
func splitParams(define string) []string {
	i := strings.IndexByte(define, '@')
	if i < 0 {
		return nil
	}
	_, n := readSymbol(define[i+1:])
	s := define[i+1+n:]
	if !strings.HasPrefix(s, "(") {
		return nil
	}
	args, _ := bracketed(s)
	return splitTop(args)
}

// bracketed returns the text between the bracket that s starts with and its closing bracket, and
// the text after it. Brackets in quotes do not count. Without a closing bracket, everything is
// inside.
func bracketed(s string) (inside, after string) {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(' || c == '[' || c == '{' || c == '<':
			depth++
		case c == ')' || c == ']' || c == '}' || c == '>':
			if depth--; depth == 0 {
				return s[1:i], s[i+1:]
			}
		}
	}
	return s[1:], ""
}

// splitTop splits at commas outside brackets and quotes.
func splitTop(s string) []string {
	var out []string
	depth, start, quoted := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(' || c == '[' || c == '{' || c == '<':
			depth++
		case c == ')' || c == ']' || c == '}' || c == '>':
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
	}
	if t := strings.TrimSpace(s[start:]); t != "" {
		out = append(out, t)
	}
	return out
}

// print returns the text of the complete module, for opt.
func (m *irModule) print() []byte {
	var b bytes.Buffer
	put := func(s string) {
		b.WriteString(s)
		b.WriteByte('\n')
	}
	for _, l := range m.head {
		put(l)
	}
	for _, f := range m.funcs {
		put(f.define)
		for _, l := range f.body {
			put(l)
		}
		put("}")
	}
	for _, l := range m.named {
		put(l)
	}
	for _, id := range m.order {
		put(id + " = " + m.meta[id])
	}
	return b.Bytes()
}
