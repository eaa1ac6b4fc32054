package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"heddle/internal/lazyregexp"
	"heddle/internal/lower"
)

// The engine "compile" only compiles: it answers how much of a collection of programs heddle can
// read at all. Each kernel is compiled or refused, and the refusals are counted by cause. The
// compiler's flags are those of the program's own Makefile, as far as they are literal.

// The kinds of a kernel for the engine "compile".
const (
	compiled = "compiled"
	refused  = "refused"
)

// compileOnly is lowering alone, with neither emulation nor proof.
type compileOnly struct{}

// Check compiles a file. Its result has a verdict for each kernel, or the compiler's error.
func (compileOnly) Check(ctx context.Context, job *Job) *Result {
	res := new(Result)
	opt := archOf(job.lower())
	opt = opt.With(buildFlags(job.File))
	low, err := lower.File(ctx, job.File, opt)
	if err != nil {
		res.Error = compileCause(err)
		return res
	}
	res.Stage = Lowered
	for _, k := range low.Kernels {
		res.Verdicts = append(res.Verdicts, Verdict{Kernel: k.Demangled, Kind: compiled})
	}
	for _, o := range low.Omitted {
		res.Verdicts = append(res.Verdicts, Verdict{o.Demangled, refused, reasonCause(o.Reason)})
	}
	return res
}

// archOf moves -arch from the arguments to its option.
func archOf(opt lower.Options) lower.Options {
	opt.Args = slices.DeleteFunc(slices.Clone(opt.Args), func(a string) bool {
		arch, ok := strings.CutPrefix(a, "-arch=")
		if ok {
			opt.Arch = arch
		}
		return ok
	})
	return opt
}

// compileCause returns the first error of a file that does not compile, with its names: which
// header or function is missing is the cause.
func compileCause(err error) string {
	var ce *lower.CompileError
	if errors.As(err, &ce) {
		return firstError(err)
	}
	var ie *lower.InputError
	if errors.As(err, &ie) {
		return ie.Reason
	}
	return err.Error()
}

// errorPlaceRE matches the position before clang's error in the reason for a refused kernel.
var errorPlaceRE = lazyregexp.New(`\S+:\d+:\d+: `)

// reasonCause returns why a kernel is refused without the names of functions and files.
func reasonCause(reason string) string {
	if m := errorPlaceRE.FindStringIndex(reason); m != nil {
		reason = reason[m[1]:]
	}
	return clip(reason, 160)
}

// includedRE matches an #include of a source file.
var includedRE = lazyregexp.New(`(?m)^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+\.cu)[">]`)

// parts returns the files that other files of the same program include: parts of these, which need
// not compile alone. A program is a directory of the suite with all that is below it. Of a name
// that is not found beside the file, for which the program has an include directory, the end
// counts.
func parts(list []Outcome) map[string]bool {
	program := func(name string) string { first, _, _ := strings.Cut(name, "/"); return first }
	ends := map[string][]string{} // by program
	out := map[string]bool{}
	for i := range list {
		k := list[i].Case
		p := program(k.Name)
		if _, done := ends[p]; done {
			continue
		}
		ends[p] = nil
		root := filepath.Join(strings.TrimSuffix(k.File, filepath.FromSlash(k.Name)), p)
		eachInclude(root, func(dir, name string) {
			file := filepath.Join(dir, name)
			if _, err := os.Stat(file); err == nil {
				out[file] = true
				return
			}
			ends[p] = append(ends[p], "/"+strings.TrimLeft(name, "./"))
		})
	}
	for i := range list {
		k := list[i].Case
		if slices.ContainsFunc(ends[program(k.Name)], func(end string) bool {
			return strings.HasSuffix(k.File, end)
		}) {
			out[k.File] = true
		}
	}
	return out
}

// eachInclude calls visit for each #include of a .cu file in the sources below root, with the
// directory of the file that has it.
func eachInclude(root string, visit func(dir, name string)) {
	filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // what cannot be read has no includes
		}
		switch filepath.Ext(path) {
		case ".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hh", ".hpp":
		default:
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		for _, m := range includedRE.FindAllSubmatch(text, -1) {
			visit(filepath.Dir(path), string(m[1]))
		}
		return nil
	})
}

