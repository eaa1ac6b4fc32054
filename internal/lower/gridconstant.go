package lower

import (
	"fmt"
	"strings"

	"heddle/internal/lazyregexp"
)

// __grid_constant__ says that a parameter of a kernel is constant, and that its address is that of
// the parameter: without it, a parameter whose address is taken is copied to local memory, where no
// copy of a tensor finds its tensor map. clang 19 does not know the attribute, LLVM 19 knows what
// it means. The headers (qualifiers.h) express it as an annotation of the parameter, which becomes
// one of NVPTX. Older versions of LLVM ignore that.

// gridConstantRE matches the annotation of a variable: its name, and that of the annotation's text.
// An optimizer adds attributes to the arguments: nonnull.
var gridConstantRE = lazyregexp.New(`^\s*(?:tail )?call void @llvm\.var\.annotation[.\w]*\(` +
	`(?:ptr|i8\*) (?:\w+ )*(%[\w.$-]+), (?:ptr|i8\*) (?:\w+ )*@([\w.]+),`)

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
		for i, p := range splitParams(f.define) {
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
