package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/source"
)

// The suite "dir" is any directory of programs: each source file is examined as heddle check does
// without a launch, and each "bug" is compared with a table of judgements. The table is ours; it
// says of a kernel whether it is right as its program uses it. What counts is how many bugs are
// wrong, and that no kernel is left without a verdict.

// judged is one line of a table: FILE KERNEL VERDICT REASON, where FILE is relative to the
// directory, KERNEL a name without parameters or "*", and VERDICT "right" for a kernel that is
// right in use, or "bug" for one that is not.
type judged struct {
	file, kernel, verdict, reason string
}

// readTable reads a table of judgements. Empty lines and lines that begin with # do not count.
func readTable(name string) ([]judged, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []judged
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		part := strings.SplitN(text, " ", 4)
		if len(part) < 4 || part[2] != "right" && part[2] != "bug" {
			return nil, fmt.Errorf("%s:%d: expected FILE KERNEL right|bug REASON", name, n)
		}
		out = append(out, judged{part[0], part[1], part[2], part[3]})
	}
	return out, lines.Err()
}

// find returns the judgement of a kernel; nil if the table has none. One of a template is about all
// its instances.
func find(table []judged, file, kernel string) *judged {
	kernel, _, _ = strings.Cut(strings.TrimPrefix(kernel, "void "), "(")
	template, _, _ := strings.Cut(kernel, "<")
	for i := range table {
		j := &table[i]
		if j.file == file && (j.kernel == "*" || j.kernel == kernel || j.kernel == template) {
			return j
		}
	}
	return nil
}

// directory is the suite of the source files below a directory.
type directory struct{}

// Cases lists the files: .cu and .cl, sorted by path.
func (directory) Cases(dir string) ([]Case, error) {
	var out []Case
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if ext := filepath.Ext(path); ext == ".cu" || ext == ".cl" {
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			out = append(out, Case{Name: name, File: path, Jobs: []Job{{File: path}}})
		}
		return nil
	})
	return out, err
}

// plain is heddle check without any flag but those of the compiler.
type plain struct{}

// Check examines all kernels of a file.
func (plain) Check(ctx context.Context, job *Job) *Result {
	res := new(Result)
	opt := job.lower()
	sum, err := check.Files(ctx, check.Options{
		Options: driver.Options{Workers: 1, Lower: opt, Files: source.NewSet()},
	}, []string{job.File}, func(d diag.Diagnostic) {
		if d.Severity == diag.Error {
			res.add(&d, &Exclusion{})
		}
		if n := len(res.Findings); n > 0 && res.Findings[n-1].Kernel == "" {
			res.Findings[n-1].Kernel = d.Kernel
		}
	})
	if err != nil {
		res.Error = err.Error()
		return res
	}
	res.addVerdicts(sum.Verdicts)
	res.Stage = Ended
	return res
}

// reportDir prints the verdicts by kind, each bug with its judgement, and what it cost. It returns 1
// if a bug is wrong or not judged, or if a file has no verdict for lack of a result.
func (c *choices) reportDir(w io.Writer, list []Outcome, table []judged) int {
	count := map[string]int{}
	var bugs, failed []string
	wrong, open := 0, 0
	var cpu []float64
	for i := range list {
		o := &list[i]
		if o.Result == nil || o.Result.Error == interrupted {
			count["not run"]++
			continue
		}
		cpu = append(cpu, o.Result.CPU)
		if o.Result.Stage < Ended {
			failed = append(failed, o.Case.Name+": "+o.Result.Error)
		} else if len(o.Result.Verdicts) == 0 && o.Result.Error != "" {
			count["refused"]++
			failed = append(failed, o.Case.Name+": "+o.Result.Error)
		}
		for _, v := range o.Result.Verdicts {
			count[v.Kind]++
			if c.all {
				fmt.Fprintf(w, "%s: %s: %s: %s\n", v.Kind, o.Case.Name, v.Kernel, v.Reason)
			}
			if v.Kind != "bug" {
				continue
			}
			j := find(table, o.Case.Name, v.Kernel)
			text := "NOT JUDGED"
			switch {
			case j == nil:
				open++
			case j.verdict == "right":
				wrong++
				text = "FALSE ALARM: " + j.reason
			default:
				text = "a bug: " + j.reason
			}
			bugs = append(bugs, fmt.Sprintf("%s %s: %s\n\t%s", o.Case.Name, v.Kernel, text,
				o.Result.firstFinding(v.Kernel)))
		}
	}
	for _, b := range bugs {
		fmt.Fprintln(w, b)
	}
	for _, f := range failed {
		fmt.Fprintln(w, "no verdict:", f)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, k := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(t, "%s\t%d\n", k, count[k])
	}
	fmt.Fprintf(t, "bugs that are false alarms\t%d\nbugs that nobody judged\t%d\n", wrong, open)
	slices.Sort(cpu)
	if n := len(cpu); n > 0 {
		fmt.Fprintf(t, "CPU seconds of a file\tmedian %.2f, 95th %.2f, worst %.2f\n", cpu[n/2],
			cpu[n*95/100], cpu[n-1])
	}
	t.Flush()
	if wrong+open+len(failed) > 0 {
		return 1
	}
	return 0
}

// firstFinding is the first finding of a kernel in one line.
func (r *Result) firstFinding(kernel string) string {
	for _, f := range r.Findings {
		if f.Kernel == kernel {
			return f.text()
		}
	}
	return ""
}
