package lower

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/internal/cache"
	"heddle/internal/lazyregexp"
)

// A program that is to run (heddle exec) is compiled strictly. Analysis leaves out host code that
// has errors, because kernels can be examined without it; here the host code is the point, and a
// declaration that one of the two passes lacks would make them disagree about which templates are
// instantiated. So nothing is left out: an error is an error. The device pass is that of analysis;
// the host pass is clang's, with the PTX in the place of the fat binary, so that the code that
// clang generates registers it with heddle's runtime (headers/exec).

// BuildOptions say how programs are built.
type BuildOptions struct {
	Options            // both passes; Strict is implied
	HostLevel string   // -O of the host code: "0" to "3"; empty: 1
	HostArgs  []string // for the host compiler (-Xcompiler)
}

// Builder compiles and links programs. Its methods may be called from several goroutines.
type Builder struct {
	Note string // what the user should know of how programs are built; empty: nothing

	opt  BuildOptions
	tc   *toolchain
	root string // of the embedded headers
	dir  string // for files that last: the cache, or tmp
	tmp  string // removed by Close
}

// NewBuilder finds the compiler and writes the embedded headers. It fails as Lower.
func NewBuilder(ctx context.Context, opt BuildOptions) (*Builder, error) {
	if isNVCC(opt.Compiler) || opt.CUDAPath != "" {
		return nil, errors.New("programs are built by clang with heddle's headers; " +
			"omit --compiler nvcc and --cuda-path")
	}
	if err := errors.Join(checkOptions(opt.Options), checkCCCL(opt.Options)); err != nil {
		return nil, err
	}
	opt.Strict = true
	b := &Builder{opt: opt, dir: CacheDir(opt.Options)}
	var err error
	if b.tc, err = findToolchain(ctx, opt.Compiler, &probeCache{b.dir}); err != nil {
		return nil, err
	}
	if b.tmp, err = os.MkdirTemp("", "heddle-build-"); err != nil {
		return nil, fmt.Errorf("no directory for temporary files (TMPDIR): %w", err)
	}
	if b.dir == "" {
		b.dir = b.tmp
	}
	if b.root, err = writeHeaders(b.dir); err != nil && b.dir != b.tmp {
		b.dir = b.tmp // the cache directory is not writable
		b.root, err = writeHeaders(b.dir)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	if b.withoutOpenMP(ctx) {
		b.Note = fmt.Sprintf("clang has no OpenMP, so -fopenmp is ignored; install it with: apt-get "+
			"install libomp-%d-dev (Debian, Ubuntu)", b.tc.Major)
	}
	return b, nil
}

// Close removes temporary files.
func (b *Builder) Close() { _ = os.RemoveAll(b.tmp) }

// HostSource reports whether a file is C or C++ without device code, by its name.
func HostSource(name string) bool {
	return slices.Contains([]string{".c", ".cc", ".cpp", ".cxx", ".c++", ".C"}, filepath.Ext(name))
}

// Object compiles a source file to an object file. cuda says that it is CUDA C++ whatever its name;
// args are further options of clang for the host code. Errors are those of Lower; warnings are the
// compiler's, one line each.
func (b *Builder) Object(ctx context.Context, in, out string, cuda bool, args ...string) (
	warnings []string, err error) {
	all, image, err := b.objectArgs(ctx, in, cuda)
	if err != nil {
		return nil, err
	}
	all = slices.Concat(all, args, []string{"-c", "-o", out})
	overlay, warnings, err := b.hostAdapted(ctx, in, all)
	if err != nil || image == "" || registers(out) {
		return warnings, err
	}
	text, err := os.ReadFile(image)
	if err != nil || !bytes.Contains(text, []byte("\n.visible .func")) {
		return warnings, err
	}
	header := image + ".h"
	if err := os.WriteFile(header, fmt.Appendf(nil, registration, image), 0o600); err != nil {
		return warnings, err
	}
	return b.host(ctx, in, slices.Concat(all, overlay, []string{"-include", header, "--", in}))
}

// registers reports whether an object file registers its device code when the program starts. clang
// lets it only for kernels and variables, but kernels of other files may call its functions.
func registers(object string) bool {
	f, err := elf.Open(object)
	if err != nil {
		return true // such as bitcode
	}
	defer f.Close()
	symbols, err := f.Symbols()
	return err != nil || slices.ContainsFunc(symbols, func(s elf.Symbol) bool {
		return s.Name == "__cudaRegisterFatBinary"
	})
}

// registration is C++ that registers the device code in a file, as what clang emits does.
const registration = `#pragma clang system_header
asm(".pushsection .rodata\nheddle_image: .incbin \"%s\"\n.popsection");
extern "C" void **__cudaRegisterFatBinary(const void *);
namespace {
extern const char heddle_code[] asm("heddle_image");
const struct { int magic, version; const void *code; void *file; } heddle_binary = {0, 0, heddle_code, 0};
__attribute__((constructor)) void heddle_register() { __cudaRegisterFatBinary(&heddle_binary); }
}
`

// objectArgs returns the options that compile the host code of a file, after its device code, if it
// has any, was compiled to the file image.
func (b *Builder) objectArgs(ctx context.Context, in string, cuda bool) (args []string, image string,
	err error) {
	library, err := b.libraryArgs(in)
	if err != nil {
		return nil, "", err
	}
	if !cuda && HostSource(in) {
		return append(library, b.plainArgs(in)...), "", nil
	}
	image, err = b.device(ctx, in)
	if err != nil {
		return nil, "", err
	}
	return slices.Concat(library, b.cudaArgs(),
		[]string{"-Xclang", "-fcuda-include-gpubinary", "-Xclang", image}), image, nil
}

// libraryArgs returns the options for the copy of CCCL that a file needs, and for the names that are
// its own, which must be those of the device pass.
func (b *Builder) libraryArgs(in string) ([]string, error) {
	content, err := readInput(in)
	if err != nil {
		return nil, err
	}
	libs, err := checkIncludes(Input{Name: in}, content, b.opt.Options)
	if err != nil || libs.copy == nil {
		return libs.nameArgs(), err
	}
	dir, err := os.MkdirTemp(b.tmp, "cccl-")
	if err != nil {
		return nil, err
	}
	args, err := ccclArgs(libs.copy, dir, filepath.Join(b.root, "cccl"))
	return append(args, libs.nameArgs()...), err
}

// device compiles the device code of a file, and returns a file with the PTX and a NUL, which ends
// it for the runtime.
func (b *Builder) device(ctx context.Context, in string) (string, error) {
	results, err := Lower(ctx, Input{Name: in, Lang: CUDA}, b.opt.Options)
	var failed *CompileError
	if errors.As(err, &failed) && failed.Help == "" {
		failed.Help = hostHelp(failed.Output)
	}
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(b.tmp, "device-*.ptx")
	if err != nil {
		return "", err
	}
	text := slices.Clone(results[0].PTX)
	for _, o := range results[0].Omitted {
		text = append(text, fmt.Sprintf("%s%s %s\n", OmittedMark, o.Name, o.Reason)...)
	}
	_, err = f.Write(append(text, 0))
	return f.Name(), errors.Join(err, f.Close())
}

// Image compiles the device code of a file alone, to what programs load at run time: PTX text,
// which heddle's driver API also takes for a fat binary or machine code.
func (b *Builder) Image(ctx context.Context, in, out string) error {
	image, err := b.device(ctx, in)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(image)
	if err != nil {
		return err
	}
	return os.WriteFile(out, bytes.TrimSuffix(text, []byte{0}), 0o666)
}

// OmittedMark begins a comment line of the PTX in a program: the mangled name of a kernel that
// could not be lowered, and why.
const OmittedMark = "// heddle.omitted "

// hostHelp returns what to do about errors of clang that concern the machine; "" if it is not
// known.
func hostHelp(diagnostics string) string {
	for _, m := range missingRE.FindAllStringSubmatch(diagnosticTexts(diagnostics), -1) {
		switch {
		case slices.Contains([]string{"new", "cmath", "cstdlib", "utility", "vector", "iostream"}, m[1]):
			return "clang found no C++ library; install it with: apt-get install libstdc++-12-dev " +
				"(Debian, Ubuntu; or any later version)"
		case m[1] == "omp.h":
			return "clang has no OpenMP; install it with: apt-get install libomp-dev"
		case slices.Contains([]string{"stdio.h", "limits.h", "string.h"}, m[1]):
			return "clang found no C library; install it with: apt-get install libc6-dev"
		case strings.HasSuffix(m[1], "_interop.h"), strings.HasPrefix(m[1], "cudaEGL"):
			return "heddle does not support graphics"
		case strings.HasPrefix(m[1], "cuda_"):
			return "heddle does not have " + m[1]
		case strings.HasPrefix(m[1], "cub/"), strings.HasPrefix(m[1], "thrust/"):
			return ccclPackages
		case slices.ContainsFunc(libraryHeaders, func(start string) bool {
			return strings.HasPrefix(m[1], start)
		}):
			return "heddle has no replacement for this library of NVIDIA's"
		}
	}
	return compileHelp(diagnostics)
}

// libraryHeaders are the starts of the names of headers of NVIDIA's libraries.
var libraryHeaders = []string{"cublas", "cusparse", "cufft", "curand", "cusolver", "cudnn", "cutensor",
	"nccl", "npp", "nvjpeg", "nvJitLink", "nvml", "nvsci", "cutlass/"}

// diagnosticTexts returns the texts of clang's errors, one line each.
func diagnosticTexts(output string) string {
	var out strings.Builder
	for _, m := range diagRE.FindAllStringSubmatch(output, -1) {
		fmt.Fprintln(&out, m[5])
	}
	return out.String()
}

// cudaArgs returns the options for the host pass of CUDA C++. With the version of an SDK clang
// emits the launches of CUDA 9.2 and later (cudaLaunchKernel).
func (b *Builder) cudaArgs() []string {
	args := []string{"-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib",
		"-Xclang", "-target-sdk-version=12.0", "-Wno-error=register", "-Wno-cuda-compat",
		archList(cmp.Or(b.opt.Arch, defaultArch)),
		"-Xclang", "-fcuda-allow-variadic-functions"}
	args = append(args, cutlassMacros(cmp.Or(b.opt.Arch, defaultArch), false)...)
	for _, f := range []string{"prelude.h", "strict.h"} {
		args = append(args, "-include", filepath.Join(b.root, "heddle", f))
	}
	return append(args, b.commonArgs(false)...)
}

// plainArgs returns the options for a file without device code. It may include cuda_runtime.h
// (heddle/host.h).
func (b *Builder) plainArgs(in string) []string {
	language := "c++"
	if filepath.Ext(in) == ".c" {
		language = "c"
	}
	return append([]string{"-x", language}, b.commonArgs(filepath.Ext(in) == ".c")...)
}

// commonArgs returns the options of all host code: lines in the form of DWARF 4, since clang writes
// names of files that are wrong in that of DWARF 5 if the file is not below the working directory;
// frame pointers and no tail calls, for the places of calls; wrapping integers and any aliasing,
// since nvcc without -O does not optimize host code and programs depend on it. c says that it is C,
// to which -std does not apply.
func (b *Builder) commonArgs(c bool) []string {
	opt := b.opt
	level := opt.HostLevel
	if level == "" {
		level = "1"
	}
	args := []string{"-O" + level, "-g1", "-gdwarf-4", "-fno-optimize-sibling-calls",
		"-fno-omit-frame-pointer", "-fwrapv", "-fno-strict-aliasing",
		"-fno-color-diagnostics", "-D__HEDDLE__=1", "-isystem", filepath.Join(b.root, "api"),
		"-isystem", filepath.Join(b.root, "cuda")}
	if opt.Std != "" && !c {
		args = append(args, "-std="+opt.Std)
	}
	for _, d := range opt.Defines {
		args = append(args, "-D"+d)
	}
	for _, u := range opt.Undefines {
		args = append(args, "-U"+u)
	}
	args = append(args, (&build{opt: opt.Options}).includeArgs()...)
	for _, f := range opt.Forced {
		args = append(args, "-include", f)
	}
	args = append(args, opt.HostArgs...)
	return append(args, opt.Args...)
}

// host runs clang for host code or the linker.
func (b *Builder) host(ctx context.Context, in string, args []string) ([]string, error) {
	cmd := command(ctx, b.tc.Clang, append([]string{"--driver-mode=g++"}, args...)...)
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		text := printed.String()
		return nil, &CompileError{File: in, Output: text, Help: hostHelp(text)}
	}
	return warningRE.FindAllString(printed.String(), -1), nil
}

