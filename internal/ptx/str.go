package ptx

import "strings"

// The ISA does not define escapes in strings. LLVM writes file names with the escapes of C, so
// strings are read and written with them.

// str consumes the string at the current token.
func (p *parser) str() operand {
	s := p.token(String, 0)
	p.next()
	return s
}

// unquote returns the value of a quoted string. It understands octal escapes of up to three digits
// and the single-letter escapes of C; a backslash before any other byte means that byte.
func unquote(text string) string {
	text = text[1 : len(text)-1]
	if !strings.Contains(text, `\`) {
		return text
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) {
			i++
			if isOctal(text[i]) {
				v := 0
				end := min(i+3, len(text))
				for ; i < end && isOctal(text[i]); i++ {
					v = v<<3 | int(text[i]-'0')
				}
				i--
				b = append(b, byte(v))
				continue
			}
			c = unescape(text[i])
		}
		b = append(b, c)
	}
	return string(b)
}

// isOctal reports whether c is an octal digit.
func isOctal(c byte) bool { return c >= '0' && c <= '7' }

// unescape returns the character for the escape \c.
func unescape(c byte) byte {
	const letters, values = "abfnrtv", "\a\b\f\n\r\t\v"
	if i := strings.IndexByte(letters, c); i >= 0 {
		return values[i]
	}
	return c
}

// appendQuoted appends val as a quoted string, so that unquote returns val.
func appendQuoted(b []byte, val string) []byte {
	b = append(b, '"')
	for i := range len(val) {
		switch c := val[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
