package lower

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// isNVCC reports whether the specified compiler is NVIDIA's, by its name.
func isNVCC(compiler string) bool {
	base := strings.ToLower(filepath.Base(compiler))
	return base == "nvcc" || base == "nvcc.exe"
}

// findNVCC returns the path of nvcc: the specified one, else the one in --cuda-path, on PATH, or in
// the default directory of CUDA. A toolkit in --cuda-path without nvcc is an error, since another
// nvcc would use other headers.
func findNVCC(asked, cudaPath string) (string, error) {
	if asked != "nvcc" {
		if path, err := exec.LookPath(asked); err == nil {
			return path, nil
		}
		return "", &MissingToolError{"nvcc", fmt.Sprintf("compiler %s not found", asked)}
	}
	if cudaPath != "" {
		path := filepath.Join(cudaPath, "bin", "nvcc")
		if _, err := fileStamp(path); err == nil {
			return path, nil
		}
		return "", &MissingToolError{"nvcc", fmt.Sprintf("%s not found", path)}
	}
	if path, err := exec.LookPath("nvcc"); err == nil {
		return path, nil
	}
	const installed = "/usr/local/cuda/bin/nvcc"
	if _, err := fileStamp(installed); err == nil {
		return installed, nil
	}
	return "", &MissingToolError{"nvcc", "nvcc is neither on PATH nor in /usr/local/cuda/bin"}
}

// nvccArgs returns the arguments that compile the input to PTX. For analysis it uses -G: nvcc's
// optimizer cannot be limited as clang's can, and only without it every access of the source is in
// the PTX. With a level the result is that of a release build, with line info.
func (b *build) nvccArgs(out string) []string {
	args := []string{"-ptx", "-arch=" + b.arch(), "-o", out}
	if b.opt.OptLevel == "" {
		args = append(args, "-G")
	} else {
		args = append(args, "-lineinfo")
	}
	if b.opt.Std != "" {
		args = append(args, "-std="+b.opt.Std)
	}
	for _, d := range b.opt.Defines {
		args = append(args, "-D", d)
	}
	for _, u := range b.opt.Undefines {
		args = append(args, "-U", u)
	}
	for _, i := range b.opt.Includes {
		args = append(args, "-I", i)
	}
	if b.opt.CCCL != "" {
		for _, dir := range findCCCL(b.opt.CCCL).list() {
			args = append(args, "-I", filepath.Dir(dir))
		}
	}
	for _, i := range b.opt.Systems {
		args = append(args, "-isystem", i)
	}
	for _, f := range b.opt.Forced {
		args = append(args, "-include", f)
	}
	args = append(args, b.opt.Args...)
	return append(args, "-x", "cu", b.path)
}

// nvcc compiles with NVIDIA's compiler and headers. Results are not cached, since the files that
// nvcc reads are not known.
func nvcc(ctx context.Context, in Input, content []byte, opt Options) (*Result, error) {
	switch opt.OptLevel {
	case "", "3":
	default:
		return nil, fmt.Errorf("-O %s: nvcc compiles device code only at level 3 (-O 3) or for "+
			"analysis (without -O)", opt.OptLevel)
	}
	path, err := findNVCC(opt.Compiler, opt.CUDAPath)
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "heddle-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	b, err := newBuild(in, content, opt, tmp)
	if err != nil {
		return nil, err
	}
	out := filepath.Join(tmp, "out.ptx")
	cmd := command(ctx, path, b.nvccArgs(out)...)
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &exit) && printed.Len() > 0:
			return nil, &CompileError{File: b.name, Output: b.shown(printed.String())}
		}
		return nil, &ToolError{File: b.name, Tool: path, Output: err.Error()}
	}
	text, err := os.ReadFile(out)
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return nil, &ToolError{File: b.name, Tool: path, Output: "nvcc succeeded but wrote no PTX"}
	}
	if abs, err := filepath.Abs(b.path); err == nil { // nvcc uses absolute paths
		text = bytes.ReplaceAll(text, []byte(`"`+abs+`"`), []byte(`"`+b.name+`"`))
	}
	var warnings []string
	for _, line := range strings.Split(b.shown(printed.String()), "\n") {
		if strings.Contains(line, "warning") {
			warnings = append(warnings, line)
		}
	}
	return &Result{Name: ptxName(in.Name), PTX: text, Kernels: readFacts(text), Warnings: warnings},
		nil
}
