package lower

import (
	"bytes"
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/lazyregexp"
)

// nvcc accepts words in places where clang does not. They are changed where clang reports them,
// without a change of meaning and without moving anything: in analysis beside host code that does
// not compile (recovery.blank), and in a program that is to run, where nothing else may change, in
// both passes.

// adapt changes a word at an offset to what clang accepts there; msg is clang's error about it. It
// returns false if the error has another cause.
func (e *edited) adapt(d declaration, off int, msg string) bool {
	return e.dropDevice(d, off, msg) || e.moveAlignas(off, msg) || e.escapePercent(off, msg) ||
		e.separateOperands(d, off, msg) || e.dropLength(off, msg)
}

// What clang says of an external array in shared memory that has a length: of its declaration, and
// then of each use, for which it is a variable of the host.
var (
	externSharedRE = lazyregexp.New(`__shared__ variable '(\w+)' cannot be 'extern'`)
	hostVariableRE = lazyregexp.New(`^reference to __host__ variable '(\w+)'`)
)

// dropLength removes the first length of an external array in shared memory, declared at an offset:
// nvcc accepts one, and the array is the dynamic shared memory of the launch all the same. What
// clang says of the uses of the array goes with it.
func (e *edited) dropLength(off int, msg string) bool {
	if m := hostVariableRE.FindStringSubmatch(msg); m != nil {
		return slices.Contains(e.unsized, m[1])
	}
	m := externSharedRE.FindStringSubmatch(msg)
	if m == nil {
		return false
	}
	rest, _, _ := bytes.Cut(e.text[off:], []byte{';'})
	at := regexp.MustCompile(`\b` + m[1] + `\s*\[([^\[\]]*)\]`).FindSubmatchIndex(rest)
	if at == nil || !e.takeOut(off+at[2], off+at[3], false) {
		return false
	}
	e.unsized = append(e.unsized, m[1])
	return true
}

// dropDevice removes the word __device__ beside __shared__ in the declaration of a local variable
// at an offset: CUDA allows it there, without effect (CUDA C++ Programming Guide, "__shared__"),
// and clang does not.
func (e *edited) dropDevice(d declaration, off int, msg string) bool {
	const word = "__device__"
	if !strings.Contains(msg, "on non-static local variables") || d.bodyStart < 0 ||
		off < d.bodyStart || off >= d.bodyEnd || !bytes.HasPrefix(e.orig[off:], []byte(word)) {
		return false
	}
	start, end := statementAt(e.orig, d, off)
	return start <= off && bytes.Contains(e.orig[start:end], []byte("__shared__")) &&
		e.takeOut(off, off+len(word), false)
}

// moveAlignas replaces the word alignas at an offset behind an attribute such as __shared__: nvcc
// allows it there, and clang only its form of C. Both words have the same length, so that all
// positions stay (headers/heddle/qualifiers.h).
func (e *edited) moveAlignas(off int, msg string) bool {
	const word, other = "alignas", "__algnC"
	if !strings.Contains(msg, "an attribute list cannot appear here") &&
		!strings.Contains(msg, "'alignas' attribute cannot be applied to types") ||
		!bytes.HasPrefix(e.text[off:], []byte(word)) {
		return false
	}
	e.text = slices.Clone(e.text)
	copy(e.text[off:], other)
	e.round = append(e.round, [2]int{off, off + len(word)})
	return true
}

// registerRE matches a special register of PTX in the string of an asm statement, with one % where
// clang expects two, and the space before it.
var registerRE = lazyregexp.New(` %[a-z][a-z_]`)

// escapePercent doubles the % of special registers in the string of an asm statement around an
// offset: nvcc takes %laneid as it is, in clang a % begins an operand. The second % takes the place
// of the space before it, so that all positions stay.
func (e *edited) escapePercent(off int, msg string) bool {
	if !strings.Contains(msg, "invalid % escape in inline assembly string") || off > len(e.text) {
		return false
	}
	// clang names a place in the string, at most at its closing quote.
	start := bytes.LastIndexByte(e.text[:off], '"')
	end := bytes.IndexByte(e.text[off:], '"')
	if start < 0 || end < 0 || bytes.IndexByte(e.text[start:off], '\n') >= 0 {
		return false
	}
	end += off
	found := registerRE.FindAllIndex(e.text[start:end], -1)
	if len(found) == 0 {
		return false
	}
	e.text = slices.Clone(e.text)
	for _, m := range found {
		e.text[start+m[0]] = '%'
	}
	e.round = append(e.round, [2]int{start, end})
	return true
}

// asmStartRE matches the beginning of an asm statement.
var asmStartRE = lazyregexp.New(`^\s*(asm|__asm|__asm__)\b`)

