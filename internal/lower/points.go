package lower

import (
	"fmt"
	"strings"

	"heddle/internal/lazyregexp"
)

// The front end emits marks of places for barriers as inline assembly. The inliner would count that
// as calls, and decide differently for a function with marks than for the same function without.
// Between the front end and llc the marks are therefore pseudo probes, which LLVM has for such
// purposes: the inliner does not count them, and none of the passes in between (build.go) moves or
// removes them.

// markRE matches a mark in the form of inline assembly, with its kind and number.
var markRE = lazyregexp.New(
	`^\s*call void asm sideeffect "\.pragma \\22heddle\.(point|barrier) (\d+)\\22;"`)

// probeRE matches a mark in the form of a pseudo probe, with its number and kind.
var probeRE = lazyregexp.New(
	`^\s*(?:tail )?call void @llvm\.pseudoprobe\(i64 (\d+), i64 (\d+), `)

// declareProbe declares the intrinsic of pseudo probes.
const declareProbe = "declare void @llvm.pseudoprobe(i64, i64, i32, i64)"

// hidePoints replaces marks by pseudo probes.
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
		return fmt.Sprintf("  call void @llvm.pseudoprobe(i64 %s, i64 %d, i32 0, i64 -1)%s", s[2], kind,
			debugAttachment(line))
	})
	if found {
		m.head = append(m.head, declareProbe)
	}
}

// showPoints replaces pseudo probes by marks.
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
		return fmt.Sprintf(
			`  call void asm sideeffect ".pragma \22heddle.%s %s\22;", "~{memory}"() convergent nounwind%s`,
			kind, s[1], debugAttachment(line))
	})
}

// rewriteLines replaces each call of a void function by the result of rewrite.
func rewriteLines(m *irModule, rewrite func(string) string) {
	for _, f := range m.funcs {
		for i, line := range f.body {
			if strings.Contains(line, "call void ") {
				f.body[i] = rewrite(line)
			}
		}
	}
}

// debugAttachment returns the attachment of an instruction's debug location, with the comma before
// it.
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
