package lower

import (
	"path/filepath"
	"strconv"
	"strings"
)

// LLVM's NVPTX back end prints a plain .loc: where code was inlined to is lost. So the debug locations are
// taken out of the IR before llc and replaced with numbers, one a memory instruction and one for each
// distinct location else, printed by llc as line numbers (".loc 1 NUMBER 0"); ptxtext.go puts the full
// inline stacks in their place.

// frame is one level of an inline stack.
type frame struct {
	file      string
	line, col int
	fn        string // linkage name of the function
}

// debugInfo reads the DILocation and scope nodes of a module.
type debugInfo struct {
	meta   map[string]string
	chains map[string][]frame
	files  map[string]string
	names  func(path string) string             // how the user knows a file
	skip   func(path string) bool               // files whose frames are left out: the embedded headers
	column func(path string, line, col int) int // of the file as it is, without marks; nil: all are
}

// maxInline bounds walks along scopes and inlining: a cycle, which LLVM rejects, must not hang us.
const maxInline = 256

// chain returns the frames of a DILocation, innermost first.
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

func (d *debugInfo) columnOf(path string, line, col int) int {
	if d.column == nil {
		return col
	}
	return d.column(path, line, col)
}

// places returns where the functions of a module are defined.
func (d *debugInfo) places(m *irModule) []place {
	var out []place
	for _, f := range m.funcs {
		if sp := defineDbgRE.FindString(f.define); sp != "" {
			id := sp[len(" !dbg "):]
			out = append(out, place{d.fileOf(id), number(d.meta[id], "line")})
		}
	}
	return out
}

// argNames returns the names that debug info gives the n parameters of a function, "" where it gives none.
// LLVM IR keeps names of values only where the compiler was told so.
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
		case i > n: // the parameters of the source are others
			return make([]string, n)
		case i > 0:
			names[i-1] = quoted(text, "name")
		}
	}
	return names
}

// subprogram walks from a lexical scope to its function.
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

// fileOf returns the path of the file of a scope: its own (code of an included file may stand in a
// function of another), else that of the scope around it.
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

func (d *debugInfo) linkageName(sp string) string {
	text := d.meta[sp]
	if n := quoted(text, "linkageName"); n != "" {
		return n
	}
	return quoted(text, "name")
}

// field returns the node that "key: !12" of a specialised node refers to; "" without.
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

// number returns the value of "key: 12"; 0 without.
func number(text, key string) int {
	v := rawField(text, key)
	n := 0
	for n < len(v) && v[n] >= '0' && v[n] <= '9' {
		n++
	}
	i, _ := strconv.Atoi(v[:n])
	return i
}

// quoted returns the value of `key: "x"`, with the printer's \XX escapes undone.
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

// rawField returns what follows "key: " where key stands at the start of a field.
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
