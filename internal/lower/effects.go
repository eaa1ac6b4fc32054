package lower

import (
	"strings"

	"heddle/internal/lazyregexp"
)

// What a function promises about its effects, and what the compiler concludes about inline assembly
// from its operands, lets LLVM remove code that accesses memory:
//
//   - a call of a function with __attribute__((pure)) or ((const)) whose result is unused is
//     removed, and two equal calls become one. clang trusts the attribute, even of a function that
//     reads or writes shared memory;
//   - an asm statement without volatile whose outputs are unused is removed, and so is what it
//     accesses through a pointer among its operands (GCC manual, "Extended Asm", volatile).
//
// clang's front end itself keeps these calls and statements; its IR only says that they may be
// removed. So before any pass runs, keepEffects removes such promises from the module, and declares
// that every asm statement has side effects. The declarations of LLVM's own intrinsics are not
// affected: LLVM takes their attributes from its tables whenever it reads a module.
//
// Promises about values stay: the program states them, and a kernel that breaks them is undefined
// (__builtin_assume, __builtin_unreachable, noreturn, nonnull; see LIMITATIONS.md).

// The attributes that allow LLVM to remove or move a call: since LLVM 16, and in all versions.
var (
	memoryRE  = lazyregexp.New(` memory\([^()]*\)`)
	promiseRE = lazyregexp.New(` (?:readnone|readonly|writeonly|argmemonly|inaccessiblememonly|` +
		`inaccessiblemem_or_argmemonly|speculatable|willreturn)\b`)
)

// asmRE matches the start of an inline assembly expression without side effects, in a call. Quotes
// in strings of IR are escaped, so the text before it has no string.
var asmRE = lazyregexp.New(`^( *(?:%\S+ = )?(?:(?:tail|notail|musttail) )?call [^"]*?\basm )` +
	`((?:alignstack |inteldialect |unwind )*")`)

// keepEffects removes promises about effects from attribute groups, and marks inline assembly.
func keepEffects(m *irModule) {
	for i, line := range m.head {
		if strings.HasPrefix(line, "attributes #") {
			m.head[i] = withoutPromises(line)
		}
	}
	for _, f := range m.funcs {
		for i, line := range f.body {
			if strings.Contains(line, " asm ") {
				f.body[i] = asmRE.ReplaceAllString(line, "${1}sideeffect ${2}")
			}
		}
	}
}

// withoutPromises removes promises about effects from an attribute group. An empty group is
// invalid.
func withoutPromises(group string) string {
	group = memoryRE.ReplaceAllString(group, "")
	group = promiseRE.ReplaceAllString(group, "")
	if strings.HasSuffix(group, "{ }") {
		group = strings.TrimSuffix(group, "}") + `"heddle" }`
	}
	return group
}