// globalRE matches the word that makes a function a kernel.
var globalRE = lazyregexp.New(`\b__global__\b`)

// kernelFile reports whether a file defines kernels, by its text or by what was compiled.
func (o *Outcome) kernelFile() bool {
	if len(o.Result.Verdicts) > 0 {
		return true
	}
	text, err := os.ReadFile(o.Case.File)
	return err == nil && globalRE.Match(text)
}

// rate counts what compiled.
type rate struct{ all, full, part, kernels, omitted int }

// reportCompiled prints the rates and the causes, most frequent first. It returns 1 if a file with
// kernels does not compile completely.
func (c *choices) reportCompiled(w io.Writer, list []Outcome) int {
	var r rate
	causes := map[string][]string{} // files by cause
	part, others, broken, skipped := parts(list), 0, 0, 0
	for i := range list {
		o := &list[i]
		if o.Result == nil || o.Result.Error == interrupted {
			continue
		}
		if part[o.Case.File] {
			skipped++
			continue
		}
		if !o.kernelFile() {
			if o.Result.Error == "" {
				others++
				continue
			}
			if broken++; c.all {
				fmt.Fprintf(w, "no kernel: %s: %s\n", o.Case.Name, o.Result.Error)
			}
			continue
		}
		r.add(o.Result)
		for _, cause := range refusals(o.Result) {
			causes[cause] = append(causes[cause], o.Case.Name)
			if c.all {
				fmt.Fprintf(w, "%s: %s\n", o.Case.Name, cause)
			}
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "files with kernels\t%d\n", r.all)
	fmt.Fprintf(t, "all kernels compiled\t%d\t%s\n", r.full, percent(r.full, r.all))
	fmt.Fprintf(t, "some kernels refused\t%d\t%s\n", r.part, percent(r.part, r.all))
	fmt.Fprintf(t, "file refused\t%d\t%s\n", r.all-r.full-r.part,
		percent(r.all-r.full-r.part, r.all))
	fmt.Fprintf(t, "kernels compiled\t%d\t%s\n", r.kernels, percent(r.kernels, r.kernels+r.omitted))
	fmt.Fprintf(t, "kernels refused in files that compile\t%d\n", r.omitted)
	fmt.Fprintf(t, "files without kernels\t%d\n", others)
	// Their kernels, if they have any, are in headers: the rate that counts them as refused files is a
	// lower bound.
	fmt.Fprintf(t, "files refused, without kernels in their text\t%d\t%s with them\n", broken,
		percent(r.full, r.all+broken))
	fmt.Fprintf(t, "parts of other files\t%d\n", skipped)
	t.Flush()
	fmt.Fprintln(w, "\nfiles by cause:")
	order := slices.SortedFunc(maps.Keys(causes), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(causes[b]), len(causes[a])), cmp.Compare(a, b))
	})
	for _, cause := range order {
		fmt.Fprintf(w, "%4d  %s (%s)\n", len(causes[cause]), cause, causes[cause][0])
	}
	if r.full < r.all {
		return 1
	}
	return 0
}

// add counts a file.
func (r *rate) add(res *Result) {
	r.all++
	n := 0
	for _, v := range res.Verdicts {
		if v.Kind == compiled {
			n++
		}
	}
	omitted := len(res.Verdicts) - n
	r.kernels, r.omitted = r.kernels+n, r.omitted+omitted
	switch {
	case res.Stage < Lowered || n == 0 && omitted > 0:
	case omitted > 0:
		r.part++
	default:
		r.full++
	}
}

// refusals returns the causes of a file, each once.
func refusals(res *Result) []string {
	if res.Stage < Lowered {
		return []string{res.Error}
	}
	var out []string
	for _, v := range res.Verdicts {
		if v.Kind == refused && !slices.Contains(out, v.Reason) {
			out = append(out, v.Reason)
		}
	}
	return out
}

// percent returns a share as text.
func percent(n, of int) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(of))
}
