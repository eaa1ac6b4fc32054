package lower

import (
	"strings"

	"heddle/internal/lazyregexp"
)

// clPlain returns what the preprocessor leaves of an OpenCL C file that has no directives but
// pragmas: the text without comments, in which macros of base.h are not expanded. None of these
// expands to a built-in function. Macros of the user (-D) are expanded; they must be free of names.
// ok is false if only the preprocessor knows what the file says.
func (b *build) clPlain(content string) (text string, ok bool) {
	macros, ok := plainMacros(b.opt.Defines, b.opt.Undefines)
	if !ok || len(b.opt.Forced)+len(b.opt.Args)+len(b.overlay) > 0 ||
		strings.Contains(content, "\\\n") || strings.Contains(content, "\\\r") ||
		strings.Contains(content, "%:") || strings.Contains(content, "??") {
		return "", false
	}
	var out strings.Builder
	first := true // nothing but white space and comments since the line began
	for i := 0; i < len(content); {
		rest := content[i:]
		n := 1
		switch c := content[i]; {
		case strings.HasPrefix(rest, "//"):
			if n = strings.IndexByte(rest, '\n'); n < 0 {
				n = len(rest)
			}
			i += n
			continue
		case strings.HasPrefix(rest, "/*"):
			if n = strings.Index(rest[2:], "*/"); n < 0 {
				return "", false
			}
			out.WriteByte(' ')
			i += n + 4
			continue
		case c == '#' && first:
			if n = strings.IndexByte(rest, '\n'); n < 0 {
				n = len(rest)
			}
			if line := strings.TrimLeft(rest[1:n], " \t"); !strings.HasPrefix(line, "pragma ") ||
				strings.Contains(line, "/*") {
				return "", false
			}
			rest = "" // no name in it is used
		case c == '"' || c == '\'':
			n = min(skipLiteral(content, i), len(content)) - i
			first = false
		case isWordByte(c):
			if n = len(wordRE.FindString(rest)); n == 0 {
				n = 1 // not ASCII
			}
			if value, ok := macros[rest[:n]]; ok {
				out.WriteString(value)
				rest = ""
			}
			first = false
		case c == '\n':
			first = true
		case c != ' ' && c != '\t' && c != '\r' && c != '\v' && c != '\f':
			first = false
		}
		if rest != "" {
			out.WriteString(rest[:n])
		}
		i += n
	}
	return out.String(), true
}

// A number or a name of the preprocessor, and an object-like macro in the form of -D.
var (
	wordRE  = lazyregexp.New(`^(\.?[0-9]([eEpP][+-]|[\w.])*|\w+)`)
	macroRE = lazyregexp.New(`^([A-Za-z_]\w*)(?:=(.*))?$`)
	// numbers, operators and parentheses
	namelessRE = lazyregexp.New(`^([0-9]([eEpP][+-]|[\w.])*|[-+*/%&|^~!<>=() ])*$`)
)

// plainMacros returns the values of macros in the form of -D, without those of -U. ok is false if one
// of them has parameters, or a value that can expand to a name or a comment.
func plainMacros(defines, undefines []string) (values map[string]string, ok bool) {
	values = make(map[string]string)
	for _, d := range defines {
		m := macroRE.FindStringSubmatch(d)
		if m == nil || !namelessRE.MatchString(m[2]) || strings.Contains(m[2], "//") ||
			strings.Contains(m[2], "/*") {
			return nil, false
		}
		values[m[1]] = " " + m[2] + " "
		if !strings.Contains(d, "=") {
			values[m[1]] = " 1 "
		}
	}
	for _, u := range undefines {
		delete(values, u)
	}
	return values, true
}
