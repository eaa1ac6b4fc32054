package lower

import (
	"strings"

	"heddle/internal/lazyregexp"
)

// uninterpreted begins the names of functions that heddle does not interpret.
const uninterpreted = "@__heddle_uf_"

// widenedRE matches, in a call or a declaration of a function that heddle does not interpret, the
// attribute that its result has been widened.
var widenedRE = lazyregexp.New(
	`\b(?:zeroext|signext) (i[0-9]+ (?:\([^()]*\) )?` + uninterpreted + `)`)

// widenAnew makes callers widen the results of functions that heddle does not interpret
// (DECLARE_UF_UNARY and its relatives), where C has a type of fewer than 32 bits. By the calling
// convention the function has done so. In PTX its result has 32 bits, of which a proof would not
// know that they are a char.
func widenAnew(m *irModule) {
	// They are declared in each module that calls one.
	if !m.declares(uninterpreted) {
		return
	}
	for i, line := range m.head {
		m.head[i] = widenedRE.ReplaceAllString(line, "$1")
	}
	for _, f := range m.funcs {
		for i, line := range f.body {
			if strings.Contains(line, uninterpreted) {
				f.body[i] = widenedRE.ReplaceAllString(line, "$1")
			}
		}
	}
}
