package launch

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"heddle/internal/source"
)

// Error is a mistake in the specification of a launch.
type Error struct {
	Span source.Span // where it is; invalid for a flag
	Msg  string      // one line, no trailing period
	Help string      // how to correct it; may be empty
}

// Error returns the message without its position; package source formats positions.
func (e *Error) Error() string { return e.Msg }

// SourceFacts are the facts about launches in one source file.
type SourceFacts struct {
	Pragmas  []Pragma     // in the order of the file
	Launches []HostLaunch // in the order of the file
	Errs     []*Error     // comments that belong to no kernel
	Metadata *Metadata    // of the kernel of a PTX file; nil: there is none

	// module variables that host code may change, by name; true if it can point to them
	changed map[string]bool
	unmade  []unmade

	// chosen maps plans to the values of their unknowns, because a search for values takes longer
	// than everything else that Resolve does, and launches are resolved many times.
	chosen sync.Map
}

// Scan collects the facts of a file, whose extension selects PTX, OpenCL C or CUDA. It returns no
// facts for a file without text.
func Scan(f *source.File, pre *Preprocessing) *SourceFacts {
	switch {
	case f == nil || f.Content == nil:
		return &SourceFacts{}
	case strings.EqualFold(filepath.Ext(f.Name), ".ptx"):
		return ScanPTX(f)
	case strings.EqualFold(filepath.Ext(f.Name), ".cl"):
		return ScanOpenCL(f)
	}
	return ScanCUDA(f, pre)
}

// Pragma is one "heddle:" comment.
type Pragma struct {
	Kernel  string      // unqualified name in CUDA source, the mangled name in PTX
	Line    int         // of the kernel's name; 0 for kernel=NAME
	Request Request     // what its valid words specify
	Span    source.Span // the comment
	Errs    []*Error    // invalid words; Resolve returns them for the kernel
}

// pragmaPrefix starts the comments that this package reads.
const pragmaPrefix = "heddle:"

// ScanCUDA collects the pragmas and the host launches of a CUDA file. A pragma is a comment that
// starts with "heddle:", followed by KEY=VALUE words, where KEY is grid, block, cluster, global,
// local, shared, kernel or a parameter. It applies to the next kernel in the file, or to the kernel
// that kernel=NAME names. The path of a file: argument is relative to the directory of the source
// file. pre may be nil.
func ScanCUDA(f *source.File, pre *Preprocessing) *SourceFacts {
	facts := &SourceFacts{}
	toks := scanAll(f.Content, false)
	facts.pragmas(f, toks, cudaKernelName)
	facts.hostLaunches(f, included(f, toks, pre), pre)
	return facts
}

// ScanOpenCL collects the pragmas of an OpenCL C file.
func ScanOpenCL(f *source.File) *SourceFacts {
	facts := &SourceFacts{}
	facts.pragmas(f, scanAll(f.Content, false), openCLKernelName)
	return facts
}

// ScanPTX collects the pragmas of a PTX file: comments above an .entry.
func ScanPTX(f *source.File) *SourceFacts {
	facts := &SourceFacts{}
	// most PTX is generated and long: skip the scanner
	if !bytes.Contains(f.Content, []byte(pragmaPrefix)) {
		return facts
	}
	facts.pragmas(f, scanAll(f.Content, true), ptxKernelName)
	return facts
}

// pragmas assigns each pragma to the next kernel. nameAt returns the name of the kernel whose
// declaration starts at toks[i].
func (s *SourceFacts) pragmas(f *source.File, toks []token,
	nameAt func(toks []token, i int) (token, bool)) {
	waiting := 0 // index of the first pragma that has no kernel yet
	for i, t := range toks {
		if t.kind == tokComment {
			body, ok := strings.CutPrefix(strings.TrimLeft(t.text, " \t\r\n*/"), pragmaPrefix)
			if ok && !(f.Content[t.start+1] == '/' && isIgnore(body)) {
				s.pragma(f, t, body)
			}
			continue
		}
		if waiting == len(s.Pragmas) {
			continue
		}
		name, ok := nameAt(toks, i)
		if !ok {
			continue
		}
		for ; waiting < len(s.Pragmas); waiting++ {
			if p := &s.Pragmas[waiting]; p.Kernel == "" {
				p.Kernel, p.Line = name.text, f.PosAt(name.start).Line()
			}
		}
	}
	for _, p := range s.Pragmas[waiting:] {
		if p.Kernel == "" {
			s.Errs = append(s.Errs, &Error{Span: p.Span, Msg: "no kernel follows this heddle: comment",
				Help: "place it above the kernel, or name the kernel: // heddle: kernel=NAME grid=4"})
		}
	}
}

