package mcp

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/internal/driver"
	"heddle/internal/lazyregexp"
	"heddle/internal/lower"
	"heddle/internal/source"
)

// Messages of a compiler quote the lines of headers, so a text that includes /etc/passwd would show
// it. Before a compilation, every directive in the text and in the headers below the roots that it
// names is therefore checked: it must name a file below a root, or one that only the compiler's own
// directories have. The scan knows nothing of comments and conditions, so it finds every directive,
// and refuses some that the compiler would not follow.

// directiveRE matches what may be a directive that reads a file, up to its operand. A comment may
// be wherever white space may be, and %: is another spelling of #.
var directiveRE = lazyregexp.New(
	`(?s)(?:#|%:|\?\?=)(?:\s|/\*.*?\*/)*(?:include_next|include|import|embed)\b(?:\s|/\*.*?\*/)*`)

// plain replaces the spellings of the end of a line and of the backslash before it. spliceRE
// matches the end of a line that continues in the next one.
var (
	plain    = strings.NewReplacer("\r\n", "\n", "\r", "\n", "??/", `\`)
	spliceRE = lazyregexp.New(`\\[ \t\v\f]*\n`)
)

// mostHeaders and maxHeader bound the headers that are read, and their bytes.
const (
	mostHeaders = 2000
	maxHeader   = 16 << 20
)

// includes checks what an input includes.
type includes struct {
	roots *roots
	dirs  []string // in which the compiler searches
	seen  map[string]bool
	work  []string // headers that are still to be read
}

// checkIncludes returns an error if an input names a file outside of the roots that a compiler
// would read. It is called for languages with a preprocessor.
func (s *Server) checkIncludes(in *driver.Input, opt *lower.Options) error {
	all := opt.With(in.Flags)
	c := &includes{roots: s.roots, seen: map[string]bool{}}
	for _, dir := range slices.Concat(all.Includes, all.Systems, []string{all.CCCL}) {
		if dir != "" && !s.roots.mayRead(dir) {
			return fmt.Errorf("the include directory %s is outside of the roots of this server: %s",
				dir, s.roots)
		}
	}
	c.dirs = slices.Concat(all.Includes, all.Systems)
	text, dir := in.Content, "."
	if text == nil {
		dir = filepath.Dir(in.Name)
		var err error
		if text, err = source.ReadRegular(in.Name, maxHeader); err != nil {
			return nil // the driver reports it, and compiles nothing of this size
		}
	}
	if err := c.text(in.Name, dir, text); err != nil {
		return err
	}
	for len(c.work) > 0 && len(c.seen) < mostHeaders {
		path := c.work[0]
		c.work = c.work[1:]
		text, err := source.ReadRegular(path, maxHeader)
		if err != nil {
			continue // the compiler reports it
		}
		if err := c.text(path, filepath.Dir(path), text); err != nil {
			return err
		}
	}
	return nil
}

// text checks the directives of a file in a directory.
func (c *includes) text(name, dir string, text []byte) error {
	text = spliceRE.ReplaceAll([]byte(plain.Replace(string(text))), nil)
	for _, m := range directiveRE.FindAllIndex(text, -1) {
		if !begins(text[:m[0]]) {
			continue
		}
		what := text[m[1]:]
		if end := bytes.IndexByte(what, '\n'); end >= 0 {
			what = what[:end]
		}
		where := fmt.Sprintf("%s:%d", name, 1+bytes.Count(text[:m[0]], []byte{'\n'}))
		header, ok := operand(what)
		if !ok {
			return fmt.Errorf("%s: this server must know which file an #include reads; write its name "+
				"instead of a macro, or start heddle mcp with --trust", where)
		}
		if err := c.header(where, dir, header); err != nil {
			return err
		}
	}
	return nil
}

// begins reports whether only white space and comments are between the start of the line and the
// end of a text. Comments are known by their ends.
func begins(before []byte) bool {
	before = before[bytes.LastIndexByte(before, '\n')+1:]
	if end := bytes.LastIndex(before, []byte("*/")); end >= 0 {
		before = before[end+2:]
	}
	return len(bytes.TrimSpace(before)) == 0
}

// operand returns the name between the quotes or brackets at the start of a text.
func operand(text []byte) (string, bool) {
	if len(text) == 0 {
		return "", false
	}
	end := map[byte]byte{'"': '"', '<': '>'}[text[0]]
	n := bytes.IndexByte(text[1:], end)
	if end == 0 || n < 0 {
		return "", false
	}
	return string(text[1 : 1+n]), true
}

// header checks one name. The compiler searches its own directories last, with names that may not
// climb out of them.
func (c *includes) header(where, dir, name string) error {
	refused := fmt.Errorf("%s: %s is outside of the roots of this server: %s", where, name, c.roots)
	candidates := []string{name}
	if !filepath.IsAbs(name) {
		candidates = nil
		for _, d := range append([]string{dir}, c.dirs...) {
			candidates = append(candidates, filepath.Join(d, name))
		}
	}
	found := false
	for _, p := range candidates {
		if _, err := os.Stat(p); err != nil && !filepath.IsAbs(name) {
			continue
		}
		found = true
		if !c.roots.mayRead(p) {
			return refused
		}
		if !c.seen[p] {
			c.seen[p] = true
			c.work = append(c.work, p)
		}
	}
	if !found && slices.Contains(strings.Split(filepath.ToSlash(name), "/"), "..") {
		return refused
	}
	return nil
}
