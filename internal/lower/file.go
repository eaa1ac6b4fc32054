package lower

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// InputError says that a file is no input that can be lowered. The command exits with 2.
type InputError struct {
	File   string
	Reason string
}

func (e *InputError) Error() string { return e.File + ": " + e.Reason }

const accepted = "accepted are .cu (CUDA C++) and .ptx"

func lowerFile(ctx context.Context, name string, opt Options) (*Result, error) {
	ext := strings.ToLower(filepath.Ext(name))
	switch ext {
	case ".ptx", ".cu":
	case ".cl", ".ll", ".bc":
		return nil, &InputError{name, ext + " files are not yet supported; " + accepted}
	case "":
		return nil, &InputError{name, "no file extension to tell the language by; " + accepted}
	default:
		return nil, &InputError{name, "unknown file extension " + ext + "; " + accepted}
	}
	content, err := readInput(name)
	if err != nil {
		return nil, err
	}
	if ext == ".ptx" {
		return &Result{Name: name, PTX: content, Kernels: readFacts(content)}, nil
	}
	if i := bytes.IndexByte(content, 0); i >= 0 {
		return nil, &InputError{name, fmt.Sprintf("not CUDA source: byte %d is NUL; is it a binary file?", i)}
	}
	if err := checkOptions(opt); err != nil {
		return nil, err
	}
	return compile(ctx, name, content, opt)
}

func readInput(name string) ([]byte, error) {
	content, err := os.ReadFile(name)
	var pe *os.PathError
	switch {
	case errors.As(err, &pe):
		return nil, &InputError{name, pe.Err.Error()}
	case err != nil:
		return nil, err
	case len(bytes.TrimSpace(content)) == 0:
		return nil, &InputError{name, "the file is empty"}
	}
	return content, nil
}

func checkOptions(opt Options) error {
	switch opt.OptLevel {
	case "", "1", "2", "3":
	default:
		return fmt.Errorf("-O %s: expected 1, 2 or 3 (without -O, code is compiled for analysis)", opt.OptLevel)
	}
	if opt.Arch != "" && !strings.HasPrefix(opt.Arch, "sm_") {
		return fmt.Errorf("-arch %s: expected sm_NN, such as %s", opt.Arch, defaultArch)
	}
	return nil
}

// compile lowers CUDA C++.
func compile(ctx context.Context, name string, content []byte, opt Options) (*Result, error) {
	tc, err := findToolchain(ctx, opt.Compiler, newProbeCache(""))
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "heddle-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	root, err := writeHeaders(tmp)
	if err != nil {
		return nil, err
	}
	b := &build{tc: tc, opt: opt, name: name, headers: root, tmp: tmp}
	out, err := b.run(ctx, func(p string) []byte { return content })
	var cf *clangFailure
	if errors.As(err, &cf) {
		return nil, &CompileError{File: name, Output: cf.output}
	}
	if err != nil {
		return nil, err
	}
	return &Result{Name: name + ".ptx", PTX: out.ptx, Kernels: readFacts(out.ptx)}, nil
}
