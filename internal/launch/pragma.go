package launch

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"heddle/internal/source"
)

// Error is a mistake in what was said about a launch. Span is where; it is invalid for a flag.
type Error struct {
	Span source.Span
	Msg  string // one line, no trailing period
	Help string // what would be right; may be empty
}

// Error returns the message without the position; package source formats positions.
func (e *Error) Error() string { return e.Msg }

// SourceFacts is what one source file says about the launches of its kernels.
type SourceFacts struct {
	Pragmas  []Pragma
	Launches []HostLaunch
	Errs     []*Error // pragmas that belong to no kernel
}

// Scan collects the facts of a file, PTX, OpenCL C or CUDA by the extension of its name. There are none in a file
// whose text is not known. defines are as in ScanCUDA.
func Scan(f *source.File, defines []string) *SourceFacts {
	switch {
	case f == nil || f.Content == nil:
		return &SourceFacts{}
	case strings.EqualFold(filepath.Ext(f.Name), ".ptx"):
		return ScanPTX(f)
	case strings.EqualFold(filepath.Ext(f.Name), ".cl"):
		return ScanOpenCL(f)
	}
	return ScanCUDA(f, defines)
}

// Pragma is one "heddle:" comment.
type Pragma struct {
	Kernel  string // unqualified name in CUDA source, the mangled name in PTX
	Line    int    // of the kernel's name; 0 for kernel=NAME
	Request Request
	Span    source.Span
	Errs    []*Error // words that could not be read; Resolve returns them for the kernel
}

const pragmaPrefix = "heddle:"

// ScanCUDA collects the pragmas and the host launches of a CUDA file. A pragma is a comment that
// starts with "heddle:", followed by KEY=VALUE words: grid, block, cluster, global, local, shared, kernel, or a
// parameter. It belongs to the next kernel below it, or to the one that kernel=NAME names. defines are the
// -D options, NAME or NAME=VALUE, which override the file's own macros. The path of a file: argument is
// relative to the directory of the source file.
func ScanCUDA(f *source.File, defines []string) *SourceFacts {
	facts := &SourceFacts{}
	toks := scanAll(f.Content, false)
	facts.pragmas(f, toks, cudaKernelName)
	facts.hostLaunches(f, toks, defines)
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
	if !bytes.Contains(f.Content, []byte(pragmaPrefix)) { // most PTX is generated, and long
		return facts
	}
	facts.pragmas(f, scanAll(f.Content, true), ptxKernelName)
	return facts
}

// pragmas joins each pragma with the next kernel. nameAt returns the name of the kernel whose declaration
// starts at toks[i].
func (s *SourceFacts) pragmas(f *source.File, toks []token, nameAt func(toks []token, i int) (token, bool)) {
	waiting := 0 // index of the first pragma that has no kernel yet
	for i, t := range toks {
		if t.kind == tokComment {
			if body, ok := strings.CutPrefix(strings.TrimLeft(t.text, " \t\r\n*/"), pragmaPrefix); ok {
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
				Help: "put it above the kernel, or name the kernel: // heddle: kernel=NAME grid=4"})
		}
	}
}

// pragma reads the words of one comment.
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

func (p *Pragma) word(text string, span source.Span, dir string) error {
	key, val, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("%q lacks '='; want words such as grid=4, block=16,16, shared=1K, n=1024, in=random", text)
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
			return fmt.Errorf("kernel= without a name")
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

type word struct {
	text     string
	off, len int // in the text that was split
}

// splitWords splits at space outside double quotes, and drops the quotes.
func splitWords(s string) []word {
	var words []word
	for i := 0; i < len(s); {
		if isSpace(s[i]) || s[i] == '*' && (i == 0 || isSpace(s[i-1])) { // the star that starts a line of a block comment
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

func spanOf(f *source.File, start, end int) source.Span {
	return source.Span{Start: f.PosAt(start), End: f.PosAt(end)}
}

// kernelMarks start the declaration of a kernel.
var (
	kernelMarks = map[string]bool{"__global__": true, "__kernel": true}
	openCLMarks = map[string]bool{"kernel": true, "__kernel": true}
)

// attributes take arguments in a declaration but are not the function's name.
var attributes = map[string]bool{
	"__launch_bounds__": true, "__cluster_dims__": true, "__maxnreg__": true, "__block_size__": true,
	"__attribute__": true, "__declspec": true, "alignas": true, "decltype": true, "noexcept": true,
	"requires": true, "asm": true, "__asm__": true,
}

// maxHeader bounds the tokens of one declaration that are looked at, so that junk costs linear time.
const maxHeader = 1000

// cudaKernelName finds the name in a declaration such as
//
//	template <class T> __global__ static void __launch_bounds__(256) name(T *p, int n) {
//
// The name is the last identifier with parentheses before the body that is no attribute: macros with
// arguments may stand before it.
func cudaKernelName(toks []token, i int) (token, bool) {
	return kernelName(toks, i, kernelMarks)
}

// openCLKernelName is cudaKernelName for OpenCL C, where kernel is a keyword too.
func openCLKernelName(toks []token, i int) (token, bool) {
	return kernelName(toks, i, openCLMarks)
}

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

// ptxKernelName finds the name of ".entry name". The scanner makes a token of the point.
func ptxKernelName(toks []token, i int) (token, bool) {
	if !toks[i].is("entry") || i == 0 || !toks[i-1].is(".") {
		return token{}, false
	}
	if n := nextCode(toks, i+1); n < len(toks) && toks[n].kind == tokIdent {
		return toks[n], true
	}
	return token{}, false
}

// nextCode returns the index of the first token from i on that is neither comment nor directive.
func nextCode(toks []token, i int) int {
	for i < len(toks) && (toks[i].kind == tokComment || toks[i].kind == tokDirective) {
		i++
	}
	return i
}

var closers = map[string]string{"(": ")", "[": "]", "{": "}"}

// skipGroup returns the index of the bracket that closes the one at i, or the last token.
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

// skipAngles returns the index of the '>' that closes the '<' at i; i itself if nothing does before a
// bracket or semicolon that cannot be in a template argument list.
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
