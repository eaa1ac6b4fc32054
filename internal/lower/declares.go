package lower

import (
	"bytes"
	"regexp"

	"heddle/internal/lazyregexp"
)

// declares reports whether the text of a declaration may declare a name. Every mention of it counts,
// apart from those that cannot be anything but uses: a mistake in that direction only rejects a file
// that could be read.
func declares(text []byte, name string) bool {
	if !bytes.Contains(text, []byte(name)) {
		return false
	}
	for _, at := range regexp.MustCompile(`\b`+name+`\b`).FindAllIndex(text, -1) {
		if !isUse(text, at[0], at[1]) {
			return true
		}
	}
	return false
}

// What stands before and after a name that is used: as a scope, in a using directive, as a base, as
// an argument of a template or a result type, in the type of an alias, and as the type of what
// follows. An elaborated type (struct M x) counts as a declaration.
var (
	scopeAfterRE   = lazyregexp.New(`^\s*::`)
	directiveRE    = lazyregexp.New(`\busing\s+namespace\s+$`)
	useBeforeRE    = lazyregexp.New(`(<|->|[^:]:|\b(public|private|protected|virtual))\s*$`)
	typeKeyRE      = lazyregexp.New(`\b(class|struct|union|enum|namespace|typename|using)\s+$`)
	aliasBeforeRE  = lazyregexp.New(`^\s*using\s+[A-Za-z_]\w*\s*=`)
	declaratorRE   = lazyregexp.New(`^(\s|\bconst\b|[*&])*([A-Za-z_]\w*)`)
	afterTypeRE    = lazyregexp.New(`^(__\w+|final|alignas|override|noexcept)$`)
	parameterRE    = lazyregexp.New(`[(,]\s*(const\s+)?$`)
	endOfUnnamedRE = lazyregexp.New(`^(\s|\bconst\b|[*&])*[,)]`)
)

// isUse reports whether the name at text[start:end] can only be a use of it.
func isUse(text []byte, start, end int) bool {
	before, after := text[:start], text[end:]
	if rest := bytes.TrimLeft(after, " \t\n"); bytes.HasPrefix(rest, []byte("<")) {
		_, tail := bracketed(string(rest))
		after = []byte(tail)
	}
	switch {
	case scopeAfterRE.Match(after), directiveRE.Match(before), useBeforeRE.Match(before):
		return true
	case typeKeyRE.Match(before):
		return false
	case aliasBeforeRE.Match(before):
		return true
	case parameterRE.Match(before) && endOfUnnamedRE.Match(after):
		return bytes.Count(before, []byte("(")) > bytes.Count(before, []byte(")"))
	}
	m := declaratorRE.FindSubmatch(after)
	return m != nil && !afterTypeRE.Match(m[2])
}
