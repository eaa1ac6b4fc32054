package ptx

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle/internal/source"
)

// Scanning follows ISA chapter 4, with these deviations: identifiers may contain letters outside
// ASCII, line markers of a preprocessor are skipped, and a dotted word such as .shared::cta is one
// token. Numbers are only delimited here and checked later, so that "12ab" is one wrong number and
// not two tokens.
//
// The text ends with NULs, so that no loop needs to test for its end. A NUL inside the text is a
// byte that no token contains.

// kind classifies a token. Each operator and punctuation mark is a kind; kindText has its text.
type kind uint8

const (
	tEOF     kind = iota
	tBad          // text that is not a token; scanner.bad describes it
	tIdent        // identifiers, opcodes, "_"
	tDot          // ".word", ".word::word"
	tInt          // integer literal
	tFloat        // floating literal
	tString       // quoted string, with its quotes
	tDwarf        // @@DWARF
	tEllip        // ...
	tComma        // ,
	tSemi         // ;
	tColon        // :
	tLBrace       // {
	tRBrace       // }
	tLBrack       // [
	tRBrack       // ]
	tLParen       // (
	tRParen       // )
	tAt           // @
	tAssign       // =
	tBang         // !
	tTilde        // ~
	tPlus         // +
	tMinus        // -
	tStar         // *
	tSlash        // /
	tPercent      // %
	tShl          // <<
	tShr          // >>
	tLt           // <
	tGt           // >
	tLe           // <=
	tGe           // >=
	tEq           // ==
	tNe           // !=
	tAnd          // &
	tXor          // ^
	tOr           // |
	tLAnd         // &&
	tLOr          // ||
	tQuest        // ?
	numKinds
)

// kindText is the text of each punctuation token.
var kindText = [numKinds]string{
	tEllip: "...", tComma: ",", tSemi: ";", tColon: ":", tLBrace: "{", tRBrace: "}", tLBrack: "[",
	tRBrack: "]",
	tLParen: "(", tRParen: ")", tAt: "@", tAssign: "=", tBang: "!", tTilde: "~", tPlus: "+",
	tMinus: "-",
	tStar:  "*", tSlash: "/", tPercent: "%", tShl: "<<", tShr: ">>", tLt: "<", tGt: ">", tLe: "<=",
	tGe: ">=",
	tEq: "==", tNe: "!=", tAnd: "&", tXor: "^", tOr: "|", tLAnd: "&&", tLOr: "||", tQuest: "?",
}

// Classes of a byte, as bits that the loops of the scanner test.
const (
	cWord   = 1 << iota // may continue an identifier: [a-zA-Z0-9_$] (ISA 4.4)
	cStart              // may start an identifier: a letter, _ or $
	cDigit              // 0-9
	cHex                // 0-9 a-f A-F
	cSpace              // blank, tab, \r, \v, \f; not \n
	cSkip               // may start skipped text: \n / #
	cOpcode             // may be in an opcode: cWord and the dot
)

// class maps each byte to the set of its classes.
var class = func() (t [256]uint8) {
	for c := range 256 {
		switch b := byte(c); {
		case b >= '0' && b <= '9':
			t[c] = cWord | cDigit | cHex | cOpcode
		case b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F':
			t[c] = cWord | cStart | cHex | cOpcode
		case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b == '$':
			t[c] = cWord | cStart | cOpcode
		case b == ' ' || b == '\t' || b == '\r' || b == '\v' || b == '\f':
			t[c] = cSpace
		case b == '.':
			t[c] = cOpcode
		case b == '\n' || b == '/' || b == '#':
			t[c] = cSkip
		}
	}
	return t
}()

// alone maps bytes that are tokens regardless of the next byte.
var alone = [256]kind{
	',': tComma, ';': tSemi, ':': tColon, '{': tLBrace, '}': tRBrace, '[': tLBrack, ']': tRBrack,
	'(': tLParen, ')': tRParen, '+': tPlus, '-': tMinus,
}

