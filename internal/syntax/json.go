package syntax

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// errTree reports output of clang that is not the expected tree.
var errTree = errors.New("clang's output is not a syntax tree (-ast-dump=json)")

// scanner reads JSON token by token and skips unused values without storing them, because the
// headers make the tree far larger than the user's code. clang prints the file of a location only
// if it differs from that of the previous location, so the scanner also tracks files in skipped
// values.
type scanner struct {
	r     *bufio.Reader
	file  string // of the last location
	names map[string]string
	buf   []byte
	depth int
}

// maxDepth bounds the nesting of a tree; clang's own limit for brackets is 256, and an expression
// nests deeper.
const maxDepth = 20000

// newScanner returns a scanner of a stream, with a buffer of 64 KiB.
func newScanner(r io.Reader) *scanner {
	return &scanner{r: bufio.NewReaderSize(r, 1<<16), names: make(map[string]string)}
}

// next returns the next byte that is not white space.
func (s *scanner) next() (byte, error) {
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			if err == io.EOF {
				err = fmt.Errorf("%w: unexpected end", errTree)
			}
			return 0, err
		}
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c, nil
		}
	}
}

// object reads an object; field must read or skip the value of each key. open means that the
// opening brace has been read.
func (s *scanner) object(open bool, field func(key string) error) error {
	if !open {
		if err := s.expect('{'); err != nil {
			return err
		}
	}
	if s.depth++; s.depth > maxDepth {
		return fmt.Errorf("%w: more than %d nested values", errTree, maxDepth)
	}
	defer func() { s.depth-- }()
	for first := true; ; first = false {
		c, err := s.next()
		switch {
		case err != nil:
			return err
		case c == '}':
			return nil
		case c == ',' && !first:
			if c, err = s.next(); err != nil {
				return err
			}
		case !first:
			return fmt.Errorf("%w: unexpected %q in an object", errTree, c)
		}
		if c != '"' {
			return fmt.Errorf("%w: expected a key, found %q", errTree, c)
		}
		key, err := s.str()
		if err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		if err := field(key); err != nil {
			return err
		}
	}
}

// array reads an array of objects; element reads one whose opening brace has been read.
func (s *scanner) array(element func() error) error {
	if err := s.expect('['); err != nil {
		return err
	}
	for {
		c, err := s.next()
		switch {
		case err != nil:
			return err
		case c == ']':
			return nil
		case c == ',':
			continue
		case c != '{':
			return fmt.Errorf("%w: unexpected %q in an array of nodes", errTree, c)
		}
		if err := element(); err != nil {
			return err
		}
	}
}

// expect reads the next byte that is not white space and fails if it is another one.
func (s *scanner) expect(want byte) error {
	c, err := s.next()
	if err == nil && c != want {
		err = fmt.Errorf("%w: %q in place of %q", errTree, c, want)
	}
	return err
}

// str reads the rest of a string. Equal texts share one string, since kinds and types repeat. It
// decodes only escaped backslashes and quotes; names that matter have no other escapes.
func (s *scanner) str() (string, error) {
	s.buf = s.buf[:0]
	for {
		part, err := s.r.ReadSlice('"')
		if err == bufio.ErrBufferFull {
			s.buf = append(s.buf, part...)
			continue
		}
		if err != nil {
			return "", fmt.Errorf("%w: unterminated string", errTree)
		}
		s.buf = append(s.buf, part...)
		slashes := 0
		for i := len(s.buf) - 2; i >= 0 && s.buf[i] == '\\'; i-- {
			slashes++
		}
		if slashes%2 == 0 {
			break
		}
	}
	text := unescape(s.buf[:len(s.buf)-1])
	if name, ok := s.names[string(text)]; ok {
		return name, nil
	}
	name := string(text)
	if len(name) < 100 {
		s.names[name] = name
	}
	return name, nil
}

// unescape replaces \" and \\ in place.
func unescape(b []byte) []byte {
	out := b[:0]
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+1 < len(b) && (b[i+1] == '"' || b[i+1] == '\\' || b[i+1] == '/') {
			i++
		}
		out = append(out, b[i])
	}
	return out
}

