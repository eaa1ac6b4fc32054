package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"heddle/internal/lower"
)

// nvccHelp is the long description of heddle nvcc.
const nvccHelp = `nvcc takes the place of NVIDIA's compiler in a build, so that heddle exec can run what it builds:

  heddle exec -- make NVCC="heddle nvcc" run
  cmake -DCMAKE_CUDA_COMPILER=... is not supported yet

It takes nvcc's command line and writes objects, archives and programs, with heddle's CUDA runtime in the place of
libcudart. Options without meaning here (register limits, code generation, debugging of kernels) are accepted. An
option that nvcc stands for and heddle does not know is an error.`

// newNVCC makes the command. Its flags are nvcc's, so it reads them itself.
func newNVCC(stdout, stderr io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:                "nvcc [nvcc's flags] FILE...",
		Short:              "build programs for heddle exec, in the place of nvcc",
		Long:               nvccHelp,
		Example:            "  heddle nvcc -O3 -arch=sm_80 -o app main.cu util.cpp -lm",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
				return cmd.Help()
			}
			n, err := parseNVCC(args)
			if err != nil {
				return err
			}
			if n.version {
				fmt.Fprintln(stdout, "heddle nvcc, in the place of nvcc: NVIDIA (R) Cuda compiler driver\n"+
					"Cuda compilation tools, release 12.0, V12.0.0")
				return nil
			}
			err = n.run(cmd.Context(), stderr)
			var ce *lower.CompileError
			if errors.As(err, &ce) {
				fmt.Fprint(stderr, ce.Output)
				if ce.Help != "" {
					err = fmt.Errorf("%w; %s", err, ce.Help)
				}
			}
			if err != nil {
				return inputError{err}
			}
			return nil
		},
	}
}

// nvccCall is a command line of nvcc.
type nvccCall struct {
	buildFlags
	inputs   []string
	output   string
	compile  bool // -c, -dc: stop before linking
	library  bool // -lib: an archive
	shared   bool // -shared
	version  bool
	language string   // -x
	link     []string // further options of the linker
	deps     []string // -MD and its relatives
}

// nvccFlag is an option of nvcc. value says that a word follows, as "-o FILE", "-oFILE" or
// "-o=FILE"; do receives it, or "" without one. do is nil for options that change nothing here.
type nvccFlag struct {
	names []string
	value bool
	do    func(*nvccCall, string)
}

// nvccFlags has the options of the CUDA Compiler Driver's documentation, "NVCC Command Options".
var nvccFlags = []nvccFlag{
	{[]string{"-o", "--output-file"}, true, func(n *nvccCall, v string) { n.output = v }},
	{[]string{"-c", "--compile", "-dc", "--device-c"}, false, func(n *nvccCall, _ string) { n.compile = true }},
	{[]string{"-lib", "--lib"}, false, func(n *nvccCall, _ string) { n.library = true }},
	{[]string{"-shared", "--shared"}, false, func(n *nvccCall, _ string) { n.shared = true }},
	{[]string{"-V", "--version"}, false, func(n *nvccCall, _ string) { n.version = true }},
	{[]string{"-x", "--x"}, true, func(n *nvccCall, v string) { n.language = v }},
	{[]string{"-I", "--include-path"}, true, func(n *nvccCall, v string) { n.opt.Includes = append(n.opt.Includes, v) }},
	{[]string{"-isystem", "--system-include"}, true, func(n *nvccCall, v string) { n.opt.Systems = append(n.opt.Systems, v) }},
	{[]string{"-include", "--pre-include"}, true, func(n *nvccCall, v string) { n.opt.Forced = append(n.opt.Forced, v) }},
	{[]string{"-D", "--define-macro"}, true, func(n *nvccCall, v string) { n.opt.Defines = append(n.opt.Defines, v) }},
	{[]string{"-U", "--undefine-macro"}, true, func(n *nvccCall, v string) { n.opt.Undefines = append(n.opt.Undefines, v) }},
	{[]string{"-std", "--std"}, true, func(n *nvccCall, v string) { n.opt.Std = v }},
	{[]string{"-O", "--optimize"}, true, func(n *nvccCall, v string) { n.opt.HostLevel = v }},
	{[]string{"-L", "--library-path"}, true, func(n *nvccCall, v string) { n.link = append(n.link, "-L"+v) }},
	{[]string{"-Xcompiler", "--Xcompiler", "--compiler-options"}, true, func(n *nvccCall, v string) { n.opt.HostArgs = append(n.opt.HostArgs, v) }},
	{[]string{"-Xlinker", "--linker-options"}, true, func(n *nvccCall, v string) { n.link = append(n.link, "-Wl,"+v) }},
	{[]string{"-arch", "--arch", "--gpu-architecture"}, true, (*nvccCall).architecture},
	{[]string{"-gencode", "--generate-code"}, true, (*nvccCall).architecture},
	{[]string{"-MD", "-MMD", "-MP"}, false, nil},
	{[]string{"-MF", "-MT", "-MQ"}, true, nil},
	{[]string{"-code", "--gpu-code", "-Xptxas", "--ptxas-options", "-Xnvlink", "--nvlink-options", "-Xfatbin",
		"-rdc", "--relocatable-device-code", "-maxrregcount", "--maxrregcount", "-cudart", "--cudart", "-ccbin",
		"--compiler-bindir", "-m", "--machine", "-ftz", "--ftz", "-prec-div", "--prec-div", "-prec-sqrt",
		"--prec-sqrt", "-fmad", "--fmad", "-t", "--threads", "-default-stream", "--default-stream",
		"-diag-suppress", "--diag-suppress", "-Werror", "--Werror", "-split-compile", "--split-compile",
		"-objdir-as-tempdir", "-cudadevrt", "--cudadevrt", "-std-host", "-target-dir", "--target-directory",
		"-diag-error", "-diag-warn", "--diag-error", "--diag-warn", "-keep-dir", "--keep-dir"}, true, nil},
	{[]string{"-g", "--debug", "-G", "--device-debug", "-lineinfo", "--generate-line-info", "-w", "--disable-warnings",
		"-v", "--verbose", "-use_fast_math", "--use_fast_math", "-extended-lambda", "--extended-lambda",
		"-expt-extended-lambda", "--expt-extended-lambda", "-expt-relaxed-constexpr",
		"--expt-relaxed-constexpr", "-res-usage", "--resource-usage", "-keep", "--keep", "-m64",
		"-Wno-deprecated-gpu-targets", "--Wno-deprecated-gpu-targets", "-restrict", "--restrict", "-dlto",
		"-extra-device-vectorization", "-Wreorder", "-Wdefault-stream-launch", "-allow-unsupported-compiler",
		"--allow-unsupported-compiler", "-allow-expensive-optimizations"}, false, nil},
}

