package launch

import "bytes"

// A scanner splits C++ or PTX text into the few kinds of token that pragmas and host launches need.
// It is not a C++ front end: it recognizes comments, strings, numbers and preprocessor lines only
// so that text inside them is not mistaken for a launch. It accepts any bytes.
type scanner struct {
	src       []byte
	off       int  // of the next byte
	lineStart bool // only white space since the last line break: '#' starts a directive
	ptx       bool // '%' and '$' are part of names, and '#' does not start a directive
}

// A tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokEOF       tokenKind = iota
	tokIdent               // identifier or keyword
	tokNumber              // preprocessing number
	tokString              // string or character literal
	tokPunct               // one operator or bracket
	tokComment             // text without the comment marks
	tokDirective           // a preprocessor line without '#', continuation lines joined
)

// A token is a piece of text with its position.
type token struct {
	kind       tokenKind
	text       string // as in the file, except for comments and directives
	start, end int    // offsets in the file
	maybe      bool   // in a branch of an #if that is perhaps not compiled; set by preprocess

	// A "<<<" that stands for cudaLaunchCooperativeKernel; set by withLaunches.
	cooperative bool
}

// is reports whether t is the punctuation or identifier text; never a string, comment or number.
func (t token) is(text string) bool {
	return (t.kind == tokPunct || t.kind == tokIdent) && t.text == text
}

// scanAll returns all tokens of src without the final tokEOF.
func scanAll(src []byte, ptx bool) []token {
	s := scanner{src: src, lineStart: true, ptx: ptx}
	var toks []token
	for {
		t := s.next()
		if t.kind == tokEOF {
			return toks
		}
		if n := len(toks) - 1; n >= 0 && s.joined(toks[n], t) {
			both := scanner{src: []byte(toks[n].text + t.text), ptx: ptx}
			if j := both.next(); both.off == len(both.src) { // one token in two lines
				j.start, j.end = toks[n].start, t.end
				toks[n] = j
				continue
			}
		}
		toks = append(toks, t)
	}
}

// joined reports whether nothing but joined lines is between two tokens that may be parts of one.
func (s *scanner) joined(left, right token) bool {
	part := func(t token) bool {
		return t.kind == tokIdent || t.kind == tokNumber || t.kind == tokPunct
	}
	if left.end == right.start || !part(left) || !part(right) || s.src[left.end] != '\\' {
		return false
	}
	between := scanner{src: s.src, off: left.end}
	for between.off < right.start {
		n := between.splice()
		if n == 0 {
			return false
		}
		between.off += n
	}
	return true
}

// next returns the next token.
func (s *scanner) next() token {
	for s.off < len(s.src) {
		if n := s.splice(); n > 0 {
			s.off += n
			continue
		}
		if !isSpace(s.src[s.off]) {
			break
		}
		if s.src[s.off] == '\n' {
			s.lineStart = true
		}
		s.off++
	}
	if s.off >= len(s.src) {
		return token{kind: tokEOF, start: s.off, end: s.off}
	}
	start, atStart := s.off, s.lineStart
	s.lineStart = false
	c := s.src[start]
	switch {
	case c == '/' && s.second() == '/':
		return s.lineComment()
	case c == '/' && s.second() == '*':
		s.lineStart = atStart
		return s.blockComment()
	case c == '#' && atStart && !s.ptx:
		return s.directive()
	case c == '"' || c == '\'':
		s.quoted(c)
		return s.tok(tokString, start)
	case isDigit(c) || c == '.' && start+1 < len(s.src) && isDigit(s.src[start+1]):
		s.number()
		return s.tok(tokNumber, start)
	case s.isName(c):
		return s.name()
	}
	s.off += operatorLen(s.src[start:])
	return s.tok(tokPunct, start)
}

// tok returns a token with the text from start to the current offset.
func (s *scanner) tok(kind tokenKind, start int) token {
	return token{kind: kind, text: string(s.src[start:s.off]), start: start, end: s.off}
}

// has reports whether the rest of the text starts with prefix.
func (s *scanner) has(prefix string) bool { return bytes.HasPrefix(s.src[s.off:], []byte(prefix)) }

// splice returns the length of the backslash and the line break at the current offset, which join
// two lines in C++ before anything else is read; 0 if there are none. Space between them does not
// count, as GCC and Clang have it.
func (s *scanner) splice() int {
	if s.ptx || s.off >= len(s.src) || s.src[s.off] != '\\' {
		return 0
	}
	for i := s.off + 1; i < min(len(s.src), s.off+maxSpliceSpace); i++ {
		switch c := s.src[i]; {
		case c == '\n':
			return i + 1 - s.off
		case !isSpace(c):
			return 0
		}
	}
	return 0
}

// maxSpliceSpace bounds the space that is looked through for a line break.
const maxSpliceSpace = 100

// second returns the character after the one at the current offset, which may be on the next of
// joined lines; 0 if there is none.
func (s *scanner) second() byte {
	at := scanner{src: s.src, off: s.off + 1, ptx: s.ptx}
	for n := at.splice(); n > 0; n = at.splice() {
		at.off += n
	}
	if at.off < len(s.src) {
		return s.src[at.off]
	}
	return 0
}