// separateOperands puts the comma between two operands of an asm statement that nvcc does without,
// as in "r"(x) "l"(y), at the place of the space before the second one, which is at the offset.
func (e *edited) separateOperands(d declaration, off int, msg string) bool {
	if !strings.HasPrefix(msg, "expected ')'") || off < 2 || off >= len(e.text) ||
		e.text[off] != '"' || e.text[off-1] != ' ' || d.bodyStart < 0 {
		return false
	}
	before := bytes.TrimRight(e.text[:off], " \t\n")
	start, _ := statementAt(e.orig, d, off)
	if !bytes.HasSuffix(before, []byte(")")) || start > off || !asmStartRE.Match(e.orig[start:off]) {
		return false
	}
	e.text = slices.Clone(e.text)
	e.text[off-1] = ','
	e.round = append(e.round, [2]int{off - 1, off})
	return true
}

// adapt changes the words to which clang's errors refer, and reports whether there are any. Other
// errors stay for the next run.
func (r *recovery) adapt(output string) bool {
	r.nextRound()
	changed := false
	for _, m := range diagRE.FindAllStringSubmatch(output, -1) {
		e := r.open(m[1])
		if e == nil || m[4] == "note" {
			continue
		}
		line, _ := strconv.Atoi(m[2])
		col, _ := strconv.Atoi(m[3])
		off := offsetOf(e.orig, line, col)
		if d, ok := declAt(e.orig, off); ok && e.adapt(d, off, m[5]) {
			changed = true
		}
	}
	return changed
}

// adapted compiles a file of a program that is to run once more, with the words adapted that made
// clang fail. It fails with a *CompileError if there are other errors.
func (b *build) adapted(ctx context.Context, source func(string) []byte, failure *clangFailure) (
	*recovery, *output, error) {
	r := newRecovery(ctx, b)
	for r.adapt(failure.output) {
		args, err := r.args()
		if err != nil {
			return nil, nil, err
		}
		out, err := b.run(ctx, source, args...)
		if !errors.As(err, &failure) {
			return r, out, err
		}
	}
	return nil, nil, &CompileError{File: b.name, Output: failure.output}
}

// hostAdapted is adaptedHost, and tries with the headers of names that clang does not know if that
// fails (undeclared.go). It returns the options with which clang accepts the file.
func (b *Builder) hostAdapted(ctx context.Context, in string, args []string) (options,
	warnings []string, err error) {
	options, warnings, err = b.adaptedHost(ctx, in, args)
	var failed *CompileError
	if !errors.As(err, &failed) {
		return options, warnings, err
	}
	dir, err := os.MkdirTemp(b.tmp, "names-")
	if err != nil {
		return nil, nil, err
	}
	names := &build{tmp: dir}
	var again *CompileError
	unwritten := names.declareAll(failed.Output, func() string {
		options, warnings, err = b.adaptedHost(ctx, in, slices.Concat(args, names.rewriteArgs()))
		if errors.As(err, &again) {
			return again.Output
		}
		return ""
	})
	switch {
	case unwritten != nil:
		return nil, nil, unwritten
	case len(names.declared) == 0, errors.As(err, &again):
		return nil, nil, failed
	}
	return append(names.rewriteArgs(), options...), warnings, err
}

// adaptedHost runs clang for host code, and once more with words adapted if they make it fail. It
// returns the options with which clang reads the adapted files.
func (b *Builder) adaptedHost(ctx context.Context, in string, args []string) (overlay,
	warnings []string, err error) {
	run := func() {
		warnings, err = b.host(ctx, in, slices.Concat(args, overlay, []string{"--", in}))
	}
	run()
	var failed *CompileError
	if !errors.As(err, &failed) {
		return nil, warnings, err
	}
	dir, err := os.MkdirTemp(b.tmp, "host-")
	if err != nil {
		return nil, nil, err
	}
	text := &build{path: in, headers: b.root, tmp: dir}
	for {
		again, err2 := text.rewrite(failed.Output)
		if err2 != nil {
			return nil, nil, err2
		}
		if !again {
			break
		}
		overlay = slices.Concat(text.rewriteArgs(), text.overlay)
		if run(); !errors.As(err, &failed) {
			return overlay, warnings, err
		}
	}
	r := newRecovery(ctx, text)
	for r.adapt(failed.Output) {
		if overlay, err = r.args(); err != nil {
			return nil, nil, err
		}
		overlay = slices.Concat(text.rewriteArgs(), overlay)
		if run(); !errors.As(err, &failed) {
			return overlay, warnings, err
		}
	}
	return nil, nil, failed
}