// isIgnore reports whether this is a heddle:ignore comment, which package suppress reads.
func isIgnore(body string) bool {
	rest, ok := strings.CutPrefix(body, "ignore")
	return ok && (rest == "" || isSpace(rest[0]))
}

// pragma parses the words of one comment.
func (s *SourceFacts) pragma(f *source.File, t token, body string) {
	p := Pragma{Span: spanOf(f, t.start, t.end)}
	base := t.start + strings.Index(t.text, pragmaPrefix) + 2 + len(pragmaPrefix)
	for _, w := range splitWords(strings.TrimSuffix(body, "*/")) {
		span := spanOf(f, base+w.off, base+w.off+w.len)
		if err := p.word(w.text, span, filepath.Dir(f.Name)); err != nil {
			p.Errs = append(p.Errs, &Error{Span: span, Msg: "heddle: comment: " + err.Error()})
		}
	}
	s.Pragmas = append(s.Pragmas, p)
}

// word parses one KEY=VALUE word. dir is the directory that relative paths start from.
func (p *Pragma) word(text string, span source.Span, dir string) error {
	key, val, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("%q lacks '='; expected words such as grid=4, block=16,16, shared=1K, "+
			"n=1024, in=random", text)
	}
	r := &p.Request
	switch key {
	case "grid", "block", "cluster", "global", "local":
		d, err := ParseDim(val)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		switch key {
		case "grid":
			r.Grid = &d
		case "block", "local":
			r.Block = &d
		case "global":
			r.Global = &d
		default:
			r.Cluster = &d
		}
	case "shared":
		n, err := ParseShared(val)
		if err != nil {
			return fmt.Errorf("shared: %w", err)
		}
		r.Shared = &n
	case "kernel":
		if val == "" {
			return fmt.Errorf("kernel= has no name; expected kernel=NAME")
		}
		p.Kernel = val
	default:
		a, err := ParseArg(strings.TrimPrefix(text, "arg."))
		if err != nil {
			return err
		}
		a.Span = span
		if a.Kind == ArgFile && !filepath.IsAbs(a.Text) {
			a.Text = filepath.Join(dir, a.Text)
		}
		r.Args = append(r.Args, a)
	}
	return nil
}

// A word is a part of a comment between white space.
type word struct {
	text     string // without quotes
	off, len int    // in the comment, in bytes
}

// splitWords splits s at white space outside double quotes, and removes the quotes.
func splitWords(s string) []word {
	var words []word
	for i := 0; i < len(s); {
		// the star at the start of a line of a block comment
		if isSpace(s[i]) || s[i] == '*' && (i == 0 || isSpace(s[i-1])) {
			i++
			continue
		}
		start, quoted := i, false
		var text []byte
		for ; i < len(s) && (quoted || !isSpace(s[i])); i++ {
			if s[i] == '"' {
				quoted = !quoted
			} else {
				text = append(text, s[i])
			}
		}
		words = append(words, word{string(text), start, i - start})
	}
	return words
}

// spanOf returns the span of the bytes from start to end of f.
func spanOf(f *source.File, start, end int) source.Span {
	return source.Span{Start: f.PosAt(start), End: f.PosAt(end)}
}

// kernelMarks start the declaration of a kernel.
var (
	kernelMarks = map[string]bool{"__global__": true, "__kernel": true}
	openCLMarks = map[string]bool{"kernel": true, "__kernel": true}
)

// attributes are words that take arguments in a declaration but are not the name of the function.
var attributes = map[string]bool{
	"__launch_bounds__": true, "__cluster_dims__": true, "__maxnreg__": true, "__block_size__": true,
	"__attribute__": true, "__declspec": true, "alignas": true, "decltype": true, "noexcept": true,
	"requires": true, "asm": true, "__asm__": true,
}

