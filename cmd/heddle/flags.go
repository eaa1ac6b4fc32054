package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"heddle/internal/assume"
	"heddle/internal/axiom"
	"heddle/internal/check"
	"heddle/internal/driver"
	"heddle/internal/engine/prove"
	dynamic "heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/lower"
	"heddle/internal/source"
)

// lowerFlags defines the flags that control compilation to PTX. Their names and letters are those
// of compilers.
func lowerFlags(fs *pflag.FlagSet, opt *lower.Options) {
	fs.StringArrayVarP(&opt.Includes, "include", "I", nil, "search `DIR` for headers")
	fs.StringArrayVar(&opt.Systems, "isystem", nil,
		"search `DIR` for headers whose warnings do not matter, after those of -I (also -isystem)")
	fs.StringArrayVarP(&opt.Defines, "define", "D", nil, "define the macro `NAME[=VALUE]`")
	fs.StringVar(&opt.Std, "std", "",
		"set the language `STANDARD`, such as c++17 or CL2.0 (also -std)")
	fs.IntVar(&opt.AddressBits, "address-bits", 0,
		"compile OpenCL C for a device whose pointers and size_t have `N` bits, 32 or 64 (default: 64)")
	fs.StringVar(&opt.Arch, "arch", "", "compile for `ARCH`, such as sm_80 (also -arch)")
	fs.VarP(newChoice(&opt.OptLevel, "", "1", "2", "3"), "opt-level", "O",
		"analyse the code of a release build at `LEVEL` 1 to 3 (default: compile for analysis, keeping "+
			"every access)")
	fs.StringVar(&opt.Compiler, "compiler", "",
		"compile with clang, nvcc, or the compiler at `PATH` (default: clang-19, else the newest clang "+
			"from 14 on)")
	fs.Var(&extraFlag{&opt.Args}, "extra-arg",
		"pass `ARG` to the compiler as it is, such as --extra-arg=-fno-exceptions; may be repeated")
	fs.StringVar(&opt.CUDAPath, "cuda-path", "",
		"use the headers of the CUDA toolkit in `DIR` instead of heddle's own")
	ccclFlag(fs, &opt.CCCL)
	fs.BoolVar(&opt.NoCache, "no-cache", false,
		"do not use or fill the cache, of compilations and of results")
}

// ccclFlag defines the flag for a copy of CUB, Thrust and libcu++.
func ccclFlag(fs *pflag.FlagSet, dir *string) {
	fs.StringVar(dir, "cccl", "", "compile with the CUB, Thrust and libcu++ in `DIR`, a checkout of CCCL "+
		"or an include directory (default: $"+lower.CCCLVar+", a CUDA toolkit, or /usr/include)")
}

// launchFlags defines the flags of a launch. If any is not nil, a dimension of --grid and --block
// may be *, which a proof treats as an arbitrary size and records in any. Emulation needs numbers
// and passes nil.
func launchFlags(fs *pflag.FlagSet, opt *driver.Options, any *lockstep.Any) {
	fs.StringVar(&opt.Kernel, "kernel", "",
		"check only the kernel `NAME`, mangled or demangled (default: all)")
	grid, block := &dimFlag{value: &opt.Launch.Grid}, &dimFlag{value: &opt.Launch.Block}
	free := ""
	if any != nil {
		grid.free, block.free, free = &any.Grid, &any.Block, "; * in a dimension means any size"
	}
	fs.Var(grid, "grid", "blocks of the grid, as `X[,Y[,Z]]`"+free)
	fs.Var(block, "block", "threads of a block, as `X[,Y[,Z]]`"+free)
	fs.Var(&dimFlag{value: &opt.Launch.Global}, "global",
		"threads of the whole launch, as `X[,Y[,Z]]`: OpenCL's global size, instead of --grid")
	fs.Var(block, "local", "OpenCL's local size, as `X[,Y[,Z]]`: the same as --block")
	fs.Var(&dimFlag{value: &opt.Launch.Cluster}, "cluster", "blocks of a cluster, as `X[,Y[,Z]]`")
	fs.Var(&sharedFlag{&opt.Launch.Shared}, "shared",
		"dynamic shared memory in `BYTES`, such as 1024 or 48K")
	fs.Var(&savedFlag{&opt.Launch.Saved, &opt.Kernel}, "launch",
		"take grid, block, shared memory, arguments and the contents of memory from `FILE`, which heddle "+
			"exec --save has written; checks its kernel only; other flags take precedence")
	fs.Var(&argFlag{&opt.Launch.Args}, "arg",
		"set an argument, `NAME=VALUE`: n=1024, x=1.5, in=random, out=zero:4096, idx=small:1024, "+
			"row=csr:1024,4096, key=perm:1024, v=ints:0,3,5, w=file:w.bin, b=alias:a+16, in=unknown, "+
			"tile=local:1K; integers have the size that the kernel loads, or 4 bytes (i=u64:iota for "+
			"8); NAME may be an index; may be repeated; docs/launch.md has all forms")
}