// architecture takes sm_80 from -arch=sm_80 or -gencode arch=compute_80,code=sm_80; the newest of
// several counts. Architectures that have no number (native, all) leave the default.
func (n *nvccCall) architecture(v string) {
	for word := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == ',' || r == '=' || r == '[' || r == ']' }) {
		number, ok := strings.CutPrefix(word, "sm_")
		if !ok {
			number, ok = strings.CutPrefix(word, "compute_")
		}
		if arch := "sm_" + number; ok && (len(arch) > len(n.opt.Arch) || len(arch) == len(n.opt.Arch) && arch > n.opt.Arch) {
			n.opt.Arch = arch
		}
	}
}

// parseNVCC reads a command line of nvcc.
func parseNVCC(args []string) (*nvccCall, error) {
	n := &nvccCall{}
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		switch {
		case a == "--" || a == "":
			continue
		case a[0] != '-' || a == "-":
			n.inputs = append(n.inputs, a)
			continue
		case strings.HasPrefix(a, "-l") && a != "-lib" && a != "-lineinfo":
			name := a[2:]
			if name == "" && len(args) > 0 {
				name, args = args[0], args[1:]
			}
			// Heddle's runtime takes the place of these.
			if name = strings.TrimPrefix(name, "="); !slices.Contains([]string{"cudart", "cudart_static", "cuda",
				"cudadevrt", "rt", "dl", "pthread", "m"}, name) {
				n.link = append(n.link, "-l"+name)
			}
			continue
		}
		var err error
		if args, err = n.flag(a, args); err != nil {
			return nil, err
		}
	}
	if len(n.inputs) == 0 && !n.version {
		return nil, errors.New("no input files")
	}
	return n, nil
}

// flag reads one option whose first word is a, and returns the words after it.
func (n *nvccCall) flag(a string, rest []string) ([]string, error) {
	for i := range nvccFlags {
		f := &nvccFlags[i]
		for _, name := range f.names {
			after, ok := strings.CutPrefix(a, name)
			switch {
			case !ok:
				continue
			case after == "" && !f.value:
			case after == "" && len(rest) > 0:
				after, rest = rest[0], rest[1:]
				if name == "-O" { // -O alone is level 2; it takes no second word
					after, rest = "2", append([]string{after}, rest...)
				}
			case f.value && strings.HasPrefix(after, "="):
				after = after[1:]
			case f.value && after != "" && len(name) == 2: // -DNAME
			default:
				continue
			}
			n.keep(f, name, after)
			return rest, nil
		}
	}
	return nil, fmt.Errorf("option %s is not one that heddle nvcc knows", a)
}

// keep notes an option and its value.
func (n *nvccCall) keep(f *nvccFlag, name, value string) {
	switch {
	case f.do != nil:
		f.do(n, value)
	case strings.HasPrefix(name, "-M") && f.value:
		n.deps = append(n.deps, name, value)
	case strings.HasPrefix(name, "-M"):
		n.deps = append(n.deps, name)
	}
}

// run compiles, and links or archives.
func (n *nvccCall) run(ctx context.Context, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "heddle-nvcc-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if !slices.Contains([]string{"", "0", "1", "2", "3"}, n.opt.HostLevel) {
		n.opt.HostLevel = "2" // -Ofast and what else there is
	}
	opt := n.options()
	builder, err := lower.NewBuilder(ctx, opt)
	if err != nil {
		return err
	}
	defer builder.Close()
	if builder.Note != "" {
		fmt.Fprintf(stderr, "heddle: note: %s\n", builder.Note)
	}
	var objects []string
	for i, in := range n.inputs {
		if isObject(in) {
			objects = append(objects, in)
			continue
		}
		out := filepath.Join(dir, fmt.Sprintf("%d.o", i))
		if n.compile {
			out = n.output
			if out == "" {
				out = strings.TrimSuffix(filepath.Base(in), filepath.Ext(in)) + ".o"
			}
		}
		// The name is absolute: reports are made in another directory than that of the compilation.
		abs, err := filepath.Abs(in)
		if err != nil {
			return err
		}
		if _, err := builder.Object(ctx, abs, out, n.language == "cu", n.deps...); err != nil {
			return err
		}
		objects = append(objects, out)
	}
	switch {
	case n.compile:
		return nil
	case n.library:
		return builder.Archive(ctx, objects, n.output)
	}
	out := n.output
	if out == "" {
		out = "a.out"
	}
	if n.shared {
		return builder.LinkShared(ctx, objects, n.link, out)
	}
	return builder.Link(ctx, objects, n.link, out)
}