// single maps bytes that can be one-byte tokens.
var single = [256]kind{
	',': tComma, ';': tSemi, ':': tColon, '{': tLBrace, '}': tRBrace, '[': tLBrack, ']': tRBrack,
	'(': tLParen, ')': tRParen, '=': tAssign, '!': tBang, '~': tTilde, '+': tPlus, '-': tMinus,
	'*': tStar,
	'/': tSlash, '<': tLt, '>': tGt, '&': tAnd, '^': tXor, '|': tOr, '?': tQuest, '@': tAt,
	'%': tPercent,
}

// double maps the second byte of a two-byte token to its kind, by the kind of the first.
var double = [numKinds][256]kind{
	tLt: {'<': tShl, '=': tLe}, tGt: {'>': tShr, '=': tGe}, tAssign: {'=': tEq}, tBang: {'=': tNe},
	tAnd: {'&': tLAnd}, tOr: {'|': tLOr},
}

// scanner splits PTX text (ISA chapter 4) into tokens. It holds one token, the current one. No
// token spans several lines, so a position is the start of its line plus the column.
type scanner struct {
	src string // the text and padding; its first NUL ends every scanning loop
	end int    // offset of the padding
	off int    // offset after the current token

	file      source.FileID
	line      int // of the current token, from 1
	lineStart int // offset of the current line

	kind  kind
	start int    // offset of the current token
	prev  place  // end of the previous token
	bad   string // describes a tBad token

	comments []*Comment // "// heddle" comments that are not in the tree yet
}

// place is an offset with its line.
type place struct{ off, line, lineStart int }

// padding follows the text, so that a word of 8 bytes can be read at any of its bytes.
const padding = "\x00\x00\x00\x00\x00\x00\x00\x00"

// init starts scanning f, after a byte order mark if there is one.
func (s *scanner) init(f *source.File) {
	var b strings.Builder
	b.Grow(len(f.Content) + len(padding))
	b.Write(f.Content)
	b.WriteString(padding)
	s.src, s.end, s.file = b.String(), len(f.Content), f.ID
	if strings.HasPrefix(s.src, "\xef\xbb\xbf") { // a byte order mark
		s.off = 3
	}
	s.newline(0)
}

// newline records that the next line starts at offset.
func (s *scanner) newline(offset int) { s.line, s.lineStart = s.line+1, offset }

// at returns the position of an offset in the current line.
func (s *scanner) at(offset int) source.Pos {
	return source.MakePos(s.file, s.line, offset-s.lineStart+1)
}

// pos returns the position of the current token.
func (s *scanner) pos() source.Pos { return s.at(s.start) }

// text returns the current token as written.
func (s *scanner) text() string { return s.src[s.start:s.off] }

// span returns the range of the current token.
func (s *scanner) span() source.Span { return source.Span{Start: s.at(s.start), End: s.at(s.off)} }

// firstOnLine reports whether the current token is the first of its line.
func (s *scanner) firstOnLine() bool { return s.line != s.prev.line }

// next advances to the next token. It handles the frequent kinds of token inline, since scanning is
// most of the time that parsing takes.
func (s *scanner) next() {
	s.prev = place{s.off, s.line, s.lineStart}
	src, i := s.src, s.off
	c := src[i]
	for class[c]&cSpace != 0 {
		i++
		c = src[i]
	}
	if class[c]&cSkip != 0 {
		i = s.skip(i)
		c = src[i]
	}
	s.start = i
	switch {
	case class[c]&cStart != 0:
		i++
		for class[src[i]]&cWord != 0 {
			i++
		}
		s.kind = tIdent
		if src[i] >= utf8.RuneSelf {
			i = s.wideWord(i)
		}
	case alone[c] != tEOF:
		i++
		s.kind = alone[c]
	case c == '%':
		i++
		s.kind = tPercent
		if class[src[i]]&cWord != 0 {
			for class[src[i]]&cWord != 0 {
				i++
			}
			s.kind = tIdent
		}
	case class[c]&cDigit != 0 || c == '.' && class[src[i+1]]&cDigit != 0:
		i = s.number(i)
	case c == '.':
		i = s.dotWord(i)
	default:
		i = s.other(i)
	}
	s.off = i
}

