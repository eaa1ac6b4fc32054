package lower

import (
	"bytes"
	"fmt"
	"strings"

	"heddle/internal/lazyregexp"
)

// Scopes of atomic operations in LLVM IR. llc up to LLVM 19 drops them and prints the widest one,
// so that a race between blocks on an operation of one block would be missed; finishPTX puts them
// back. PTX has no scope of a thread or a warp: a module with such an operation is not examined.

// syncScopeRE matches the scope of an atomic operation.
var syncScopeRE = lazyregexp.New(` syncscope\("([^"]*)"\)`)

// irScopes are the scopes of LLVM for NVPTX with those of PTX.
var irScopes = map[string]string{"": "sys", "device": "gpu", "cluster": "cluster", "block": "cta"}

// scopeOf returns the scope in PTX of a line of IR; empty if it names none.
func scopeOf(line string) string {
	if m := syncScopeRE.FindStringSubmatch(line); m != nil {
		return irScopes[m[1]]
	}
	return ""
}

// checkScopes reports an atomic operation with a scope that PTX does not have. A fence of one
// thread orders nothing between threads.
func (b *build) checkScopes(m *irModule, content []byte) error {
	for _, f := range m.funcs {
		for _, line := range f.body {
			s := syncScopeRE.FindStringSubmatch(line)
			if s == nil || irScopes[s[1]] != "" || strings.HasPrefix(strings.TrimSpace(line), "fence ") {
				continue
			}
			at := b.name
			if i := bytes.Index(content, []byte(strings.TrimSpace(s[0]))); i >= 0 {
				at = fmt.Sprintf("%s:%d", at, 1+bytes.Count(content[:i], []byte{'\n'}))
			}
			return &InputError{File: at, Reason: fmt.Sprintf("heddle does not support atomic operations of the "+
				"scope %q: PTX has none below that of a block", s[1])}
		}
	}
	return nil
}

// unscopedRE matches an atomic operation, or a volatile access, of PTX without a scope.
var unscopedRE = lazyregexp.New(
	`^(\s*(?:@!?%\w+\s+)?(?:atom|red)(?:\.(?:relaxed|acquire|release|acq_rel))?|\s*(?:ld|st)\.volatile)\.`)

// rescope puts a scope into an instruction of PTX that has none.
func rescope(line, scope string) string {
	at := unscopedRE.FindStringSubmatchIndex(line)
	if at == nil {
		return line
	}
	head, rest := line[:at[3]], line[at[3]:]
	for _, s := range irScopes {
		if strings.HasPrefix(rest, "."+s+".") {
			return line
		}
	}
	return strings.Replace(head, ".volatile", ".relaxed", 1) + "." + scope + rest
}
