package project

import (
	"path/filepath"
	"slices"
	"strings"

	"heddle/internal/lower"
)

// isNVCC reports whether a compiler is nvcc, by its name. Wrappers such as ccache are not
// recognized.
func isNVCC(compiler string) bool {
	base := strings.TrimSuffix(strings.ToLower(filepath.Base(compiler)), ".exe")
	return base == "nvcc"
}

// flagReader selects from a command line the flags that affect the meaning of the source: include
// paths, macros, forced includes, the language and its standard. It accepts the spellings of nvcc
// and of clang for either compiler; only comma-separated lists are specific to nvcc. Everything
// else (architectures, optimization, warnings, output) is dropped: heddle compiles for analysis
// with its own settings.
type flagReader struct {
	dir, file string // working directory and source file, both absolute
	nvcc      bool   // the compiler is nvcc
	cuda      bool   // -x cu or -x cuda was given
	out       lower.Flags
	dropped   []string // words that are not used
}

// spelling is one form of a flag with a value.
type spelling struct {
	name  string
	glued bool                          // the value may follow directly: -Idir
	equal bool                          // the value may follow an equals sign: --include-path=dir
	to    func(r *flagReader, v string) // stores the value
}

// spellings are ordered so that no flag precedes a longer one that it is a prefix of.
var spellings = []spelling{
	{"--include-path", false, true, (*flagReader).include},
	{"--system-include", false, true, (*flagReader).system},
	{"--define-macro", false, true, (*flagReader).define},
	{"--undefine-macro", false, true, (*flagReader).undefine},
	{"--pre-include", false, true, (*flagReader).force},
	{"--include", false, true, (*flagReader).force},
	{"--std", false, true, (*flagReader).standard},
	{"--x", false, true, (*flagReader).language},
	{"-isystem", true, true, (*flagReader).system},
	{"-iquote", true, false, (*flagReader).include},
	{"-idirafter", true, false, (*flagReader).system},
	{"-include", false, true, (*flagReader).force},
	{"-std", false, true, (*flagReader).standard},
	{"-x", true, true, (*flagReader).language},
	{"-I", true, true, (*flagReader).include},
	{"-D", true, true, (*flagReader).define},
	{"-U", true, true, (*flagReader).undefine},
}

// withValue are unused flags whose value is the next word, which must not be mistaken for a flag:
// -o -I writes a file named -I.
var withValue = []string{
	"-o", "--output-file", "-MF", "-MT", "-MQ", "-ccbin", "--compiler-bindir", "-arch",
	"--gpu-architecture", "-code", "--gpu-code", "-gencode",
	"--generate-code", "-Xcompiler", "--compiler-options", "-Xptxas", "--ptxas-options", "-Xlinker",
	"--linker-options", "-Xcudafe", "-Xfatbin",
	"-Xnvlink", "--nvlink-options", "-Xclang", "-Xarch_device", "-Xarch_host", "-mllvm", "-target",
	"-l", "-L", "-diag-suppress", "--diag-suppress", "-maxrregcount",
	"-t", "--threads", "-isysroot", "--sysroot", "-odir", "--output-directory", "-rdc",
	"--relocatable-device-code",
}

// read reads the words of a command after the compiler. It recognizes the source file, which is
// neither kept nor dropped.
func (r *flagReader) read(args []string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		used, known := r.flag(a, next)
		switch {
		case known:
			i += used
		case slices.Contains(withValue, a) && next != "":
			r.dropped = append(r.dropped, a+" "+next)
			i++
		case a == "-c" || a == "--" || absolute(r.dir, a) == r.file:
		default:
			r.dropped = append(r.dropped, a)
		}
	}
}

// flag stores the flag a if it is one of the spellings; used is 1 if its value is the next word. A
// flag without its value, at the end of the command, is unknown.
func (r *flagReader) flag(a, next string) (used int, known bool) {
	for _, s := range spellings {
		rest, ok := strings.CutPrefix(a, s.name)
		switch {
		case !ok:
			continue
		case rest == "" && next == "":
			return 0, false
		case rest == "":
			s.to(r, next)
			return 1, true
		case s.equal && rest[0] == '=':
			s.to(r, rest[1:])
			return 0, true
		case s.glued:
			s.to(r, rest)
			return 0, true
		}
	}
	return 0, false
}

// list splits a comma-separated list of nvcc; for clang a comma is part of the value.
func (r *flagReader) list(v string) []string {
	if r.nvcc {
		return strings.Split(v, ",")
	}
	return []string{v}
}

// include adds directories of -I.
func (r *flagReader) include(v string) {
	for _, d := range r.list(v) {
		r.out.Includes = append(r.out.Includes, absolute(r.dir, d))
	}
}

// system adds directories of -isystem.
func (r *flagReader) system(v string) {
	for _, d := range r.list(v) {
		r.out.Systems = append(r.out.Systems, absolute(r.dir, d))
	}
}

// force adds files of -include. The compiler searches its working directory first, then the include
// path.
func (r *flagReader) force(v string) {
	for _, f := range r.list(v) {
		if abs := absolute(r.dir, f); exists(abs) {
			f = abs
		}
		r.out.Forced = append(r.out.Forced, f)
	}
}

// standard stores the value of -std. The last one counts.
func (r *flagReader) standard(v string) { r.out.Std = v }

// language stores whether -x selects CUDA.
func (r *flagReader) language(v string) { r.cuda = v == "cu" || v == "cuda" }

// define adds macros of -D. The last -D or -U for a macro counts.
func (r *flagReader) define(v string) {
	for _, m := range r.list(v) {
		r.forget(macroName(m))
		r.out.Defines = append(r.out.Defines, m)
	}
}

// undefine adds macros of -U.
func (r *flagReader) undefine(v string) {
	for _, m := range r.list(v) {
		r.forget(m)
		r.out.Undefines = append(r.out.Undefines, m)
	}
}

// forget removes earlier flags for a macro.
func (r *flagReader) forget(name string) {
	r.out.Defines = slices.DeleteFunc(r.out.Defines,
		func(m string) bool { return macroName(m) == name })
	r.out.Undefines = slices.DeleteFunc(r.out.Undefines, func(m string) bool { return m == name })
}

// macroName returns NAME for NAME, NAME=VALUE and NAME(X)=VALUE.
func macroName(m string) string {
	if i := strings.IndexAny(m, "=("); i >= 0 {
		return m[:i]
	}
	return m
}