// Runtime returns the object file of heddle's CUDA runtime. It is compiled once for each compiler
// and version of heddle, if there is a cache.
func (b *Builder) Runtime(ctx context.Context) (string, error) {
	path := b.keptName("runtime") + ".o"
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	out := filepath.Join(b.tmp, "runtime.o")
	if err := b.compileRuntime(ctx, out); err != nil {
		return "", err
	}
	object, err := os.ReadFile(out)
	if err != nil {
		return "", err
	}
	if b.dir == b.tmp {
		return out, nil
	}
	if cache.Write(path, object) != nil {
		return out, nil
	}
	return path, nil
}

// compileRuntime compiles the runtime to an object file.
func (b *Builder) compileRuntime(ctx context.Context, out string, args ...string) error {
	return b.compileC(ctx, filepath.Join(b.root, "exec", "shim.c"), out, append(args, "-w", "-c")...)
}

// compileC compiles one of the embedded C files.
func (b *Builder) compileC(ctx context.Context, source, out string, args ...string) error {
	args = append([]string{"-std=c11", "-O2", "-fPIC", "-o", out, source}, args...)
	text, err := command(ctx, b.tc.Clang, args...).CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &CompileError{File: source, Output: string(text), Help: hostHelp(string(text))}
	}
	return nil
}

