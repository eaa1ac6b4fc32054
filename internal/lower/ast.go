package lower

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// Tree is clang's syntax tree of one input, as JSON (-ast-dump=json) that can be read once.
type Tree struct {
	io.Reader
	OpenCL bool // the input is OpenCL C, not CUDA C++
	// User returns the name of a file in positions, and whether the file is the user's: not a header
	// of heddle, of the compiler or of the system.
	User func(path string) (name string, ok bool)
}

// AST runs clang on CUDA C++ or OpenCL C with the options of a compilation, and calls read with the
// syntax tree. Errors in host code do not fail it: the tree still contains all device code. Nothing
// is cached. AST fails with a *CompileError if clang produces no tree, otherwise with the errors of
// Lower or of read.
func AST(ctx context.Context, in Input, opt Options, read func(*Tree) error) error {
	content := in.Content
	if content == nil {
		var err error
		if content, err = readInput(in.Name); err != nil {
			return err
		}
	}
	lang, err := in.language(content)
	if err != nil {
		return err
	}
	in.Lang = lang
	opt = opt.With(in.Flags)
	switch {
	case lang != CUDA && lang != OpenCL:
		return &InputError{File: in.Name,
			Reason: "this command needs the source; expected CUDA C++ (.cu) or OpenCL C (.cl)"}
	case isNVCC(opt.Compiler):
		return &InputError{File: in.Name,
			Reason: "nvcc provides no syntax tree, which this command needs; omit --compiler to use clang"}
	}
	if err := errors.Join(checkOptions(opt), checkCUDAPath(opt.CUDAPath),
		checkCCCL(opt)); err != nil {
		return err
	}
	libs, err := checkIncludes(in, content, opt)
	if err != nil {
		return err
	}
	store := openCache(opt)
	tc, err := findToolchain(ctx, opt.Compiler, &probeCache{store.dir})
	if err != nil {
		return err
	}
	b, done, err := (&compilation{tc: tc, in: in, content: content, opt: opt, store: store,
		libs: libs}).setUp()
	if err != nil {
		return err
	}
	defer done()
	if lang == OpenCL {
		if err := b.chooseOpenCL(ctx, content); err != nil {
			return err
		}
	} else {
		defer b.preparePCH(ctx, store)()
	}
	return b.dump(ctx, read)
}

// chooseOpenCL selects the first version of the language that accepts the text, as runOpenCL does,
// so that the tree agrees with the PTX.
func (b *build) chooseOpenCL(ctx context.Context, content []byte) error {
	source := func(string) []byte { return content }
	stds := clStandards
	if b.opt.Std != "" {
		stds = []string{b.opt.Std}
	}
	var first *clangFailure
	for _, std := range stds {
		b.cl = &openCL{std: std}
		err := b.writeBuiltins(ctx, source)
		if err == nil {
			_, err = b.frontEnd(ctx, "-fsyntax-only")
		}
		var failure *clangFailure
		if !errors.As(err, &failure) {
			return err
		}
		if first == nil {
			first = failure
		}
	}
	return &CompileError{File: b.name, Output: b.shown(first.output)}
}

// frontEnd runs only clang and returns its output.
func (b *build) frontEnd(ctx context.Context, extra ...string) ([]byte, error) {
	s, err := start(ctx, b.tc.Clang, b.clangArgs(extra...))
	if err != nil {
		return nil, err
	}
	out, err := s.finish(nil)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &clangFailure{s.stderr.String()}
	}
	return out, nil
}

// dump runs clang, which prints its tree while read reads it.
func (b *build) dump(ctx context.Context, read func(*Tree) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := command(ctx, b.tc.Clang, b.clangArgs("-fsyntax-only", "-Xclang", "-ast-dump=json")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot run %s: %w", b.tc.Clang, err)
	}
	seen := &counter{Reader: out}
	err = read(&Tree{Reader: seen, OpenCL: b.cl != nil, User: b.userFile})
	if err == nil {
		_, err = io.Copy(io.Discard, out)
	}
	if err != nil {
		stop()
	}
	waitErr := cmd.Wait()
	if waitErr != nil && seen.n == 0 && cmd.ProcessState.ExitCode() > 0 { // it was not killed
		return &CompileError{File: b.name, Output: b.shown(stderr.String())}
	}
	return err
}

// counter counts the bytes that are read.
type counter struct {
	io.Reader
	n int64
}

// Read reads from the underlying reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// userFile implements Tree.User.
func (b *build) userFile(path string) (string, bool) {
	cwd, _ := filepath.Abs(".")
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	abs, err := filepath.Abs(b.path)
	if err != nil {
		abs = b.path
	}
	name := userName(path, abs, b.name, cwd)
	return name, path == abs || !b.isOurs(path) && !isSystemPath(path) && !b.libs.copy.has(path)
}