// engineFlags defines the flags of the emulator and the race detector.
func engineFlags(fs *pflag.FlagSet, opt *check.Options) {
	fs.Uint64Var(&opt.Run.Seed, "seed", 0, "use seed `N` for the first schedule")
	fs.IntVar(&opt.Run.Seeds, "seeds", 0, fmt.Sprintf("run `N` schedules, with consecutive seeds "+
		"(default: 1, and %d for a kernel that synchronizes through memory)", dynamic.SyncSeeds))
	fs.Var(newParsed(&opt.Warp, event.ParseWarpModel, "independent", "lockstep"), "warp",
		"order the lanes of a warp by `MODEL` independent (only by synchronization) or lockstep")
	fs.Var(newParsed(&opt.Benign, event.ParseBenign, "warp", "all", "none"), "benign",
		"tolerate conflicting writes of the same value: `WHICH` is warp (by one instruction of a "+
			"warp), all or none")
	fs.Uint64Var(&opt.MaxSteps, "max-steps", 0,
		"end a run after `N` warp instructions (default: 20 million, plus 50,000 for each warp of the "+
			"launch, at most 50 million; several launches of a kernel share them)")
	fs.Var(&bytesFlag{&opt.Memory}, "memory",
		"end a run that needs more than `BYTES` of memory, such as 512M or 4G (default: 1G)")
	fs.IntVar(&opt.Limit, "limit", driver.DefaultLimit,
		"print at most `N` errors and N warnings per kernel")
	fs.IntVarP(&opt.Workers, "jobs", "j", 0,
		"use `N` cores: for as many kernels at a time, or for independent blocks of a kernel (default: all)")
}

// proofFlags defines the flags of proofs for all inputs.
func proofFlags(fs *pflag.FlagSet, opt *prove.Options, afterRun bool) {
	fs.Var(newParsed(&opt.Solver, prove.ParseSolver, "auto", "embedded", "z3", "cvc5"), "solver",
		"decide queries with `SOLVER` embedded, z3, cvc5 or auto (the embedded one, and z3 if it is "+
			"installed)")
	limit := "a fixed number of solver steps, about a minute"
	if afterRun {
		limit = "a fixed number of solver steps, about 15s"
	}
	fs.DurationVar(&opt.Timeout, "timeout", 0, fmt.Sprintf("end the proof of a kernel after `TIME`, "+
		"such as 90s (default: %s)", limit))
	fs.StringVar(&opt.SMTDir, "smt-dir", "",
		"write the queries of proofs to `DIR`, as SMT-LIB 2 files")
}

// totalFlag defines the limit for the time of a whole command. It decides how much is examined and
// never how: whatever has a verdict at that time keeps it.
func totalFlag(fs *pflag.FlagSet, total *time.Duration) {
	fs.Var(positive{total}, "total-timeout", "end the command after `TIME`, such as 10m, and print "+
		"what is known: kernels that are not examined by then are unknown")
}

// positive is a flag for a time above 0.
type positive struct{ value *time.Duration }

// Type and String implement pflag.Value.
func (p positive) Type() string { return "duration" }

func (p positive) String() string {
	if p.value == nil || *p.value == 0 {
		return ""
	}
	return p.value.String()
}

// Set reads a time with its unit.
func (p positive) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return errors.New("expected a time above 0, such as 90s")
	}
	*p.value = d
	return nil
}

// scopeFlags defines the flags that change the claim of a proof: its assumptions, the races it
// covers, and how it models loads. Restrictions and assumptions are named in the verdict.
func scopeFlags(fs *pflag.FlagSet, opt *prove.Options) {
	fs.Var(&assumeFlag{&opt.Assume}, "assume",
		"assume `EXPR` over integer arguments, gridDim and blockDim: 'n == gridDim.x * blockDim.x'; "+
			"may be repeated")
	fs.Var(&axiomFlag{&opt.Axioms}, "axioms",
		"assume the axioms in `FILE` about functions of DECLARE_UF_UNARY and its relatives, in the "+
			"Boogie language; may be repeated")
	fs.BoolVar(&opt.OnlyIntraBlock, "only-intra-block", false,
		"ignore races between threads of different blocks")
	fs.BoolVar(&opt.Bounds, "bounds", false,
		"also prove that accesses stay in buffers of known size, such as --arg in=zero:4096, and accept "+
			"no access that is only assumed to stay in its array")
	fs.Var(newParsed(&opt.Abstraction, prove.ParseAbstraction, "equality", "adversarial"),
		"abstraction", "model loads from arrays that the kernel writes by `WHICH` of equality (one "+
			"value per address and barrier interval) or adversarial (any value)")
}

