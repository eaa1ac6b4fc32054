package lower

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"heddle/internal/lazyregexp"
)

// clang compiles OpenCL C for NVPTX as it compiles CUDA. heddle provides the built-in functions. It
// searches the preprocessed text of a file for their names, and generates a header for this
// compilation with the functions that the file may call (clbuiltin.go). A user's function with the
// name of a built-in function replaces it.

// clStandards are the versions to try, in order, if none is specified. 2.0 has the generic address
// space and program-scope variables; some programs for 1.x use identifiers that 2.0 reserves, or
// features that it removed.
var clStandards = []string{"CL2.0", "CL3.0", "CL1.2"}

// openCL is the part of a build for OpenCL C.
type openCL struct {
	std     string // -cl-std, such as "CL2.0"
	prelude string // path of the header with the built-in functions; empty: not generated yet
	defined []string
	refused []string // built-in functions that the file names and heddle does not support
}

// generic reports whether the version has the generic address space.
func (c *openCL) generic() bool {
	v := strings.TrimPrefix(strings.ToUpper(c.std), "CL")
	return v != "" && !strings.HasPrefix(v, "1")
}

// args returns clang's options for the language and its headers.
func (c *openCL) args(b *build) []string {
	target := wideTriple
	if b.opt.AddressBits == narrowBits {
		target = narrowTriple
	}
	args := []string{
		"-x", "cl", "-cl-std=" + c.std, "-cl-no-stdinc", "-Xclang", "-cl-ext=+all", "-fgnu-keywords",
		"-target", target, "-Xclang", "-target-cpu", "-Xclang",
		compiledArch(b.arch(), b.tc.Major),
		"-isystem", b.headers, "-include", filepath.Join(b.headers, "opencl", "base.h"),
	}
	for _, name := range c.defined {
		args = append(args, "-D"+name)
	}
	if c.prelude != "" {
		args = append(args, "-include", c.prelude)
	}
	return args
}

// runOpenCL compiles with the first version of the language that accepts the text. If none does, it
// fails with the diagnostics for the first version, which is then that of the build.
func (b *build) runOpenCL(ctx context.Context, source func(string) []byte) (*output, error) {
	stds := clStandards
	if b.opt.Std != "" {
		stds = []string{b.opt.Std}
	}
	var first *clangFailure
	for _, std := range stds {
		b.cl = &openCL{std: std}
		out, err := b.tryOpenCL(ctx, source)
		var failure *clangFailure
		if !errors.As(err, &failure) {
			return out, err
		}
		if first == nil {
			first = failure
		}
	}
	b.cl = &openCL{std: stds[0]}
	if err := b.writeBuiltins(ctx, source); err != nil {
		return nil, err
	}
	return nil, first
}

// tryOpenCL compiles with one version of the language.
func (b *build) tryOpenCL(ctx context.Context, source func(string) []byte) (*output, error) {
	if err := b.writeBuiltins(ctx, source); err != nil {
		return nil, err
	}
	return b.run(ctx, source)
}

// writeBuiltins generates the header with the built-in functions that the file may call.
func (b *build) writeBuiltins(ctx context.Context, source func(string) []byte) error {
	own, plain := b.clPlain(string(source(b.name)))
	text := own
	if !plain {
		out, err := b.frontEnd(ctx, "-E", "-P")
		if err != nil {
			return err
		}
		text = string(out)
		_, own, _ = strings.Cut(text, endOfBase)
	}
	names, refused := clNames(text)
	b.cl.defined, b.cl.refused = clVariants(own), refused
	path := filepath.Join(b.tmp, "builtins.h")
	prelude := clPrelude(names, b.cl.generic()) + hidden(refused)
	if err := os.WriteFile(path, []byte(prelude), 0o644); err != nil {
		return err
	}
	b.cl.prelude = path
	return nil
}

// hiddenPrefix begins what takes the place of the name of a function that is not supported.
const hiddenPrefix = "__heddle_unsupported_"

// hidden returns macros that make calls of functions errors, which cost the kernels that have them:
// some of these functions are clang's own.
func hidden(names []string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "#define %s %s%s\n", n, hiddenPrefix, n)
	}
	return b.String()
}

// endOfBase is the last name that base.h declares: what follows is of the file.
const endOfBase = "__heddle_end_of_base"

// clVariants returns the macros that select parts of the headers by what a preprocessed file uses:
// most files need no unknown launch and no images that are read and written.
func clVariants(text string) []string {
	var out []string
	if regexp.MustCompile(`\b(get_global_offset|get_global_linear_id|get_work_dim)\b`).MatchString(text) {
		out = append(out, "__HEDDLE_ANY_NDRANGE")
	}
	if regexp.MustCompile(`\b(__)?read_write\b`).MatchString(text) {
		out = append(out, "__HEDDLE_READ_WRITE_IMAGES")
	}
	return out
}

