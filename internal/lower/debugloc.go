package lower

import (
	"path/filepath"
	"strconv"
	"strings"
)

// LLVM's NVPTX back end prints a plain .loc, without the call sites of inlined code. So the debug
// locations in the IR are replaced by numbers before llc: one per memory instruction, and one per
// distinct location of other instructions. llc prints them as line numbers (".loc 1 NUMBER 0"),
// which ptxtext.go replaces by the complete inline stacks.

// frame is one level of an inline stack.
type frame struct {
	file      string // name in messages
	line, col int    // from 1
	fn        string // linkage name of the function
}

// debugInfo reads the DILocation and scope nodes of a module.
type debugInfo struct {
	meta   map[string]string        // nodes by name
	chains map[string][]frame       // results of chain
	files  map[string]string        // results of path
	names  func(path string) string // returns the name of a file in messages
	// reports files whose frames are omitted: embedded headers
	skip func(path string) bool
	// returns the column without marks; nil: there are no marks
	column func(path string, line, col int) int
}

// maxInline bounds walks along scopes and inlining, so that a cycle, which LLVM rejects, cannot
// loop forever.
const maxInline = 256

// chain returns the inline stack of a DILocation, innermost frame first, without frames in embedded
// headers. It is empty if the location has no line, as for code that the compiler generates.
// Results are stored in d.chains.
func (d *debugInfo) chain(id string) []frame {
	if c, ok := d.chains[id]; ok {
		return c
	}
	var out []frame
	at := id
	for range maxInline {
		text := d.meta[at]
		if !strings.Contains(text, "!DILocation(") {
			break
		}
		scope := field(text, "scope")
		path := d.fileOf(scope)
		fn := d.linkageName(d.subprogram(scope))
		line := number(text, "line")
		if line > 0 && path != "" && !d.skip(path) {
			out = append(out, frame{d.names(path), line, d.columnOf(path, line, number(text, "column")), fn})
		}
		at = field(text, "inlinedAt")
	}
	d.chains[id] = out
	return out
}

// columnOf returns a column in the file without marks.
func (d *debugInfo) columnOf(path string, line, col int) int {
	if d.column == nil {
		return col
	}
	return d.column(path, line, col)
}

// places returns the positions at which the functions of a module are defined.
func (d *debugInfo) places(m *irModule) []place {
	var out []place
	for _, f := range m.funcs {
		if sp := defineDbgRE.FindString(f.define); sp != "" {
			id := sp[len(" !dbg "):]
			out = append(out, place{d.fileOf(id), number(d.meta[id], "line"), f.name})
		}
	}
	return out
}

// argNames returns the names of the n parameters of a function according to debug info, "" for
// those it does not name. LLVM IR contains the names of values only if the compiler was asked to
// keep them.
func (d *debugInfo) argNames(scope string, n int) []string {
	names := make([]string, n)
	if scope == "" {
		return names
	}
	for _, text := range d.meta {
		if !strings.HasPrefix(text, "!DILocalVariable(") || field(text, "scope") != scope {
			continue
		}
		switch i := number(text, "arg"); {
		case i > n: // the source has different parameters
			return make([]string, n)
		case i > 0:
			names[i-1] = quoted(text, "name")
		}
	}
	return names
}

// subprogram returns the function that contains a lexical scope; "" if there is none.
func (d *debugInfo) subprogram(scope string) string {
	for range maxInline {
		text := d.meta[scope]
		if strings.Contains(text, "!DISubprogram(") {
			return scope
		}
		if scope = field(text, "scope"); scope == "" {
			break
		}
	}
	return ""
}

// fileOf returns the path of the file of a scope: its own (a function can contain code of an
// included file), else that of the enclosing scope.
func (d *debugInfo) fileOf(scope string) string {
	for range maxInline {
		text, ok := d.meta[scope]
		if !ok {
			return ""
		}
		if f := field(text, "file"); f != "" {
			return d.path(f)
		}
		scope = field(text, "scope")
	}
	return ""
}

// path returns the absolute path of a DIFile node.
func (d *debugInfo) path(file string) string {
	if p, ok := d.files[file]; ok {
		return p
	}
	text := d.meta[file]
	name, dir := quoted(text, "filename"), quoted(text, "directory")
	if name != "" && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	d.files[file] = name
	return name
}

// linkageName returns the mangled name of a DISubprogram node.
func (d *debugInfo) linkageName(sp string) string {
	text := d.meta[sp]
	if n := quoted(text, "linkageName"); n != "" {
		return n
	}
	return quoted(text, "name")
}

// field returns the node that the field "key: !12" of a node refers to; "" if it has no such field.
func field(text, key string) string {
	v := rawField(text, key)
	if !strings.HasPrefix(v, "!") {
		return ""
	}
	n := 1
	for n < len(v) && v[n] >= '0' && v[n] <= '9' {
		n++
	}
	return v[:n]
}

// number returns the value of the field "key: 12"; 0 if there is none.
func number(text, key string) int {
	v := rawField(text, key)
	n := 0
	for n < len(v) && v[n] >= '0' && v[n] <= '9' {
		n++
	}
	i, _ := strconv.Atoi(v[:n])
	return i
}

// quoted returns the value of the field `key: "x"`, without the printer's \XX escapes; "" if there
// is none.
func quoted(text, key string) string {
	v := rawField(text, key)
	if !strings.HasPrefix(v, `"`) {
		return ""
	}
	end := strings.IndexByte(v[1:], '"')
	if end < 0 {
		return ""
	}
	return unescapeIR(v[1 : end+1])
}

// unescapeIR replaces \XX, two hexadecimal digits, by its byte.
func unescapeIR(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// rawField returns the text after "key: ", where key is the complete name of a field.
func rawField(text, key string) string {
	for rest := text; ; {
		i := strings.Index(rest, key+": ")
		if i < 0 {
			return ""
		}
		if i > 0 && (rest[i-1] == '(' || rest[i-1] == ' ') {
			return rest[i+len(key)+2:]
		}
		rest = rest[i+len(key)+2:]
	}
}