// Largest numbers of flags. Each is far above any use; a larger one is a slip of the user, and
// would cost memory before it had an effect.
const (
	mostJobs   = 1024
	mostSeeds  = 1_000_000
	mostUnwind = 10_000
)

// checkNumbers rejects numbers outside the range of their flags. The seeds of a run are consecutive
// and must not wrap: two runs with one seed would count as two schedules.
func checkNumbers(opt *check.Options) error {
	for _, n := range []struct {
		flag               string
		value, least, most int
	}{
		{"--seeds", opt.Run.Seeds, 0, mostSeeds},
		{"--limit", opt.Limit, 1, math.MaxInt},
		{"--unwind", opt.Prove.Unwind, 0, mostUnwind},
		{"--jobs", opt.Workers, 0, mostJobs},
	} {
		switch {
		case n.value < n.least && n.most == math.MaxInt:
			return fmt.Errorf("%s %d: must be at least %d", n.flag, n.value, n.least)
		case n.value < n.least, n.value > n.most:
			return fmt.Errorf("%s %d: must be from %d to %d", n.flag, n.value, n.least, n.most)
		}
	}
	seed, seeds := opt.Run.Seed, opt.Run.Seeds
	switch {
	case opt.Prove.Timeout < 0:
		return fmt.Errorf("--timeout %v: must be above 0", opt.Prove.Timeout)
	case seeds > 0 && seed+uint64(seeds-1) < seed:
		return fmt.Errorf("--seed %d with --seeds %d: the last seed does not fit in 64 bits", seed, seeds)
	}
	return nil
}

// choice is a flag value that must be one of a few words. The first word is the default. An empty
// first word is a default that the user cannot type, for flags where "not given" has its own
// meaning.
type choice struct {
	value *string
	words []string
}

// newChoice sets value to its default and returns the flag for it.
func newChoice(value *string, words ...string) *choice {
	*value = words[0]
	return &choice{value, words}
}

// String and Type implement pflag.Value. pflag prints what String returns at definition as the
// default.
func (c *choice) String() string { return *c.value }
func (c *choice) Type() string   { return "word" }

// Set rejects any other word with the list of the accepted ones.
func (c *choice) Set(s string) error {
	if s == "" || !slices.Contains(c.words, s) {
		return fmt.Errorf("expected one of %s", strings.TrimPrefix(strings.Join(c.words, ", "), ", "))
	}
	*c.value = s
	return nil
}

// parsed is a choice whose word is converted at once, so that the rest of the program sees a type
// with a closed set of values instead of a string.
type parsed[T any] struct {
	choice
	target *T
	parse  func(string) (T, error)
}

// newParsed is newChoice for a type with a parser for the words. The first word must be the one
// that the zero value of T stands for, because target keeps its value until the flag is set.
func newParsed[T any](target *T, parse func(string) (T, error), words ...string) *parsed[T] {
	return &parsed[T]{choice: *newChoice(new(string), words...), target: target, parse: parse}
}

// Set accepts the words of the choice. The parser knows all of them, so its error would be a
// mistake in heddle; it is returned and not ignored all the same.
func (p *parsed[T]) Set(s string) error {
	if err := p.choice.Set(s); err != nil {
		return err
	}
	v, err := p.parse(s)
	*p.target = v
	return err
}

// dimFlag is a size or index of up to three dimensions: X[,Y[,Z]]. Missing ones are 1. The pointer
// stays nil without the flag, which tells an unspecified size from one of 1.
type dimFlag struct {
	value **event.Dim3
	free  *[3]bool // dimensions that are arbitrary; nil: none may be
	auto  *bool    // set by the word auto; nil: it is not accepted
}

// Type and String implement pflag.Value. pflag also calls String on a zero dimFlag, so both
// pointers may be nil.
func (d *dimFlag) Type() string { return "dim" }

func (d *dimFlag) String() string {
	if d.value == nil || *d.value == nil {
		return ""
	}
	return launch.Dims(**d.value)
}

// Set reads a size. A dimension given as * is marked in free and has the value 1 in the launch
// itself: a size that every device supports, for the runs that need a number.
func (d *dimFlag) Set(s string) error {
	if d.free != nil {
		*d.free = [3]bool{}
		parts := strings.Split(s, ",")
		for i, p := range parts {
			if strings.TrimSpace(p) == "*" && i < 3 {
				d.free[i], parts[i] = true, "1"
			}
		}
		s = strings.Join(parts, ",")
	}
	if d.auto != nil {
		if *d.auto = s == "auto"; *d.auto {
			*d.value = nil
			return nil
		}
	}
	v, err := launch.ParseDim(s)
	if err != nil && s == "auto" {
		err = fmt.Errorf("%w; only heddle explore chooses a size", err)
	}
	*d.value = &v
	return err
}

// assumeFlag collects the expressions of --assume. The flag may be repeated; a proof uses the
// conjunction.
type assumeFlag struct{ value *[]*assume.Expr }

// Type and String implement pflag.Value; the text is that of the user.
func (f *assumeFlag) Type() string { return "expr" }

func (f *assumeFlag) String() string {
	if f.value == nil {
		return ""
	}
	var words []string
	for _, e := range *f.value {
		words = append(words, e.Text)
	}
	return strings.Join(words, ", ")
}

// Set parses the expression at once, so that a syntax error is a usage error. Names are resolved
// later, for each kernel, whose parameters they refer to.
func (f *assumeFlag) Set(s string) error {
	e, err := assume.Parse(s)
	*f.value = append(*f.value, e)
	return err
}

// mostAxioms bounds the bytes of a file of --axioms.
const mostAxioms = 1 << 20

// axiomFlag collects the files of --axioms. The flag may be repeated.
type axiomFlag struct{ value *[]*axiom.File }

// Type and String implement pflag.Value; the text is the names of the files.
func (f *axiomFlag) Type() string { return "file" }