// Link links objects, archives and the runtime to a program. args are options of the linker: -L,
// -l, -Wl. Shared libraries find the runtime in the program. The runtime comes last, so that an
// archive of the user's with functions of cuBLAS goes before those of the runtime, which are weak.
// Where the program loads libcuda.so.1 itself, dlopen returns the runtime.
func (b *Builder) Link(ctx context.Context, inputs, args []string, out string) error {
	runtime, err := b.Runtime(ctx)
	if err != nil {
		return err
	}
	first := []string{"-rdynamic", "-Wl,--wrap=dlopen", "-o", out}
	return b.link(ctx, slices.Concat(first, inputs, args, []string{runtime}), out)
}

// LinkShared links objects to a shared library, whose runtime is that of the program that loads it.
func (b *Builder) LinkShared(ctx context.Context, inputs, args []string, out string) error {
	return b.link(ctx, slices.Concat([]string{"-shared", "-o", out}, inputs, args), out)
}

// Archive writes objects to an archive, with the ar of the system.
func (b *Builder) Archive(ctx context.Context, objects []string, out string) error {
	if out == "" {
		return errors.New("an archive needs a name (-o)")
	}
	text, err := command(ctx, "ar", append([]string{"rcs", out}, objects...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ar: %w: %s", err, strings.TrimSpace(string(text)))
	}
	return nil
}

// link runs the linker.
func (b *Builder) link(ctx context.Context, args []string, out string) error {
	args = slices.Concat(args, b.opt.HostArgs, []string{"-lm", "-lpthread", "-ldl", "-lrt"})
	_, err := b.host(ctx, out, args)
	var failed *CompileError
	if errors.As(err, &failed) {
		failed.Link, failed.Help = true, linkHelp(failed.Output)
	}
	return err
}

// undefinedRE matches the linker's message about a function that is nowhere defined.
var undefinedRE = lazyregexp.New("undefined reference to `([^'(]+)")

// libraries are those of NVIDIA's that programs use most, by the start of their functions' names.
var libraries = map[string]string{"cublas": "cuBLAS", "cufft": "cuFFT", "curand": "cuRAND",
	"cusparse": "cuSPARSE", "cusolver": "cuSOLVER", "cudnn": "cuDNN", "nccl": "NCCL",
	"npp": "NPP", "nvml": "NVML"}

// linkHelp returns what to do about an undefined function.
func linkHelp(output string) string {
	m := undefinedRE.FindStringSubmatch(output)
	if m == nil {
		return ""
	}
	for start, name := range libraries {
		if strings.HasPrefix(m[1], start) {
			return "heddle has no replacement for " + name
		}
	}
	if strings.HasPrefix(m[1], "cuda") || strings.HasPrefix(m[1], "cu") && len(m[1]) > 2 &&
		m[1][2] >= 'A' && m[1][2] <= 'Z' {
		return "heddle's CUDA runtime does not have " + m[1]
	}
	return "is a source file or a library (-l) missing?"
}

// withoutOpenMP removes -fopenmp if clang has no OpenMP: the program is then built with its
// parallel regions executed by one thread, and a program that includes omp.h is rejected.
func (b *Builder) withoutOpenMP(ctx context.Context) (removed bool) {
	openMP := func(a string) bool { return strings.HasPrefix(a, "-fopenmp") }
	if !slices.ContainsFunc(b.opt.HostArgs, openMP) {
		return false
	}
	probe := command(ctx, b.tc.Clang, "-fopenmp", "-E", "-x", "c", "-include", "omp.h", os.DevNull)
	if probe.Run() == nil {
		return false
	}
	b.opt.HostArgs = slices.DeleteFunc(slices.Clone(b.opt.HostArgs), openMP)
	return true
}
