package lower

import (
	"fmt"
	"regexp"
	"strings"
)

// C11 and clang's own atomics have an order. LLVM 19 drops that of read-modify-write operations for
// NVPTX, and cannot select loads that acquire, stores that release, and most fences. So an operation
// with an order becomes a relaxed one between fences, which make it release or acquire (PTX ISA 8.7
// and 8.8: release and acquire patterns), at the scope of the operation. A sequentially consistent
// one has fence.sc in front of it and acquires, as CUDA C++ compiles it. Only a read-modify-write
// operation that is sequentially consistent stays as it is: atomicAdd and its relatives, which are
// relaxed, are functions of clang whose operations have that order.

// orderRE matches the order of an atomic operation or fence, behind its operands and scope; cmpxchg
// has one for failure, too.
var orderRE = regexp.MustCompile(`( syncscope\("([^"]*)"\))? (acquire|release|acq_rel|seq_cst)` +
	`( (?:monotonic|acquire|seq_cst))?(, align \d+)?$`)

// oldCPURE matches an architecture without fences (PTX ISA 9.7.13.4: sm_70 and higher).
var oldCPURE = regexp.MustCompile(`"target-cpu"="sm_[56]\d"`)

// ordered returns the lines that replace an instruction; old says that the architecture has no
// fences.
func ordered(line string, old bool) []string {
	if !strings.Contains(line, "atomic") && !strings.Contains(line, "cmpxchg") &&
		!strings.Contains(line, "fence ") {
		return []string{line}
	}
	text, dbg := splitAttach(line)
	m := orderRE.FindStringSubmatch(text)
	_, rest := opcode(text)
	op, _, _ := strings.Cut(rest, " ")
	isLoad, isStore := strings.HasPrefix(rest, "load atomic "), strings.HasPrefix(rest, "store atomic ")
	if m == nil || !isLoad && !isStore && op != "atomicrmw" && op != "cmpxchg" && op != "fence" {
		return []string{line}
	}
	order := m[3]
	if m[4] == " acquire" && order == "release" {
		order = "acq_rel"
	} else if m[4] == " seq_cst" {
		order = "seq_cst"
	}
	if order == "seq_cst" && (op == "atomicrmw" || op == "cmpxchg") {
		return []string{line}
	}
	var out []string
	fence := func(kind string) {
		if s := fenceText(kind, m[2], old); s != "" {
			s = fmt.Sprintf(`  call void asm sideeffect "%s;", "~{memory}"()`, s)
			if dbg != "" {
				s += ", !dbg " + dbg
			}
			out = append(out, s)
		}
	}
	if order == "seq_cst" {
		fence("sc")
	} else if order != "acquire" || op == "fence" {
		fence("acq_rel")
	}
	if op == "fence" {
		return out
	}
	relaxed := text[:len(text)-len(m[0])] + m[1] + " monotonic"
	if m[4] != "" {
		relaxed += " monotonic"
	}
	if out = append(out, relaxed+m[5]+line[len(text):]); order != "release" && !isStore {
		fence("acq_rel")
	}
	return out
}

// fenceText is a fence of PTX for a scope of LLVM; "" for the scope of one thread.
func fenceText(kind, scope string, old bool) string {
	level := map[string][2]string{"": {"sys", "sys"}, "device": {"gpu", "gl"}, "agent": {"gpu", "gl"},
		"block": {"cta", "cta"}, "workgroup": {"cta", "cta"}}
	l, ok := level[scope]
	switch {
	case scope == "singlethread":
		return ""
	case !ok: // a small one hides no race
		l = level["block"]
	}
	if old {
		return "membar." + l[1]
	}
	return "fence." + kind + "." + l[0]
}
