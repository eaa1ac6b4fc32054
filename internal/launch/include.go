package launch

import (
	"strings"

	"heddle/internal/source"
)

// Preprocessing is what decides, besides the text of a CUDA file, which tokens the compiler sees.
type Preprocessing struct {
	Defines []string // -D options, NAME or NAME=VALUE, which override the file's own macros
	// Include opens what the file named from includes as "name": it returns the path by which files
	// that this one includes know it, and the text; nil if there is no such file. Headers of the
	// system, in angle brackets, are not asked for. Include may be nil.
	Include func(from, name string) (path string, text []byte)
	// System returns the text of a header in angle brackets whose macros stand for launches and
	// functions of the runtime; nil for all others. It may be nil.
	System func(name string) []byte
}

// Limits of what a file includes, which keep the cost of a scan proportional to a project's own
// code.
const (
	maxIncludes     = 64
	maxIncludeDepth = 8
	maxIncludeText  = 1 << 20 // bytes, of all files together
)

// includer inserts the tokens of included files, each file as often as it is included unless it has
// a guard against that.
type includer struct {
	open   func(from, name string) (string, []byte)
	system func(name string) []byte
	seen   map[string]bool
	active map[string]bool // files that the present one is included by, and itself
	count  int             // of included files
	left   int             // bytes that may still be included
	out    []token
}

// included returns the tokens of a file with those of the project's headers in the place of
// #include. Their positions are those of the directive in the file, so that a launch in a header is
// reported where the file includes it.
func included(f *source.File, toks []token, pre *Preprocessing) []token {
	if pre == nil || pre.Include == nil {
		return toks
	}
	x := includer{open: pre.Include, system: pre.System, seen: map[string]bool{f.Name: true},
		active: map[string]bool{f.Name: true}, left: maxIncludeText}
	x.file(f.Name, toks, nil)
	return x.out
}

// file appends the tokens of a file. at are the directives that led to it, outermost first.
func (x *includer) file(name string, toks, at []token) {
	for _, t := range toks {
		if len(at) > 0 {
			t.start, t.end = at[0].start, at[0].end
		}
		header := ""
		if t.kind == tokDirective {
			header = quoted(t)
			if text := x.macros(t); text != nil {
				x.out = append(x.out, text...)
				continue
			}
		}
		if header == "" || len(at) >= maxIncludeDepth {
			x.out = append(x.out, t)
			continue
		}
		path, text := x.open(name, header)
		if text == nil || len(text) > x.left || x.active[path] || x.seen[path] && guarded(text) ||
			x.count >= maxIncludes {
			x.out = append(x.out, t) // within braces it is a statement that is not known
			continue
		}
		x.seen[path] = true
		x.count++
		x.left -= len(text)
		x.active[path] = true
		x.file(path, scanAll(text, false), append(at[:len(at):len(at)], t))
		x.active[path] = false
	}
}

// guarded reports whether a file has an effect only where it is included first: it has a #pragma
// once, or all of it is in an #ifndef of a macro that it defines.
func guarded(text []byte) bool {
	var words [][]token // of the directives
	toks := scanAll(text, false)
	outside, depth := false, 0 // tokens outside of the first #ifndef
	for _, t := range toks {
		if t.kind == tokComment {
			continue
		}
		if t.kind != tokDirective {
			outside = outside || depth == 0
			continue
		}
		w := scanAll([]byte(t.text), false)
		words = append(words, w)
		switch {
		case len(w) == 2 && w[0].is("pragma") && w[1].is("once"):
			return true
		case len(w) > 0 && (w[0].is("if") || w[0].is("ifdef") || w[0].is("ifndef")):
			outside = outside || depth == 0 && len(words) > 1
			depth++
		case len(w) > 0 && w[0].is("endif"):
			depth--
		case len(w) > 0 && depth == 1 && (w[0].is("else") || w[0].is("elif")):
			return false
		}
	}
	return !outside && len(words) > 2 && len(words[0]) == 2 && words[0][0].is("ifndef") &&
		len(words[1]) > 1 && words[1][0].is("define") && words[1][1].text == words[0][1].text
}

// macros returns the tokens of a header of the system, if it has macros that matter and was not
// included before.
func (x *includer) macros(t token) []token {
	header := angled(t)
	if x.system == nil || header == "" || x.seen["<"+header] {
		return nil
	}
	text := x.system(header)
	if text == nil {
		return nil
	}
	x.seen["<"+header] = true
	toks := scanAll(text, false)
	for i := range toks {
		toks[i].start, toks[i].end = t.start, t.end
	}
	return toks
}

// angled returns the name of the header that a directive includes by <name>; empty if it does not.
func angled(t token) string {
	_, rest, ok := strings.Cut(t.text, "include")
	rest = strings.TrimSpace(rest)
	if !ok || !strings.HasPrefix(rest, "<") {
		return ""
	}
	name, _, ok := strings.Cut(rest[1:], ">")
	if !ok {
		return ""
	}
	return name
}

// quoted returns the name of the header that a directive includes by "name"; empty if it does not.
func quoted(t token) string {
	words := scanAll([]byte(t.text), false)
	if len(words) != 2 || !words[0].is("include") || words[1].kind != tokString {
		return ""
	}
	text := words[1].text
	if len(text) < 3 || text[0] != '"' {
		return ""
	}
	return text[1 : len(text)-1]
}
