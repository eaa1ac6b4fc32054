package config

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// positions maps the keys and values of a document to their byte offsets. A path names each: the
// keys joined by dots, with the index of an array's element or of a [[kernel]] table in between, as
// in "kernel.0.args.n". A value that is a string starts after its opening quote.
type positions struct {
	keys, values map[string]int
}

// locate finds the positions of a document that the decoder has accepted. go-toml reports positions
// of its own errors only, and heddle checks what values mean after decoding. The scan therefore
// relies on the syntax being right; on a broken text it ends, with positions of no use.
func locate(text []byte) *positions {
	s := &locator{text: text, pos: &positions{map[string]int{}, map[string]int{}}}
	table, kernels := "", -1
	for s.space(true); s.at < len(text); s.space(true) {
		before := s.at
		if text[s.at] != '[' {
			s.pair(table)
		} else {
			array := bytes.HasPrefix(text[s.at:], []byte("[["))
			s.at++
			if array {
				s.at++
			}
			name, at := s.key()
			if rest, ok := strings.CutPrefix(name, "kernel"); ok {
				if array && rest == "" {
					kernels++
				}
				name = fmt.Sprintf("kernel.%d%s", kernels, rest)
			}
			s.pos.keys[name], table = at, name+"."
			for s.at < len(text) && text[s.at] == ']' {
				s.at++
			}
		}
		if s.at == before { // not TOML
			s.at++
		}
	}
	return s.pos
}

// locator is the state of one scan: at is the byte offset of what has not been read yet.
type locator struct {
	text []byte
	at   int
	pos  *positions
}

// space skips blanks, and with lines also line ends and comments, which may be between the elements
// of a list.
func (s *locator) space(lines bool) {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == ' ' || c == '\t':
		case lines && (c == '\n' || c == '\r'):
		case lines && c == '#':
			if n := bytes.IndexByte(s.text[s.at:], '\n'); n >= 0 {
				s.at += n
			} else {
				s.at = len(s.text) - 1
			}
		default:
			return
		}
	}
}

// next consumes c if it comes next.
func (s *locator) next(c byte) bool {
	if s.at >= len(s.text) || s.text[s.at] != c {
		return false
	}
	s.at++
	return true
}

// pair scans "key = value" below a path.
func (s *locator) pair(table string) {
	name, at := s.key()
	s.pos.keys[table+name] = at
	if s.next('=') {
		s.space(false)
		s.value(table + name)
	}
}

// key scans a dotted key and the blanks around it, and returns it with its offset.
func (s *locator) key() (string, int) {
	s.space(false)
	at := s.at
	var parts []string
	for {
		s.space(false)
		start := s.at
		if s.at < len(s.text) && (s.text[s.at] == '"' || s.text[s.at] == '\'') {
			s.quoted()
			parts = append(parts, unquote(string(s.text[start:s.at])))
		} else {
			for s.at < len(s.text) && bare(s.text[s.at]) {
				s.at++
			}
			parts = append(parts, string(s.text[start:s.at]))
		}
		s.space(false)
		if !s.next('.') {
			return strings.Join(parts, "."), at
		}
	}
}

// bare reports whether a key needs no quotes for a byte.
func bare(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// unquote returns the text of a quoted key. Go's escapes include those of TOML that keys are likely
// to have; a key with others keeps them, and the reader then does not know its position.
func unquote(s string) string {
	if s[0] == '"' {
		if text, err := strconv.Unquote(s); err == nil {
			return text
		}
	}
	return strings.Trim(s, s[:1])
}

// value scans a value, and what it holds.
func (s *locator) value(path string) {
	if s.at == len(s.text) {
		return
	}
	s.pos.values[path] = s.at
	switch s.text[s.at] {
	case '"', '\'':
		s.pos.values[path] = s.quoted()
	case '[':
		i := 0
		s.list(']', func() {
			s.value(fmt.Sprintf("%s.%d", path, i))
			i++
		})
	case '{':
		s.list('}', func() { s.pair(path + ".") })
	default:
		if n := bytes.IndexAny(s.text[s.at:], ",]}#\n"); n >= 0 {
			s.at += n
		} else {
			s.at = len(s.text)
		}
	}
}

// list scans the items between brackets, separated by commas; a comma may follow the last one.
func (s *locator) list(end byte, item func()) {
	for s.at++; s.at < len(s.text); {
		s.space(true)
		if s.next(end) {
			return
		}
		before := s.at
		item()
		s.space(true)
		if !s.next(',') && s.at == before { // not TOML
			s.at++
		}
	}
}

// quoted scans a string of any of the four kinds (basic or literal, on one line or several), and
// returns the offset at which its text starts. Escapes exist in basic strings only.
func (s *locator) quoted() int {
	quote := s.text[s.at : s.at+1]
	if triple := bytes.Repeat(quote, 3); bytes.HasPrefix(s.text[s.at:], triple) {
		quote = triple
	}
	s.at += len(quote)
	start := s.at
	for s.at < len(s.text) && !bytes.HasPrefix(s.text[s.at:], quote) {
		if s.text[s.at] == '\\' && quote[0] == '"' {
			s.at++
		}
		s.at++
	}
	s.at = min(s.at+len(quote), len(s.text))
	// """a""""": up to two quotes may end the text, before the three that close it.
	for n := 0; len(quote) == 3 && n < 2 && s.next(quote[0]); n++ {
	}
	return start
}