// skip skips white space, comments and preprocessor line markers from offset i. It counts lines,
// also those in block comments.
func (s *scanner) skip(i int) int {
	src := s.src
	for {
		switch c := src[i]; {
		case class[c]&cSpace != 0:
			i++
		case c == '\n':
			i++
			s.newline(i)
		case c == '/' && src[i+1] == '/':
			i = s.lineComment(i)
		case c == '/' && src[i+1] == '*':
			end := strings.Index(src[i+2:], "*/")
			if end < 0 {
				return i // other reports it
			}
			end += i + 4
			for ; i < end; i++ {
				if src[i] == '\n' {
					s.newline(i + 1)
				}
			}
		case c == '#' && s.lineMark(i):
			i = s.lineEnd(i)
		default:
			return i
		}
	}
}

// lineEnd returns the offset of the line end at or after i.
func (s *scanner) lineEnd(i int) int {
	if n := strings.IndexByte(s.src[i:], '\n'); n >= 0 {
		return i + n
	}
	return s.end
}

// lineComment skips the // comment at i, and keeps it if it starts with "// heddle". The word must
// end there: "// heddles" is an ordinary comment.
func (s *scanner) lineComment(i int) int {
	end := s.lineEnd(i)
	text := strings.TrimLeft(s.src[i+2:end], " \t")
	if !strings.HasPrefix(text, commentMark) {
		return end
	}
	text = strings.TrimSpace(text)
	if len(text) > len(commentMark) && class[text[len(commentMark)]]&cWord != 0 {
		return end
	}
	c := &Comment{Text: text}
	c.Sp = source.Span{Start: s.at(i), End: s.at(end)}
	s.comments = append(s.comments, c)
	return end
}

// commentMark starts the comments that become nodes.
const commentMark = "heddle"

// lineMark reports whether the # at i starts a line that the C preprocessor leaves in its output
// (ISA 4.1):
// # 12 "file", #line, #file, #pragma or #ident.
func (s *scanner) lineMark(i int) bool {
	if strings.Trim(s.src[s.lineStart:i], " \t") != "" {
		return false
	}
	rest := strings.TrimLeft(s.src[i+1:s.lineEnd(i)], " \t")
	if rest != "" && class[rest[0]]&cDigit != 0 {
		return true
	}
	for _, w := range [...]string{"line", "file", "pragma", "ident"} {
		if strings.HasPrefix(rest, w) {
			return true
		}
	}
	return false
}

