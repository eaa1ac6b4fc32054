package lower

import (
	"fmt"
	"regexp"
	"strings"
)

// Marks of places for barriers come from the front end as inline assembly. The inliner counts that as calls, so that a
// function with marks would be inlined where it is not without, or the other way round. Between the front end and llc
// they are therefore pseudo probes, which LLVM made for that purpose: the inliner does not count them, and nothing
// that runs in between (build.go) moves or drops them.

var markRE = regexp.MustCompile(`^\s*call void asm sideeffect "\.pragma \\22heddle\.(point|barrier) (\d+)\\22;"`)

var probeRE = regexp.MustCompile(`^\s*(?:tail )?call void @llvm\.pseudoprobe\(i64 (\d+), i64 (\d+), `)

const declareProbe = "declare void @llvm.pseudoprobe(i64, i64, i32, i64)"

// hidePoints makes pseudo probes of marks.
func hidePoints(m *irModule) {
	found := false
	rewriteLines(m, func(line string) string {
		s := markRE.FindStringSubmatch(line)
		if s == nil {
			return line
		}
		found = true
		kind := 0
		if s[1] == "barrier" {
			kind = 1
		}
		return fmt.Sprintf("  call void @llvm.pseudoprobe(i64 %s, i64 %d, i32 0, i64 -1)%s", s[2], kind, debugAttachment(line))
	})
	if found {
		m.head = append(m.head, declareProbe)
	}
}

// showPoints makes inline assembly of pseudo probes.
func showPoints(m *irModule) {
	rewriteLines(m, func(line string) string {
		s := probeRE.FindStringSubmatch(line)
		if s == nil {
			return line
		}
		kind := "point"
		if s[2] == "1" {
			kind = "barrier"
		}
		return fmt.Sprintf(`  call void asm sideeffect ".pragma \22heddle.%s %s\22;", "~{memory}"() convergent nounwind%s`, kind, s[1], debugAttachment(line))
	})
}

func rewriteLines(m *irModule, rewrite func(string) string) {
	for _, f := range m.funcs {
		for i, line := range f.body {
			if strings.Contains(line, "call void ") {
				f.body[i] = rewrite(line)
			}
		}
	}
}

// debugAttachment returns the location of an instruction with the comma before it.
func debugAttachment(line string) string {
	i := strings.Index(line, ", !dbg !")
	if i < 0 {
		return ""
	}
	end := i + len(", !dbg !")
	for end < len(line) && line[end] >= '0' && line[end] <= '9' {
		end++
	}
	return line[i:end]
}
