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
const nvccHelp = `nvcc takes the place of NVIDIA's compiler in a build, so that heddle exec can run
what it builds:

  heddle exec make NVCC="heddle nvcc" run

It takes nvcc's command line and writes objects, archives, libraries and programs, with heddle's
CUDA runtime in the place of libcudart. Options without meaning here (register limits, code
generation, debugging of kernels) are accepted. An option that heddle does not know is an error.

--cccl DIR, an option of heddle's own, names a copy of CUB and Thrust; so does the environment
variable CCCL_DIR, also for builds whose command lines cannot be changed.`

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
	compile  bool   // -c, -dc: stop before linking
	image    string // -ptx, -fatbin, -cubin: device code alone; the extension of the result
	library  bool   // -lib: an archive
	shared   bool   // -shared
	dynamic  bool   // the program loads the runtime (--cudart shared)
	bad      error  // an option with a value that nvcc does not have
	version  bool
	language string   // -x
	link     []string // further options of the linker
	deps     []string // -MD and its relatives
}

// nvccFlag is an option of nvcc, under several names. value says that a word follows, as "-o FILE",
// "-oFILE" or "-o=FILE"; do receives it, or "" without one.
type nvccFlag struct {
	names string // separated by spaces
	value bool
	do    func(*nvccCall, string)
}

// add returns a function that appends the value of an option to a list.
func add(list func(*nvccCall) *[]string, prefix string) func(*nvccCall, string) {
	return func(n *nvccCall, v string) {
		l := list(n)
		*l = append(*l, prefix+v)
	}
}

// The lists that options add to.
func linkList(n *nvccCall) *[]string    { return &n.link }
func depsList(n *nvccCall) *[]string    { return &n.deps }
func includeList(n *nvccCall) *[]string { return &n.opt.Includes }
func systemList(n *nvccCall) *[]string  { return &n.opt.Systems }
func forcedList(n *nvccCall) *[]string  { return &n.opt.Forced }
func defineList(n *nvccCall) *[]string  { return &n.opt.Defines }
func undefList(n *nvccCall) *[]string   { return &n.opt.Undefines }
func hostList(n *nvccCall) *[]string    { return &n.opt.HostArgs }

// nothing is for options that change nothing here.
func nothing(*nvccCall, string) {}

// nvccFlags has the options of the CUDA Compiler Driver's documentation, "NVCC Command Options".
var nvccFlags = []nvccFlag{
	{"-o --output-file", true, func(n *nvccCall, v string) { n.output = v }},
	{"-c --compile", false, func(n *nvccCall, _ string) { n.compile = true }},
	{"-dc --device-c", false, func(n *nvccCall, _ string) { n.compile, n.opt.Separate = true, true }},
	{"-rdc --rdc --relocatable-device-code", true,
		func(n *nvccCall, v string) { n.opt.Separate = n.opt.Separate || v == "true" }},
	{"-ptx --ptx", false, func(n *nvccCall, _ string) { n.image = ".ptx" }},
	{"-fatbin --fatbin", false, func(n *nvccCall, _ string) { n.image = ".fatbin" }},
	{"-cubin --cubin", false, func(n *nvccCall, _ string) { n.image = ".cubin" }},
	{"-lib --lib", false, func(n *nvccCall, _ string) { n.library = true }},
	{"-shared --shared", false, func(n *nvccCall, _ string) { n.shared = true }},
	{"-V --version", false, func(n *nvccCall, _ string) { n.version = true }},
	{"-x --x", true, func(n *nvccCall, v string) { n.language = v }},
	{"-default-stream --default-stream", true, (*nvccCall).defaultStream},
	{"-std --std", true, func(n *nvccCall, v string) { n.opt.Std = v }},
	{"-O --optimize", true, func(n *nvccCall, v string) { n.opt.HostLevel = v }},
	{"-I --include-path", true, add(includeList, "")},
	{"-isystem --isystem --system-include", true, add(systemList, "")},
	{"-include --pre-include", true, add(forcedList, "")},
	{"-D --define-macro", true, add(defineList, "")},
	{"-U --undefine-macro", true, add(undefList, "")},
	{"-L --library-path", true, add(linkList, "-L")},
	{"-Xcompiler --Xcompiler --compiler-options", true, add(hostList, "")},
	{"-Xlinker --linker-options", true, add(linkList, "-Wl,")},
	{"-arch --arch --gpu-architecture", true, (*nvccCall).architecture},
	{"-gencode --generate-code", true, (*nvccCall).architecture},
	{"--cccl", true, func(n *nvccCall, v string) { n.opt.CCCL = v }}, // heddle's own
	{"-cudart --cudart", true, func(n *nvccCall, v string) { n.dynamic = v == "shared" }},
	{"-MD", false, add(depsList, "-MD")},
	{"-MMD", false, add(depsList, "-MMD")},
	{"-MP", false, add(depsList, "-MP")},
	{"-MF", true, add(depsList, "-MF")},
	{"-MT -MQ", true, add(depsList, "-MT")},
	{"-code --gpu-code -Xptxas --ptxas-options -Xnvlink --nvlink-options -Xfatbin " +
		"-maxrregcount --maxrregcount -cudadevrt " +
		"--cudadevrt -ccbin --compiler-bindir -ftz --ftz -prec-div --prec-div -prec-sqrt " +
		"--prec-sqrt -fmad --fmad -target-dir --target-directory -threads --threads -t " +
		"-diag-suppress --diag-suppress -diag-error --diag-error " +
		"-diag-warn --diag-warn -Werror --Werror -split-compile --split-compile -keep-dir " +
		"--keep-dir -machine --machine", true, nothing},
	{"-g --debug -G --device-debug -lineinfo --generate-line-info -w --disable-warnings -v " +
		"--verbose -use_fast_math --use_fast_math -extended-lambda --extended-lambda " +
		"-expt-extended-lambda --expt-extended-lambda -expt-relaxed-constexpr " +
		"--expt-relaxed-constexpr -res-usage --resource-usage -keep --keep -m64 " +
		"-Wno-deprecated-gpu-targets --Wno-deprecated-gpu-targets -restrict --restrict -dlto " +
		"-extra-device-vectorization -Wreorder -Wdefault-stream-launch " +
		"-allow-unsupported-compiler --allow-unsupported-compiler", false, nothing},
}

