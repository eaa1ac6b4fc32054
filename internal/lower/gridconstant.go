package lower

import (
	"fmt"
	"regexp"
	"strings"
)

// __grid_constant__ says that a parameter of a kernel is constant, and that its address is that of the
// parameter: without it, a parameter whose address is taken is copied to local memory, where no copy
// of a tensor finds its tensor map. clang 19 does not know the attribute, LLVM 19 knows what it means.
// The headers (qualifiers.h) express it as an annotation of the parameter, which becomes one of NVPTX.
// Older versions of LLVM ignore that.

// gridConstantRE matches the annotation of a variable: its name, and that of the annotation's text.
var gridConstantRE = regexp.MustCompile(
	`^\s*(?:tail )?call void @llvm\.var\.annotation[.\w]*\((?:ptr|i8\*) (%[\w.$-]+), (?:ptr|i8\*) @([\w.]+),`)

// gridConstants replaces the annotations of parameters.
func (m *irModule) gridConstants() {
	marks := map[string]bool{}
	for _, l := range m.head {
		if s := namedStringRE.FindStringSubmatch(l); s != nil && s[2] == "heddle.grid_constant" {
			marks[s[1]] = true
		}
	}
	if len(marks) == 0 {
		return
	}
	next := metaBase - 3000
	for _, f := range m.funcs {
		marked := map[string]bool{}
		body := f.body[:0]
		for _, l := range f.body {
			if s := gridConstantRE.FindStringSubmatch(l); s != nil && marks[s[2]] {
				marked[s[1]] = true
				continue
			}
			body = append(body, l)
		}
		f.body = body
		var list []string
		for i, p := range parametersOf(f.define) {
			name := p[strings.LastIndex(p, " ")+1:]
			if f.kernel && marked[name] && strings.Contains(p, "byval(") {
				list = append(list, fmt.Sprintf("i32 %d", i+1))
			}
		}
		if len(list) > 0 {
			next--
			m.annotate(f, fmt.Sprintf("!%d", next), fmt.Sprintf(`!"grid_constant", !{%s}`,
				strings.Join(list, ", ")))
		}
	}
}

// parametersOf returns the parameters in the header line of a function.
func parametersOf(define string) []string {
	at := strings.Index(define, "@")
	open := at + strings.Index(define[max(at, 0):], "(")
	if at < 0 || open < at {
		return nil
	}
	if define[at+1] == '"' { // a quoted name may have a parenthesis
		end := strings.Index(define[at+2:], `"`)
		open = at + 2 + end + 1
	}
	var out []string
	depth, start := 0, open+1
	for i := open; i < len(define); i++ {
		switch define[i] {
		case '(', '{', '[', '<':
			depth++
		case ')', '}', ']', '>':
			if depth--; depth == 0 {
				return append(out, strings.TrimSpace(define[start:i]))
			}
		case ',':
			if depth == 1 {
				out = append(out, strings.TrimSpace(define[start:i]))
				start = i + 1
			}
		}
	}
	return nil
}