// lineComment consumes a // comment up to a line break without a backslash before it.
func (s *scanner) lineComment() token {
	start := s.off
	for s.off < len(s.src) && s.src[s.off] != '\n' {
		s.off += max(s.splice(), 1)
	}
	return token{kind: tokComment, text: string(s.src[start+2 : s.off]), start: start, end: s.off}
}

// blockComment consumes a comment up to its end, or the rest of the text.
func (s *scanner) blockComment() token {
	start := s.off
	body := s.src[start+2:]
	if n := bytes.Index(body, []byte("*/")); n >= 0 {
		s.off = start + 2 + n + 2
		return token{kind: tokComment, text: string(body[:n]), start: start, end: s.off}
	}
	s.off = len(s.src)
	return token{kind: tokComment, text: string(body), start: start, end: s.off}
}

// directive consumes a preprocessor line up to a line break without a backslash before it. A //
// comment at its end is not part of it. Block comments become spaces, so that a macro body can be
// scanned again.
func (s *scanner) directive() token {
	start := s.off
	var text []byte
	s.off++
	for s.off < len(s.src) && s.src[s.off] != '\n' && !s.has("//") {
		switch {
		case s.has("/*"):
			s.blockComment()
			text = append(text, ' ')
		case s.splice() > 0:
			s.off += s.splice()
		case s.src[s.off] == '"' || s.src[s.off] == '\'' && !isDigit(s.src[s.off-1]):
			first := s.off
			s.quoted(s.src[s.off])
			text = append(text, s.src[first:s.off]...)
		default:
			text = append(text, s.src[s.off])
			s.off++
		}
	}
	return token{kind: tokDirective, text: string(text), start: start, end: s.off}
}

// quoted consumes a literal up to its closing quote or the end of the line: an unterminated
// literal, which only malformed text has, must not swallow the rest of the file.
func (s *scanner) quoted(quote byte) {
	for s.off++; s.off < len(s.src) && s.src[s.off] != '\n'; s.off++ {
		switch s.src[s.off] {
		case '\\':
			s.off++
		case quote:
			s.off++
			return
		}
	}
	s.off = min(s.off, len(s.src))
}

// name consumes an identifier, or a raw string if the identifier is a prefix that ends in R.
func (s *scanner) name() token {
	start := s.off
	for s.off < len(s.src) && (s.isName(s.src[s.off]) || isDigit(s.src[s.off])) {
		s.off++
	}
	t := s.tok(tokIdent, start)
	if !s.ptx && len(t.text) <= 3 && t.text[len(t.text)-1] == 'R' && s.has("\"") {
		s.rawString()
		return s.tok(tokString, start)
	}
	return t
}

// rawString consumes "delimiter(...)delimiter", the part of a raw string after its prefix.
func (s *scanner) rawString() {
	open := bytes.IndexByte(s.src[s.off:], '(')
	if open < 0 || open > 17 { // the delimiter has at most 16 characters
		s.quoted('"')
		return
	}
	closing := ")" + string(s.src[s.off+1:s.off+open]) + `"`
	if n := bytes.Index(s.src[s.off+open:], []byte(closing)); n >= 0 {
		s.off += open + n + len(closing)
		return
	}
	s.off = len(s.src)
}

// number consumes a preprocessing number: digits, letters, points, digit separators and signed
// exponents.
func (s *scanner) number() {
	for s.off < len(s.src) {
		c := s.src[s.off]
		sign := (c == '+' || c == '-') && bytes.IndexByte([]byte("eEpP"), s.src[s.off-1]) >= 0 &&
			!s.hexBefore()
		sep := c == '\'' && s.off+1 < len(s.src) && (isDigit(s.src[s.off+1]) || isLetter(s.src[s.off+1]))
		if !isDigit(c) && !isLetter(c) && c != '.' && !sign && !sep {
			return
		}
		s.off++
	}
}

// hexBefore reports whether the number that ends at off is hexadecimal without an exponent. There e
// is a digit and a sign is an operator: 0xe+1.
func (s *scanner) hexBefore() bool {
	i := s.off - 1
	if c := s.src[i]; c == 'p' || c == 'P' {
		return false
	}
	for i > 0 && (isDigit(s.src[i-1]) || isLetter(s.src[i-1])) {
		i--
	}
	return s.src[i] == '0' && i+1 < s.off && (s.src[i+1] == 'x' || s.src[i+1] == 'X')
}

// isName reports whether c can start a name.
func (s *scanner) isName(c byte) bool {
	return isLetter(c) || c >= 0x80 || c == '$' || s.ptx && c == '%'
}

func isSpace(c byte) bool  { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// operators are those of more than one character, longest first.
var operators = []string{
	"<<<", ">>>", "<<=", ">>=", "...", "->*",
	"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "->", "::",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##", "<%", "%>",
}

// operatorLen returns the length of the operator that b starts with, 1 if it is a single character.
func operatorLen(b []byte) int {
	for _, op := range operators {
		if bytes.HasPrefix(b, []byte(op)) {
			return len(op)
		}
	}
	return 1
}