// clNames returns the identifiers in a preprocessed text that name built-in functions, except those
// that the text defines itself, and those that name unsupported functions.
func clNames(text string) (names, unsupported []string) {
	w := &clWords{seen: make(map[string]bool), own: make(map[string]bool)}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"' || c == '\'':
			i = skipLiteral(text, i)
			w.last = ""
		case isWordByte(c):
			j := i
			for j < len(text) && isWordByte(text[j]) {
				j++
			}
			w.word(text[i:j])
			i = j
		default:
			w.punctuation(c)
			i++
		}
	}
	for _, n := range w.names {
		switch {
		case w.own[n]:
		case clDefine(n) != nil:
			names = append(names, n)
		case clUnsupported(n) != "":
			unsupported = append(unsupported, n)
		}
	}
	return names, unsupported
}

// clWords collects the identifiers of a text, and recognizes the names that it defines outside of
// functions, without parsing it: the word before the first parenthesis of a definition with a body
// is a function, and a word before one of = [ , ; is a variable or a type.
type clWords struct {
	names          []string        // all identifiers, in the order of their first use
	seen           map[string]bool // those in names
	own            map[string]bool // names that the text defines
	braces, parens int             // nesting depth
	last           string          // the preceding identifier; "" after anything else
	candidate      string          // name of the function that is being declared
}

// word adds an identifier.
func (w *clWords) word(s string) {
	w.last = s
	if !w.seen[s] {
		w.seen[s] = true
		w.names = append(w.names, s)
	}
}

// punctuation handles any other character.
func (w *clWords) punctuation(c byte) {
	outside := w.braces == 0 && w.parens == 0
	switch {
	case c == '(':
		if outside && w.last != "" && w.last != "__attribute__" {
			w.candidate = w.last
		}
		w.parens++
	case c == ')':
		w.parens--
	case (c == '=' || c == '[' || c == ',' || c == ';') && outside && w.last != "":
		w.own[w.last] = true
		if c == ';' {
			w.candidate = ""
		}
	case c == '{':
		if outside && w.candidate != "" {
			w.own[w.candidate] = true
		}
		w.braces++
	case c == '}':
		w.braces--
	case c == ';' && outside:
		w.candidate = ""
	}
	if c != ' ' && c != '\n' && c != '\t' {
		w.last = ""
	}
}

// Built-in functions that are not supported.
var (
	enqueueRE = lazyregexp.New(
		`^(enqueue_(kernel|marker)|get_default_queue|create_user_event|` +
			`get_kernel_(work_group_size|preferred_work_group_size_multiple|` +
			`sub_group_count_for_ndrange|max_sub_group_size_for_ndrange))$`)
	pipeRE = lazyregexp.New(
		`^((read|write)_pipe|((sub|work)_group_)?(reserve|commit)_(read|write)_pipe|` +
			`get_pipe_(num|max)_packets)$`)
)

// scopedRE matches clang's own atomic functions with a scope, which it drops for NVPTX.
var scopedRE = lazyregexp.New(`^__(opencl|scoped|hip)_atomic_\w+$`)

// clUnsupported returns why a built-in function is not supported; "" if it is supported or not a
// built-in function.
func clUnsupported(name string) string {
	switch {
	case enqueueRE.MatchString(name):
		return "heddle does not support kernels that enqueue kernels"
	case scopedRE.MatchString(name):
		return "the compiler drops the scope of this function; use that of OpenCL C, such as " +
			"atomic_fetch_add_explicit"
	case pipeRE.MatchString(name):
		return "heddle does not support pipes"
	}
	return ""
}

// unsupported returns the error for a built-in function that is not supported, at its first use in
// the file. The position is that of the name in the text, which can be in a comment before the
// actual call.
func (b *build) unsupported(name string, source func(string) []byte) error {
	line, col := 1, 1
	text := source(b.name)
	if at := regexp.MustCompile(`\b` + name + `\b`).FindIndex(text); at != nil {
		before := text[:at[0]]
		line += bytes.Count(before, []byte{'\n'})
		col = at[0] - bytes.LastIndexByte(before, '\n')
	}
	return &InputError{File: fmt.Sprintf("%s:%d:%d", b.name, line, col),
		Reason: name + ": " + clUnsupported(name)}
}

// skipLiteral returns the index after the string or character literal at i. An unterminated literal
// ends at the line break; clang reports it.
func skipLiteral(text string, i int) int {
	quote := text[i]
	for i++; i < len(text) && text[i] != quote && text[i] != '\n'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}