// defaultStream defines the macro that nvcc defines. legacy and null mean the same.
func (n *nvccCall) defaultStream(v string) {
	switch v {
	case "per-thread":
		n.opt.Defines = append(n.opt.Defines, "CUDA_API_PER_THREAD_DEFAULT_STREAM=1")
	case "legacy", "null":
	default:
		n.bad = fmt.Errorf("--default-stream %s: expected legacy or per-thread", v)
	}
}

// architecture takes sm_80 from -arch=sm_80 or -gencode arch=compute_80,code=sm_80; the newest of
// several counts. Architectures that have no number (native, all) leave the default.
func (n *nvccCall) architecture(v string) {
	separator := func(r rune) bool { return strings.ContainsRune(",=[]", r) }
	for word := range strings.FieldsFuncSeq(v, separator) {
		number, ok := strings.CutPrefix(word, "sm_")
		if !ok {
			number, ok = strings.CutPrefix(word, "compute_")
		}
		arch, old := "sm_"+number, n.opt.Arch
		if ok && (len(arch) > len(old) || len(arch) == len(old) && arch > old) {
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
			n.link = append(n.link, "-l"+strings.TrimPrefix(name, "="))
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
	n.link = withoutOwn(n.link)
	return n, n.bad
}

// ownLibraries are those that programs have anyway, or whose place heddle's runtime takes.
var ownLibraries = []string{"cudart", "cudart_static", "cuda", "cudadevrt", "nvrtc", "nvrtc_static",
	"nvrtc-builtins_static", "rt", "dl", "pthread", "m"}

// standIns are NVIDIA's libraries whose functions heddle's runtime has, to say that they are not
// supported (headers/exec/library.c).
var standIns = []string{"cublas", "cublas_static", "cublasLt", "cublasLt_static", "cudnn", "cufft",
	"cufft_static", "curand", "curand_static", "cusolver", "cusolver_static", "cusparse",
	"cusparse_static", "nccl", "nccl_static", "nvidia-ml", "nvjpeg", "nvjpeg_static"}

// withoutOwn returns options of the linker without the libraries that need none: ownLibraries, and
// standIns unless a directory of -L has the library, which then goes before heddle's.
func withoutOwn(link []string) []string {
	return slices.DeleteFunc(link, func(option string) bool {
		name, ok := strings.CutPrefix(option, "-l")
		if !ok || !slices.Contains(standIns, name) {
			return ok && slices.Contains(ownLibraries, name)
		}
		return !slices.ContainsFunc(link, func(other string) bool {
			dir, ok := strings.CutPrefix(other, "-L")
			return ok && (isFile(filepath.Join(dir, "lib"+name+".so")) ||
				isFile(filepath.Join(dir, "lib"+name+".a")))
		})
	})
}

// isFile reports whether there is a file of this name.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// flag reads one option whose first word is a, and returns the words after it.
func (n *nvccCall) flag(a string, rest []string) ([]string, error) {
	for i := range nvccFlags {
		f := &nvccFlags[i]
		for name := range strings.FieldsSeq(f.names) {
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
			f.do(n, after)
			return rest, nil
		}
	}
	return nil, fmt.Errorf("option %s is not one that heddle nvcc knows", a)
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
	if !n.compile && n.image == "" && len(n.inputs) > 1 {
		opt.Separate = true // heddle links files without -rdc=true, too
	}
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
		out := n.result(in, filepath.Join(dir, fmt.Sprintf("%d.o", i)))
		// The name is absolute: reports are made in another directory than that of the compilation.
		abs, err := filepath.Abs(in)
		if err != nil {
			return err
		}
		if n.image != "" {
			if err := builder.Image(ctx, abs, out); err != nil {
				return err
			}
			continue
		}
		if _, err := builder.Object(ctx, abs, out, n.language == "cu", n.deps...); err != nil {
			return err
		}
		objects = append(objects, out)
	}
	return n.finish(ctx, builder, objects)
}

// result returns the file to which an input is compiled: temporary if the inputs are to be linked.
func (n *nvccCall) result(in, temporary string) string {
	extension := n.image
	switch {
	case n.compile && n.image == "":
		extension = ".o"
	case n.image == "":
		return temporary
	}
	if n.output != "" {
		return n.output
	}
	return strings.TrimSuffix(filepath.Base(in), filepath.Ext(in)) + extension
}

// finish links or archives what was compiled.
func (n *nvccCall) finish(ctx context.Context, builder *lower.Builder, objects []string) error {
	switch {
	case n.compile, n.image != "":
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
	if n.dynamic {
		return builder.LinkDynamic(ctx, objects, n.link, out)
	}
	return builder.Link(ctx, objects, n.link, out)
}
