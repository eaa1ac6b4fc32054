package lower

import "strings"

// clPlain returns what the preprocessor leaves of an OpenCL C file that has no directives but
// pragmas: the text without comments, in which macros of base.h are not expanded. None of these
// expands to a built-in function. ok is false if only the preprocessor knows what the file says.
func (b *build) clPlain(content string) (text string, ok bool) {
	if len(b.opt.Defines)+len(b.opt.Forced)+len(b.opt.Args)+len(b.overlay) > 0 ||
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