// wideWord continues an identifier at i with letters outside ASCII. The ISA (4.1) does not allow
// them, but compilers copy them from the user's source, and no other token can start with such a
// byte. Invalid UTF-8 ends the identifier.
func (s *scanner) wideWord(i int) int {
	for {
		r, n := utf8.DecodeRuneInString(s.src[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			return i
		case n == 1 && class[byte(r)]&cWord != 0, n > 1 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			i += n
		default:
			return i
		}
	}
}

// dotWord scans the token that starts with the dot at i: .global, .shared::cta, or "...".
func (s *scanner) dotWord(i int) int {
	src := s.src
	if strings.HasPrefix(src[i:], "...") {
		s.kind = tEllip
		return i + 3
	}
	end := modEnd(src, i)
	if end == i {
		s.kind, s.bad = tBad, `"."`
		return i + 1
	}
	s.kind = tDot
	return end
}

// modEnd returns the end of the .word{::word} at i, or i if there is none.
func modEnd(src string, i int) int {
	j := i + 1
	if class[src[j]]&cWord == 0 {
		return i
	}
	for {
		for class[src[j]]&cWord != 0 {
			j++
		}
		if src[j] != ':' || src[j+1] != ':' || class[src[j+2]]&cWord == 0 {
			return j
		}
		j += 2
	}
}

// other scans tokens that start with a less frequent byte.
func (s *scanner) other(i int) int {
	c := s.src[i]
	switch {
	case c == 0 && i == s.end:
		s.kind = tEOF
		return i
	case c == '"':
		return s.quoted(i)
	case c == '@' && strings.HasPrefix(s.src[i:], "@@") && isDwarfMark(s.src[i:]):
		s.kind = tDwarf
		return i + len("@@DWARF")
	case c == '/' && s.src[i+1] == '*':
		s.kind, s.bad = tBad, "a comment without */"
		s.src, s.end = s.src[:i+2]+padding, i+2 // the rest is part of the comment
		return i + 2
	case c >= utf8.RuneSelf:
		if end := s.wideWord(i); end > i {
			s.kind = tIdent
			return end
		}
	}
	k := single[c]
	if k == tEOF {
		return s.junk(i)
	}
	s.kind = k
	if k2 := double[k][s.src[i+1]]; k2 != tEOF {
		s.kind = k2
		return i + 2
	}
	return i + 1
}

// isDwarfMark reports whether text starts with @@DWARF, in any case.
func isDwarfMark(text string) bool {
	const n = len("@@DWARF")
	return len(text) > n && strings.EqualFold(text[:n], "@@DWARF") && class[text[n]]&cWord == 0
}

// junk scans consecutive bytes of a line that no token contains as one bad token, so that they
// cause a single error.
func (s *scanner) junk(i int) int {
	j := i
	for j < s.end && class[s.src[j]] == 0 && single[s.src[j]] == tEOF && s.src[j] != '"' &&
		s.src[j] != '.' {
		j++
	}
	if j == i {
		j++
	}
	s.kind, s.bad = tBad, "stray "+quote(s.src[i:j])
	return j
}

// quoted scans the string at i, which must end on its line: ISA 4.2 has no continuation. A
// backslash escapes the next byte, so that it can be a quote.
func (s *scanner) quoted(i int) int {
	for j := i + 1; ; j++ {
		switch c := s.src[j]; {
		case c == '"':
			s.kind = tString
			return j + 1
		case c == '\\' && s.src[j+1] != '\n' && j+1 < s.end:
			j++
		case c == '\n', c == 0 && j == s.end:
			s.kind, s.bad = tBad, "a string without a closing quote"
			return j
		}
	}
}

// number scans the numeric literal at i, which starts with a digit, or a dot and a digit (ISA 4.5).
// It includes following letters and digits, so that 12ab is one invalid number; parseInt and
// parseFloat check the digits.
func (s *scanner) number(i int) int {
	src := s.src
	j := i
	s.kind = tInt
	for class[src[j]]&cDigit != 0 {
		j++
	}
	switch c := src[j]; {
	case c == '.':
		s.kind = tFloat
		j++
		for class[src[j]]&cDigit != 0 {
			j++
		}
		j = exponent(src, j)
	case c == 'e' || c == 'E':
		if k := exponent(src, j); k > j {
			s.kind = tFloat
			j = k
		}
	case j == i+1 && src[i] == '0' && (c == 'f' || c == 'F' || c == 'd' || c == 'D'):
		s.kind = tFloat
	}
	for class[src[j]]&cWord != 0 { // prefix and digits of 0x.., suffix U, and invalid letters
		j++
	}
	return j
}

// exponent returns the end of the exponent at j, or j if there is none.
func exponent(src string, j int) int {
	if src[j] != 'e' && src[j] != 'E' {
		return j
	}
	k := j + 1
	if src[k] == '+' || src[k] == '-' {
		k++
	}
	if class[src[k]]&cDigit == 0 {
		return j
	}
	for class[src[k]]&cDigit != 0 {
		k++
	}
	return k
}