// maxHeader bounds the tokens that are examined for one declaration, so that malformed input takes
// linear time. A longer declaration of a kernel is not found, and its pragma is reported as
// belonging to no kernel or to a later one.
const maxHeader = 1000

// cudaKernelName finds the name in a declaration such as
//
//	template <class T> __global__ static void __launch_bounds__(256) name(T *p, int n) {
//
// The name is the last identifier before the body that parentheses follow and that is not an
// attribute; macros with arguments may precede it.
func cudaKernelName(toks []token, i int) (token, bool) {
	return kernelName(toks, i, kernelMarks)
}

// openCLKernelName is cudaKernelName for OpenCL C, where kernel is also a keyword.
func openCLKernelName(toks []token, i int) (token, bool) {
	return kernelName(toks, i, openCLMarks)
}

// kernelName finds the name in a declaration that starts at toks[i] with one of the marks.
func kernelName(toks []token, i int, marks map[string]bool) (token, bool) {
	if toks[i].kind != tokIdent || !marks[toks[i].text] {
		return token{}, false
	}
	var name token
	toks = toks[:min(len(toks), i+maxHeader)]
	for i++; i < len(toks); i++ {
		t := toks[i]
		if t.is("{") || t.is(";") || t.kind == tokIdent && marks[t.text] {
			break
		}
		if t.is("(") || t.is("[") {
			i = skipGroup(toks, i)
			continue
		}
		if t.kind != tokIdent {
			continue
		}
		next := nextCode(toks, i+1)
		if next < len(toks) && toks[next].is("<") { // name<int>(...), an explicit specialization
			next = nextCode(toks, skipAngles(toks, next)+1)
		}
		if next < len(toks) && toks[next].is("(") && !attributes[t.text] {
			name = t
		}
	}
	return name, name.text != ""
}

// ptxKernelName finds the name in ".entry name". The scanner returns the point as a token of its
// own.
func ptxKernelName(toks []token, i int) (token, bool) {
	if !toks[i].is("entry") || i == 0 || !toks[i-1].is(".") {
		return token{}, false
	}
	if n := nextCode(toks, i+1); n < len(toks) && toks[n].kind == tokIdent {
		return toks[n], true
	}
	return token{}, false
}

// nextCode returns the index of the first token at or after i that is neither a comment nor a
// directive.
func nextCode(toks []token, i int) int {
	for i < len(toks) && (toks[i].kind == tokComment || toks[i].kind == tokDirective) {
		i++
	}
	return i
}

// closers maps each opening bracket to its closing bracket.
var closers = map[string]string{"(": ")", "[": "]", "{": "}"}

// skipGroup returns the index of the bracket that closes the one at i, or of the last token if none
// does.
func skipGroup(toks []token, i int) int {
	open, depth := toks[i].text, 0
	toks = toks[:min(len(toks), i+maxHeader)]
	for ; i < len(toks); i++ {
		switch {
		case toks[i].is(open):
			depth++
		case toks[i].is(closers[open]):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(toks) - 1
}

// skipAngles returns the index of the '>' that closes the '<' at i. It returns i if a brace or
// semicolon, which no template argument list contains, comes first.
func skipAngles(toks []token, i int) int {
	depth := 0
	for j := i; j < min(len(toks), i+maxHeader); j++ {
		switch t := toks[j]; {
		case t.is("<"):
			depth++
		case t.is(">"):
			depth--
		case t.is(">>"):
			depth -= 2
		case t.is("("):
			j = skipGroup(toks, j)
		case t.is("{"), t.is(";"):
			return i
		}
		if depth <= 0 {
			return j
		}
	}
	return i
}

// Confine makes the file: arguments of comments invalid whose files may not be read. It must be
// called before a launch is resolved, which reads the files.
func (s *SourceFacts) Confine(mayRead func(path string) bool) {
	for i := range s.Pragmas {
		p := &s.Pragmas[i]
		p.Request.Args = slices.DeleteFunc(p.Request.Args, func(a ArgSpec) bool {
			refused := a.Kind == ArgFile && !mayRead(a.Text)
			if refused {
				p.Errs = append(p.Errs, &Error{Span: a.Span,
					Msg: fmt.Sprintf("heddle: comment: %s may not be read: it is outside of the directories "+
						"that heddle was started for", a.Text)})
			}
			return refused
		})
	}
}
