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
)

// OpenCL C: clang compiles it for NVPTX as it does CUDA. The built-in functions are ours. Those that a file may
// call are found among the words of its preprocessed text, and written into a header for that compilation
// (clbuiltin.go): nothing is precompiled, and a user's own function of a built-in's name takes its place.

// clStandards are the versions tried in turn for a file that names none: 2.0 has the generic address space
// and program-scope variables; some text of 1.x uses words that 2.0 has taken, or what it has dropped.
var clStandards = []string{"CL2.0", "CL3.0", "CL1.2"}

// openCL says that a build is of OpenCL C.
type openCL struct {
	std     string
	prelude string // path of the header with the built-in functions; empty: not written yet
}

// generic reports whether the version has the generic address space.
func (c *openCL) generic() bool {
	v := strings.TrimPrefix(strings.ToUpper(c.std), "CL")
	return v != "" && !strings.HasPrefix(v, "1")
}

// args are the options of clang for the language and its headers.
func (c *openCL) args(b *build) []string {
	args := []string{
		"-x", "cl", "-cl-std=" + c.std, "-cl-no-stdinc", "-Xclang", "-cl-ext=+all", "-fgnu-keywords",
		"-target", "nvptx64-nvidia-cuda", "-Xclang", "-target-cpu", "-Xclang", b.arch(),
		"-isystem", b.headers, "-include", filepath.Join(b.headers, "opencl", "base.h"),
	}
	if c.prelude != "" {
		args = append(args, "-include", c.prelude)
	}
	return args
}

// runOpenCL compiles, by the first version of the language that accepts the text. The error is what the first
// said.
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
	return nil, &CompileError{File: b.name, Output: first.output}
}

func (b *build) tryOpenCL(ctx context.Context, source func(string) []byte) (*output, error) {
	if err := b.writeBuiltins(ctx, source); err != nil {
		return nil, err
	}
	return b.run(ctx, source)
}

// writeBuiltins writes the header with the built-in functions that the file may call.
func (b *build) writeBuiltins(ctx context.Context, source func(string) []byte) error {
	text, err := b.frontEnd(ctx, "-E", "-P")
	if err != nil {
		return err
	}
	names, unsupported := clNames(string(text))
	if unsupported != "" {
		return b.unsupported(unsupported, source)
	}
	path := filepath.Join(b.tmp, "builtins.h")
	if err := os.WriteFile(path, []byte(clPrelude(names, b.cl.generic())), 0o644); err != nil {
		return err
	}
	b.cl.prelude = path
	return nil
}

// clNames returns the words of a preprocessed text that name built-in functions, without those that the text
// defines itself; and the first that names what is not supported.
func clNames(text string) (names []string, unsupported string) {
	seen := make(map[string]bool)
	own := make(map[string]bool)
	braces, parens := 0, 0
	last, candidate := "", ""
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '"' || c == '\'':
			i = skipLiteral(text, i)
			last = ""
			continue
		case isWordByte(c):
			j := i
			for j < len(text) && isWordByte(text[j]) {
				j++
			}
			last = text[i:j]
			i = j
			if !seen[last] {
				seen[last] = true
				names = append(names, last)
			}
			continue
		case c == '(':
			if parens == 0 && braces == 0 && last != "" && last != "__attribute__" {
				candidate = last
			}
			parens++
		case c == ')':
			parens--
		case (c == '=' || c == '[' || c == ',' || c == ';') && braces == 0 && parens == 0 && last != "":
			own[last] = true // a variable or a type
			if c == ';' {
				candidate = ""
			}
		case c == '{':
			if braces == 0 && parens == 0 && candidate != "" {
				own[candidate] = true
			}
			braces++
		case c == '}':
			braces--
		case c == ';' && braces == 0 && parens == 0:
			candidate = ""
		}
		if c != ' ' && c != '\n' && c != '\t' {
			last = ""
		}
		i++
	}
	keep := names[:0]
	for _, n := range names {
		switch {
		case own[n]:
		case clDefine(n) != nil:
			keep = append(keep, n)
		case unsupported == "" && clUnsupported(n) != "":
			unsupported = n
		}
	}
	return keep, unsupported
}

var (
	enqueueRE   = regexp.MustCompile(`^(enqueue_(kernel|marker)|get_default_queue|create_user_event|get_kernel_(work_group_size|preferred_work_group_size_multiple|sub_group_count_for_ndrange|max_sub_group_size_for_ndrange))$`)
	pipeRE      = regexp.MustCompile(`^((read|write)_pipe|((sub|work)_group_)?(reserve|commit)_(read|write)_pipe|get_pipe_(num|max)_packets)$`)
	workGroupRE = regexp.MustCompile(`^work_group_(broadcast|(reduce|scan_exclusive|scan_inclusive)_(add|min|max))$`)
)

// clUnsupported says why a built-in function is not supported; empty if it is none of those.
func clUnsupported(name string) string {
	switch {
	case enqueueRE.MatchString(name):
		return "kernels that enqueue kernels are not supported"
	case pipeRE.MatchString(name):
		return "pipes are not supported"
	case workGroupRE.MatchString(name):
		return "of the work-group functions only work_group_all and work_group_any are supported"
	}
	return ""
}

// unsupported is the error for a built-in function that the file names, at its first place in the text.
func (b *build) unsupported(name string, source func(string) []byte) error {
	line, col := 1, 1
	text := source(b.name)
	if at := regexp.MustCompile(`\b` + name + `\b`).FindIndex(text); at != nil {
		before := text[:at[0]]
		line += bytes.Count(before, []byte{'\n'})
		col = at[0] - bytes.LastIndexByte(before, '\n')
	}
	return &InputError{File: fmt.Sprintf("%s:%d:%d", b.name, line, col), Reason: name + ": " + clUnsupported(name)}
}

// skipLiteral returns the index behind the string or character literal at i.
func skipLiteral(text string, i int) int {
	quote := text[i]
	for i++; i < len(text) && text[i] != quote && text[i] != '\n'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}
