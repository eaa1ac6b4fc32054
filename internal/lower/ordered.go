package lower

import (
	"fmt"
	"strings"

	"heddle/internal/lazyregexp"
)

// C11 and clang's own atomics have an order. For NVPTX, LLVM 19 cannot select loads that acquire,
// stores that release and most fences, and drops the orders of read-modify-write operations. Loads
// and stores become instructions of PTX with their order. A sequentially consistent one acquires or
// releases and no more, and a read-modify-write operation stays relaxed, since atomicAdd and its
// relatives, which are relaxed, are sequentially consistent in clang's module. So a proof never
// orders more than a device does. A fence before or after an operation would also order all
// others, and so would a fence of PTX instead of one that only acquires or only releases; LLVM
// refuses kernels with those.

// orderRE matches the order of an atomic operation or fence, with its scope.
var orderRE = lazyregexp.New(
	`( syncscope\("([^"]*)"\))? (acquire|release|acq_rel|seq_cst)(, align \d+)?$`)

// atomicAccessRE matches what is left of a load or store without its order: the type of the value,
// the value, and the pointer.
var atomicAccessRE = lazyregexp.New(`^(?:(load) atomic (?:volatile )?(\w+),` +
	`|(store) atomic (?:volatile )?(\w+) ([^ ]+),) ` +
	`((?:ptr(?: addrspace\((\d)\))?|\w+(?: addrspace\((\d)\))?\*) .*)$`)

// ordered returns the lines that replace an instruction.
func ordered(line string) []string {
	if !strings.Contains(line, " atomic ") && !strings.Contains(line, "fence ") {
		return []string{line}
	}
	text, dbg := splitAttach(line)
	m := orderRE.FindStringSubmatch(text)
	if m == nil {
		return []string{line}
	}
	result, rest := opcode(text)
	scope, known := map[string]string{"": "sys", "device": "gpu", "agent": "gpu", "block": "cta",
		"workgroup": "cta"}[m[2]]
	attach := ""
	if dbg != "" {
		attach = ", !dbg " + dbg
	}
	if strings.HasPrefix(rest, "fence ") {
		switch {
		case m[2] == "singlethread": // against the compiler alone
			return nil
		case known && m[3] == "acq_rel":
			return []string{fmt.Sprintf(`  call void asm sideeffect "fence.acq_rel.%s;", "~{memory}"()%s`,
				scope, attach)}
		}
		return []string{line}
	}
	a := atomicAccessRE.FindStringSubmatch(rest[:len(rest)-len(m[0])])
	if a == nil || !known {
		return []string{line}
	}
	space := map[string]string{"": "", "0": "", "1": ".global", "3": ".shared"}
	in, ok := space[a[7]+a[8]]
	ptx, constraint := ptxRegister(a[2] + a[4])
	if !ok || ptx == "" {
		return []string{line}
	}
	if a[3] != "" {
		return []string{fmt.Sprintf(
			`  call void asm sideeffect "st.release.%s%s.%s [$0], $1;", "l,%s,~{memory}"(%s, %s %s)%s`,
			scope, in, ptx, constraint, a[6], a[4], a[5], attach)}
	}
	return []string{fmt.Sprintf(
		`  %%%s = call %s asm sideeffect "ld.acquire.%s%s.%s $0, [$1];", "=%s,l,~{memory}"(%s)%s`,
		result, a[2], scope, in, ptx, constraint, a[6], attach)}
}

// ptxRegister returns the type of PTX and the constraint of inline assembly for a scalar type of
// LLVM; "" for others.
func ptxRegister(typ string) (ptx, constraint string) {
	switch typ {
	case "i16":
		return "u16", "h"
	case "i32":
		return "u32", "r"
	case "i64":
		return "u64", "l"
	case "float":
		return "f32", "f"
	case "double":
		return "f64", "d"
	}
	return "", ""
}
