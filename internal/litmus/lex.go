package litmus

import (
	"fmt"
	"strconv"
	"strings"
)

// kind is the kind of a token.
type kind uint8

const (
	end kind = iota
	word
	number
	mark // punctuation
)

// token is a word of the text.
type token struct {
	kind  kind
	text  string
	value int64 // of a number
	pos   Pos
	at    int // offset in the text
}

// String names the token in messages.
func (t token) String() string {
	if t.kind == end {
		return "the end of the file"
	}
	return fmt.Sprintf("%q", t.text)
}

// lexer cuts a text into tokens. Errors are passed on as panics with *Error, which Read recovers.
type lexer struct {
	file string
	text string
	at   int
	pos  Pos
}

// fail ends reading with a message.
func (l *lexer) fail(pos Pos, format string, args ...any) {
	panic(&Error{File: l.file, Pos: pos, Text: fmt.Sprintf(format, args...)})
}

// skip moves over n bytes.
func (l *lexer) skip(n int) {
	for _, c := range []byte(l.text[l.at : l.at+n]) {
		l.pos.Col++
		if c == '\n' {
			l.pos = Pos{l.pos.Line + 1, 1}
		}
	}
	l.at += n
}

// space moves over white space and comments.
func (l *lexer) space() {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			l.skip(1)
		case strings.HasPrefix(rest, "(*"):
			l.comment("*)")
		case strings.HasPrefix(rest, "<<"):
			l.comment(">>")
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			l.skip(n)
		default:
			return
		}
	}
}

// comment moves behind the end of a comment.
func (l *lexer) comment(last string) {
	rest := l.text[l.at+2:]
	n := strings.Index(rest, last)
	if n < 0 {
		l.fail(l.pos, "the comment that starts here has no %q", last)
	}
	l.skip(2 + n + len(last))
}

// marks are the marks of more than one character; a longer one comes before its own start.
var marks = []string{`/\`, `\/`, "==", "!=", "<=", ">="}

// next returns the next token.
func (l *lexer) next() token {
	l.space()
	t := token{pos: l.pos, at: l.at}
	if l.at == len(l.text) {
		return t
	}
	rest := l.text[l.at:]
	n := 0
	switch c := rest[0]; {
	case letter(c):
		for n < len(rest) && (letter(rest[n]) || digit(rest[n])) {
			n++
		}
		t.kind = word
	case digit(c):
		for n < len(rest) && (letter(rest[n]) || digit(rest[n])) {
			n++
		}
		t.kind = number
	default:
		t.kind, n = mark, 1
		for _, m := range marks {
			if strings.HasPrefix(rest, m) {
				n = len(m)
				break
			}
		}
		if n == 1 && strings.IndexByte(`{}[]();:,.|=<>@&~-`, c) < 0 {
			l.fail(l.pos, "unexpected character %q", rest[0])
		}
	}
	t.text = rest[:n]
	if t.kind == number {
		v, err := strconv.ParseInt(t.text, 0, 64)
		if err != nil && strings.HasPrefix(t.text, "0") {
			v, err = strconv.ParseInt(t.text, 10, 64)
		}
		if err != nil {
			l.fail(t.pos, "%q is not a number of 64 bits", t.text)
		}
		t.value = v
	}
	l.skip(n)
	return t
}

func letter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }
