package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/event"
	"heddle/internal/lazyregexp"
)

// gpuverify is the test suite of GPUVerify: a directory for each kernel with a file kernel.cu or
// kernel.cl. Its first line is "//pass" or "//xfail:CODE", and its second line has the flags of the
// tool.
type gpuverify struct{}

// Cases returns a case for each kernel file below a directory.
func (gpuverify) Cases(dir string) ([]Case, error) {
	var out []Case
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() != "kernel.cu" && e.Name() != "kernel.cl" {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		c, err := readCase(filepath.ToSlash(name), path, string(src))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, c)
		return nil
	})
	return out, err
}

// verifyFlags holds the flags of line 2 that affect the property to be shown.
type verifyFlags struct {
	grid, block event.Dim3
	global      event.Dim3 // --global_size; zero if absent
	defines     []string
	warp        int // --warp-sync
	intraGroup  bool
	noBenign    bool
	values      []string // --kernel-args: hexadecimal values of the non-pointer parameters
	axioms      string   // --boogie-file
	exclude     Exclusion
	options     []string // macros that select what heddle's headers declare
	undefs      []string
}

// readCase reads the header and the flags of one kernel file. name is its directory below the
// suite, in slashes. Flags that cannot be read are an error, except for a kernel that the tool is
// expected to reject: the bad flag may be the reason.
func readCase(name, path, src string) (Case, error) {
	lines := strings.SplitN(src, "\n", 3)
	// Every kernel of the suite has both lines, so their absence means a wrong directory.
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "//") || !strings.HasPrefix(lines[1], "//") {
		return Case{}, fmt.Errorf("the two header lines are missing")
	}
	c := Case{Name: name, File: path, Except: reasonFor(exceptions, path),
		Proved: reasonFor(provedAllTheSame, path), Accepted: reasonFor(acceptedAllTheSame, path)}
	switch word := strings.ToLower(strings.TrimSpace(lines[0][2:])); {
	case word == "pass":
		c.Expect = Pass
	case word == "xfail:not_all_verified":
		c.Expect = Fail
	case strings.HasPrefix(word, "xfail:"):
		c.Expect = Rejected
	default:
		return c, fmt.Errorf("line 1 is %q; expected pass or xfail", word)
	}
	f, err := parseFlags(lines[1][2:])
	if err != nil && c.Expect != Rejected {
		return c, err
	}
	c.Jobs = f.jobs(path, src)
	c.Proof = f.proof(path, src)
	if c.Expect == Fail {
		c.Cause = causeOf(lines[2])
	}
	return c, nil
}

// causes lists words in the head comments of a kernel that name its failure, the most specific
// first.
var causes = []struct {
	name string
	rx   *regexp.Regexp
}{
	{"race", regexp.MustCompile(`(?i)\brac(e|es|y|ing)\b|write by thread|read by thread|atomic by thread`)},
	{"divergence", regexp.MustCompile(`(?i)diverge|non-uniform|not reached by all`)},
	{"annotation", regexp.MustCompile(`(?i)invariant|assert|precondition|postcondition|requires`)},
	{"memory", regexp.MustCompile(`(?i)null|bounds|constant memory|align`)},
}

// causeOf returns the cause that the comments before the first line of code name. It only groups
// expected failures in the summary, so a wrong guess does no harm.
func causeOf(text string) string {
	var head strings.Builder
	for line := range strings.Lines(text) {
		if s := strings.TrimSpace(line); s != "" && !strings.HasPrefix(s, "//") &&
			!strings.HasPrefix(s, "#") {
			break
		}
		head.WriteString(line)
	}
	for _, c := range causes {
		if c.rx.MatchString(head.String()) {
			return c.name
		}
	}
	return "unspecified"
}

// quotedRE matches a quoted value of a flag, whose quotes are dropped.
var quotedRE = lazyregexp.New(`"([^"]*)"`)

// parseFlags parses the flags of the second line. Flags that do not affect the property, such as
// those about solvers and output, are ignored.
func parseFlags(line string) (*verifyFlags, error) {
	f := &verifyFlags{grid: event.Dim3{X: 1, Y: 1, Z: 1}, block: event.Dim3{X: 1, Y: 1, Z: 1}}
	var groups bool
	for word := range strings.FieldsSeq(quotedRE.ReplaceAllString(line, "$1")) {
		flag, value, _ := strings.Cut(word, "=")
		var err error
		switch flag {
		case "--blockDim", "--local_size":
			f.block, err = parseDims(value)
			if flag == "--local_size" { // the launch has as many dimensions as the flag has numbers
				f.options = append(f.options, fmt.Sprintf("__HEDDLE_WORK_DIM=%d",
					1+strings.Count(value, ",")))
			}
		case "--gridDim", "--num_groups":
			f.grid, err = parseDims(value)
			groups = true
		case "--global_size":
			f.global, err = parseDims(value)
		case "--warp-sync":
			f.warp, err = strconv.Atoi(value)
		case "--only-intra-group":
			f.intraGroup = true
		case "--no-benign-tolerance":
			f.noBenign = true
		case "--kernel-args":
			f.values = strings.Split(value, ",")[1:]
		case "--boogie-file":
			f.axioms = value
		case "--only-divergence", "--only-log":
			f.exclude.Races = true
		case "--vcgen-opt":
			if arrays, ok := strings.CutPrefix(value, "/checkArrays:"); ok {
				f.exclude.Arrays = strings.Split(arrays, ",")
			}
		case "--only-requires":
			f.options = append(f.options, "__HEDDLE_ONLY_REQUIRES")
		case "--invariants-as-candidates":
			f.options = append(f.options, "__HEDDLE_CANDIDATES")
		case "--global_offset":
			parts := append(strings.Split(strings.Trim(value, "[]"), ","), "0", "0")
			f.options = append(f.options, "__HEDDLE_GLOBAL_OFFSET="+strings.Join(parts[:3], ","))
		case "--no-annotations":
			f.undefs = append(f.undefs, "__HEDDLE__") // as for any other compiler
		default:
			if d, ok := strings.CutPrefix(word, "-D"); ok {
				f.defines = append(f.defines, d)
			}
		}
		if err != nil {
			return f, fmt.Errorf("%s: %w", word, err)
		}
	}
	// OpenCL gives the global size in work-items instead of the number of groups.
	if !groups && f.global.X > 0 {
		f.grid = event.Dim3{X: max(f.global.X/f.block.X, 1), Y: max(f.global.Y/f.block.Y, 1),
			Z: max(f.global.Z/f.block.Z, 1)}
	}
	return f, nil
}

// maxSteps is the limit of warp instructions for a run. The kernels of the suite are small.
const maxSteps = 30_000_000

// base returns the common part of all jobs of a case. GPUVerify tolerates writes of equal values
// unless told otherwise, so runs do too. Headers of the suite's compiler are replaced by heddle's
// own.
func (f *verifyFlags) base(path, src string) Job {
	j := Job{File: path, Forced: preludes(src), Undefs: f.undefs, Exclude: f.exclude,
		Defines: slices.Concat(f.options, f.defines), Warp: event.Independent,
		Benign: event.BenignAll, MaxSteps: maxSteps,
		Seeds: 1, DeviceOnly: filepath.Ext(path) == ".cu"}
	// Warps have 32 lanes. A smaller warp size is supported only if a block fits one warp.
	if f.warp >= 32 || f.warp > 0 && f.block.Count() <= uint64(f.warp) {
		j.Warp = event.Lockstep
	}
	if f.noBenign {
		j.Benign = event.BenignNone
	}
	return j
}

// maxBlock is the maximum number of threads of a block (CUDA C++ Programming Guide, "Compute
// Capabilities").
const maxBlock = 1024

// proof returns the job of a proof: the launch of the header if it is valid, with only the
// arguments of the header fixed.
func (f *verifyFlags) proof(path, src string) *Job {
	j := f.base(path, src)
	j.Axioms = strings.ReplaceAll(f.axioms, "${KERNEL_DIR}", filepath.Dir(path))
	j.Grid, j.Block, j.OnlyIntraBlock = f.grid, scaleDown(f.block, maxBlock), f.intraGroup
	if j.Block != f.block {
		j.Note = fmt.Sprintf("scaled from blocks of %v", f.block)
	}
	// Values without names can be assigned only if there is one kernel.
	if kernels := kernelsOf(src); f.values != nil && len(kernels) == 1 {
		j.Args = kernels[0].given(f.values)
	}
	return &j
}

// jobs returns the runs to try: first with a smaller launch, then with that of the header unless it
// is too large to execute (2^20 threads), each with several choices of arguments that satisfy the
// preconditions. With --only-intra-group one block suffices, since races between blocks do not
// count.
func (f *verifyFlags) jobs(path, src string) []Job {
	base := f.base(path, src)
	grid, block := f.grid, f.block
	if f.intraGroup {
		grid = event.Dim3{X: 1, Y: 1, Z: 1}
	}
	small := base
	small.Grid, small.Block = scaleDown(grid, maxBlocks), scaleDown(block, maxThreads)
	if small.Grid != grid || small.Block != block {
		small.Note = fmt.Sprintf("scaled from %v blocks of %v", grid, block)
	}
	out := f.withArguments(small, src)
	if small.Note != "" && grid.Count()*block.Count() <= 1<<20 && block.Count() <= 1024 {
		base.Grid, base.Block = grid, block
		out = append(out, f.withArguments(base, src)...)
	}
	return out
}

// preludes returns headers with declarations that are in the suite's cuda.h or known to its
// compiler, and in separate headers here.
func preludes(src string) []string {
	var out []string
	if annotated(src) {
		out = append(out, "heddle.h")
	}
	if strings.Contains(src, "curand") {
		out = append(out, "curand_kernel.h")
	}
	if strings.Contains(src, "cooperative_groups") {
		out = append(out, "cooperative_groups.h")
	}
	return out
}

// declaredRE matches a name that heddle.h may declare: annotations have reserved ones.
var declaredRE = lazyregexp.New(`\b(__\w+|assert|bool|true|false|DECLARE_UF\w*)`)

// annotated reports whether a source may need heddle.h.
func annotated(src string) bool {
	for _, name := range declaredRE.FindAllString(src, -1) {
		switch strings.TrimRight(name, "_") {
		case "__kernel", "__global", "__local", "__constant", "__private", "__attribute", "__shared",
			"__device", "__host", "__forceinline", "__noinline", "__restrict", "__syncthreads",
			"__read_only", "__write_only":
		default:
			return true
		}
	}
	return false
}

// withArguments returns a job for each choice of arguments. In a file with several kernels, a
// choice has values for one kernel only, so such files run with heddle's defaults.
func (f *verifyFlags) withArguments(j Job, src string) []Job {
	defines := map[string]int64{}
	for _, d := range slices.Concat(j.Defines, sourceDefines(src)) {
		name, value, _ := strings.Cut(d, "=")
		if v, err := strconv.ParseInt(value, 0, 64); err == nil {
			defines[name] = v
		}
	}
	// Arguments are given by name, and the names of several kernels may clash.
	kernels := kernelsOf(src)
	if len(kernels) != 1 {
		return []Job{j}
	}
	k := &kernels[0]
	if f.values != nil {
		j.Args = k.given(f.values)
		return []Job{j}
	}
	var out []Job
	all := k.choices(j.Grid, j.Block, defines)
	for _, args := range slices.Concat(all, k.variants(all[0])) {
		j.Args = args
		out = append(out, j)
	}
	return out
}

// defineRE matches the definition of a macro as one word, perhaps in parentheses.
var defineRE = lazyregexp.New(`(?m)^\s*#\s*define\s+(\w+)\s+\(?(\w+)\)?\s*$`)

// sourceDefines returns the integer macros of a source as NAME=VALUE, for the evaluation of
// preconditions.
func sourceDefines(src string) []string {
	var out []string
	for _, m := range defineRE.FindAllStringSubmatch(src, -1) {
		out = append(out, m[1]+"="+m[2])
	}
	return out
}