// stringValue reads a value that is a string.
func (s *scanner) stringValue() (string, error) {
	if err := s.expect('"'); err != nil {
		return "", err
	}
	return s.str()
}

// intValue reads a value that is a number.
func (s *scanner) intValue() (int, error) {
	c, err := s.next()
	n := 0
	for ; err == nil && c >= '0' && c <= '9' && n < 1<<40; c, err = s.r.ReadByte() {
		n = n*10 + int(c-'0')
	}
	if err != nil {
		return 0, err
	}
	return n, s.r.UnreadByte()
}

// boolValue reads true or false.
func (s *scanner) boolValue() (bool, error) {
	c, err := s.next()
	if err != nil {
		return false, err
	}
	n := 3
	if c == 'f' {
		n = 4
	}
	_, err = s.r.Discard(n)
	return c == 't', err
}

// skip skips a value.
func (s *scanner) skip() error {
	c, err := s.next()
	if err != nil {
		return err
	}
	switch c {
	case '"':
		_, err = s.skipString()
		return err
	case '{', '[':
		return s.skipNested()
	}
	for c != ',' && c != '}' && c != ']' && c != '\n' && c != ' ' {
		if c, err = s.r.ReadByte(); err != nil {
			return err
		}
	}
	return s.r.UnreadByte()
}

// skipNested skips the rest of an object or array and tracks the files in it.
func (s *scanner) skipNested() error {
	depth := 1
	inside := 0 // depth of an enclosing includedFrom, whose file belongs to no location
	for {
		chunk, err := s.window()
		if err != nil {
			return err
		}
		i := 0
		for i < len(chunk) && chunk[i] != '"' && chunk[i] != '{' && chunk[i] != '}' && chunk[i] != '[' &&
			chunk[i] != ']' {
			i++
		}
		if i == len(chunk) {
			s.discard(i)
			continue
		}
		s.discard(i + 1)
		switch chunk[i] {
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth--; depth == 0 {
				return nil
			}
			if depth == inside {
				inside = 0
			}
			continue
		}
		word, err := s.skipString()
		if err != nil {
			return err
		}
		switch word {
		case includedFromWord:
			if inside == 0 && s.isKey() {
				inside = depth
			}
		case fileWord:
			if inside == 0 && s.isKey() {
				if err := s.readFile(); err != nil {
					return err
				}
			}
		}
	}
}

// window returns the buffered input, at least one byte.
func (s *scanner) window() ([]byte, error) {
	if s.r.Buffered() == 0 {
		if _, err := s.r.Peek(1); err != nil {
			return nil, fmt.Errorf("%w: unexpected end", errTree)
		}
	}
	return s.r.Peek(s.r.Buffered())
}

// discard removes n bytes of the buffered input, which window has returned; it cannot fail.
func (s *scanner) discard(n int) { _, _ = s.r.Discard(n) }

// word is a key that skipString recognizes.
type word uint8

const (
	otherWord word = iota
	fileWord
	includedFromWord
)

// skipString skips the rest of a string and returns which word it was.
func (s *scanner) skipString() (word, error) {
	n := 0
	var head [16]byte
	for {
		chunk, err := s.window()
		if err != nil {
			return otherWord, err
		}
		for i, c := range chunk {
			switch {
			case c == '"':
				s.discard(i + 1)
				switch {
				case n == 4 && string(head[:4]) == "file":
					return fileWord, nil
				case n == 12 && string(head[:12]) == "includedFrom":
					return includedFromWord, nil
				}
				return otherWord, nil
			case c == '\\':
				s.discard(i + 1)
				if _, err := s.r.ReadByte(); err != nil {
					return otherWord, err
				}
				n = len(head) // too long for any word
				chunk = nil
			case n < len(head):
				head[n] = c
				n++
			}
			if chunk == nil {
				break
			}
		}
		s.discard(len(chunk))
	}
}

// isKey reports whether a colon follows, so that the previous string is a key.
func (s *scanner) isKey() bool {
	b, err := s.r.Peek(1)
	return err == nil && b[0] == ':'
}

// readFile reads the value of a key "file", starting at the colon.
func (s *scanner) readFile() error {
	if err := s.expect(':'); err != nil {
		return err
	}
	name, err := s.stringValue()
	if err == nil {
		s.file = name
	}
	return err
}