func (f *axiomFlag) String() string {
	if f.value == nil {
		return ""
	}
	var names []string
	for _, a := range *f.value {
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}

// Set reads the file at once, so that a mistake in it is a usage error.
func (f *axiomFlag) Set(name string) error {
	text, err := source.ReadRegular(name, mostAxioms)
	if err != nil {
		return err
	}
	a, err := axiom.Parse(name, string(text))
	if err == nil {
		*f.value = append(*f.value, a)
	}
	return err
}

// sharedFlag is the size of dynamic shared memory in bytes; nil means unspecified, as for dimFlag.
type sharedFlag struct{ value **uint32 }

// Type and String implement pflag.Value.
func (f *sharedFlag) Type() string { return "bytes" }

func (f *sharedFlag) String() string {
	if f.value == nil || *f.value == nil {
		return ""
	}
	return fmt.Sprint(**f.value)
}

// Set reads a number of bytes with an optional unit, such as 48K.
func (f *sharedFlag) Set(s string) error {
	v, err := launch.ParseShared(s)
	*f.value = &v
	return err
}

// savedFlag is the file of a saved launch, which also selects its kernel.
type savedFlag struct {
	value  **launch.Saved
	kernel *string
}

// Type and String implement pflag.Value.
func (f *savedFlag) Type() string { return "file" }

func (f *savedFlag) String() string {
	if f.value == nil || *f.value == nil {
		return ""
	}
	return (*f.value).Path
}

// Set reads the file.
func (f *savedFlag) Set(s string) error {
	v, err := launch.Load(s)
	if err != nil {
		return err
	}
	*f.value = v
	if *f.kernel == "" {
		*f.kernel = v.Kernel
	}
	return nil
}

// bytesFlag is a number of bytes, at least 1 MiB; 0 means unspecified.
type bytesFlag struct{ value *uint64 }

// Type and String implement pflag.Value.
func (f *bytesFlag) Type() string { return "bytes" }

func (f *bytesFlag) String() string {
	if f.value == nil || *f.value == 0 {
		return ""
	}
	return fmt.Sprint(*f.value)
}

// Set reads a number of bytes with an optional unit.
func (f *bytesFlag) Set(s string) error {
	n, err := launch.ParseSize(s)
	if err == nil && n < 1<<20 {
		err = fmt.Errorf("%q is less than 1M", s)
	}
	*f.value = n
	return err
}

// limitMemory makes the garbage collector keep the process within a quarter more than what a run
// may take. Otherwise the heap could grow to twice that before memory of earlier runs is freed. The
// environment variable GOMEMLIMIT takes precedence.
func limitMemory(opt *check.Options) {
	if os.Getenv("GOMEMLIMIT") == "" {
		n := cmp.Or(opt.Memory, dynamic.DefaultMemory)
		debug.SetMemoryLimit(int64(min(n+n/4, math.MaxInt64)))
	}
}

// boxFlag collects the boxes of tensor maps.
type boxFlag struct{ value *[]launch.Box }

// boxesFlag defines the flag for the boxes of tensor maps.
func boxesFlag(fs *pflag.FlagSet, to *[]launch.Box) {
	fs.Var(&boxFlag{to}, "tmap", "the boxes of a tensor map, `NAME=BYTES` or NAME=box:64x128,elem:2 with "+
		"the parameter that holds it (NAME+OFFSET in a struct); else a trace concludes it from the bytes "+
		"that phases expect; may be repeated")
}

// proxyFlags defines the flags for accesses through the generic and the async proxy.
func proxyFlags(fs *pflag.FlagSet, opt *driver.Options) {
	choice := func(to *bool, on, off, name, text string) {
		parse := func(s string) (bool, error) { return s == on, nil }
		fs.Var(newParsed(to, parse, off, on), name, text)
	}
	choice(&opt.FenceOfWriter, "writer", "any", "proxy-fence",
		"accept a proxy fence by `WHOM` any thread of the block on the way, or only by the writer, the "+
			"thread of the access")
	choice(&opt.IgnoreProxyReads, "ignore", "error", "proxy-war",
		"take a generic read that an asynchronous write overwrites without a proxy fence as `WHAT` error "+
			"or ignore; the verdict then names it as an assumption")
	choice(&opt.StrictScopes, "strict", "lenient", "mbar-scope",
		"take an operation on an mbarrier without a written scope at that of the cluster "+
			"(`HOW` lenient), or of the block, as the PTX ISA says (strict)")
}

// Type and String implement pflag.Value.
func (f *boxFlag) Type() string { return "tmap" }

func (f *boxFlag) String() string {
	if f.value == nil {
		return ""
	}
	return strings.Join(f.values(), " ")
}

// values implements repeated.
func (f *boxFlag) values() []string {
	words := make([]string, len(*f.value))
	for i, b := range *f.value {
		words[i] = b.String()
	}
	return words
}

// Set implements pflag.Value.
func (f *boxFlag) Set(s string) error {
	b, err := launch.ParseBox(s)
	if err != nil {
		return err
	}
	*f.value = append(*f.value, b)
	return nil
}

// argFlag collects kernel arguments. The flag may be repeated.
type argFlag struct{ value *[]launch.ArgSpec }

// Type and String implement pflag.Value.
func (f *argFlag) Type() string { return "arg" }

func (f *argFlag) String() string {
	if f.value == nil {
		return ""
	}
	return strings.Join(f.values(), " ")
}

// values implements repeated.
func (f *argFlag) values() []string {
	words := make([]string, len(*f.value))
	for i, a := range *f.value {
		words[i] = a.String()
	}
	return words
}

// repeated is a flag that may be given several times; values are its texts.
type repeated interface{ values() []string }

// Set checks the form NAME=VALUE only. Whether a kernel has the parameter, and of which type it is,
// is known when the kernel is loaded.
func (f *argFlag) Set(s string) error {
	a, err := launch.ParseArg(s)
	*f.value = append(*f.value, a)
	return err
}

// extraFlag collects options of the compiler. Those that define macros or name headers have flags
// of heddle: the reader of host code must know them as well.
type extraFlag struct{ list *[]string }

// Set implements pflag.Value.
func (f *extraFlag) Set(arg string) error {
	for _, own := range []string{"-D", "-U", "-I", "-isystem"} {
		if strings.HasPrefix(arg, own) {
			return fmt.Errorf("use heddle's own flag for %s", own)
		}
	}
	for _, hidden := range []string{"-include", "-imacros", "-Xclang", "-Xpreprocessor", "-Wp,", "@"} {
		if strings.HasPrefix(arg, hidden) {
			return fmt.Errorf("%s may define macros, which heddle would not see in host code", hidden)
		}
	}
	*f.list = append(*f.list, arg)
	return nil
}

func (f *extraFlag) String() string { return "" }

// values implements repeated.
func (f *extraFlag) values() []string { return *f.list }

// Type implements pflag.Value.
func (f *extraFlag) Type() string { return "stringArray" }
