package project

import (
	"path/filepath"
	"slices"
	"strings"

	"heddle/internal/lower"
)

func isNVCC(compiler string) bool {
	base := strings.TrimSuffix(strings.ToLower(filepath.Base(compiler)), ".exe")
	return base == "nvcc"
}

// flagReader picks from a command line the flags that decide what the source means. Both nvcc's and clang's
// spellings are read whoever the compiler is; only comma lists are nvcc's alone.
type flagReader struct {
	dir, file string
	nvcc      bool
	cuda      bool // -x cu or -x cuda
	out       lower.Flags
	dropped   []string
}

// spelling is one way to write a flag whose value counts.
type spelling struct {
	name  string
	glued bool // the value may follow at once: -Idir
	equal bool // or behind an equals sign: --include-path=dir
	to    func(r *flagReader, v string)
}

// spellings are in an order in which none hides a longer one.
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

// withValue are flags whose value is the next word and is not used: it must not be taken for a flag.
var withValue = []string{
	"-o", "--output-file", "-MF", "-MT", "-MQ", "-ccbin", "--compiler-bindir", "-arch", "--gpu-architecture", "-code", "--gpu-code", "-gencode",
	"--generate-code", "-Xcompiler", "--compiler-options", "-Xptxas", "--ptxas-options", "-Xlinker", "--linker-options", "-Xcudafe", "-Xfatbin",
	"-Xnvlink", "--nvlink-options", "-Xclang", "-Xarch_device", "-Xarch_host", "-mllvm", "-target", "-l", "-L", "-diag-suppress", "--diag-suppress", "-maxrregcount",
	"-t", "--threads", "-isysroot", "--sysroot", "-odir", "--output-directory", "-rdc", "--relocatable-device-code",
}

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

// flag reads one flag that counts; used is 1 if its value was the next word.
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

// list splits nvcc's comma lists.
func (r *flagReader) list(v string) []string {
	if r.nvcc {
		return strings.Split(v, ",")
	}
	return []string{v}
}

func (r *flagReader) include(v string) {
	for _, d := range r.list(v) {
		r.out.Includes = append(r.out.Includes, absolute(r.dir, d))
	}
}

func (r *flagReader) system(v string) {
	for _, d := range r.list(v) {
		r.out.Systems = append(r.out.Systems, absolute(r.dir, d))
	}
}

// force notes a file for -include. The compiler looks for it in its working directory first, then along the
// include path.
func (r *flagReader) force(v string) {
	for _, f := range r.list(v) {
		if abs := absolute(r.dir, f); exists(abs) {
			f = abs
		}
		r.out.Forced = append(r.out.Forced, f)
	}
}

func (r *flagReader) standard(v string) { r.out.Std = v }

func (r *flagReader) language(v string) { r.cuda = v == "cu" || v == "cuda" }

// define and undefine keep what the last flag for a macro says.
func (r *flagReader) define(v string) {
	for _, m := range r.list(v) {
		r.forget(macroName(m))
		r.out.Defines = append(r.out.Defines, m)
	}
}

func (r *flagReader) undefine(v string) {
	for _, m := range r.list(v) {
		r.forget(m)
		r.out.Undefines = append(r.out.Undefines, m)
	}
}

func (r *flagReader) forget(name string) {
	r.out.Defines = slices.DeleteFunc(r.out.Defines, func(m string) bool { return macroName(m) == name })
	r.out.Undefines = slices.DeleteFunc(r.out.Undefines, func(m string) bool { return m == name })
}

// macroName is NAME of NAME=VALUE and of NAME(X)=VALUE.
func macroName(m string) string {
	if i := strings.IndexAny(m, "=("); i >= 0 {
		return m[:i]
	}
	return m
}
