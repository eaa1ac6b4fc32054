package exhaustive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/event"
	"heddle/internal/explore"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/memmodel"
	"heddle/internal/testing/cputime"
	"heddle/internal/testing/long"
)

// row is a kernel and a launch of it, with what all executions must show. The expectation follows
// from the text of the kernel, which says why.
type row struct {
	file, kernel string // of the repository; the only kernel if empty
	grid, block  uint32 // threads in one dimension
	args         string // separated by spaces
	bug          bool
	shows        string // a bug: a regular expression for its execution, in which a load is stale
	long         bool   // examined if HEDDLE_LONG is set
}

// examples are kernels of examples and of testdata/suite that have locks, flags, hash tables, grid
// barriers or a last block. A small launch must still show what the kernel is about: the keys of
// the hash table share a bucket, and all threads of the histogram count in one bin.
var examples = []row{
	{file: "examples/hashtable.cu", grid: 2, block: 1, args: "keys=ints:0,8"},
	{file: "examples/hashtable.cu", grid: 2, block: 2, args: "keys=ints:0,8,16,24", long: true},
	{file: "examples/hashtable_racy.cu", grid: 2, block: 2, args: "keys=ints:0,8,16,24", bug: true,
		shows: `reads table\[8\] = 0 \(initial value\)`},
	{file: "examples/hashtable_racy_unlock.cu", grid: 2, block: 2, args: "keys=ints:0,8,16,24",
		bug: true, shows: `reads table\[0\] = 1 from block`},
	{file: "examples/histogram.cu", grid: 2, block: 2, args: "n=4"},
	{file: "examples/histogram.cu", grid: 2, block: 2, args: "n=2048", long: true},
	{file: "examples/histogram_racy.cu", grid: 2, block: 2, args: "n=4", bug: true},
	{file: "examples/histogram_racy_clear.cu", grid: 2, block: 2, args: "n=4", bug: true},
	{file: "examples/threadfence_reduction.cu", grid: 2, block: 2},
	{file: "examples/threadfence_reduction_racy.cu", grid: 2, block: 2, bug: true,
		shows: `reads partial\[\d\] = 0 \(initial value\)`},
	{file: "examples/grid_barrier.cu", grid: 2, block: 2, long: true},
	{file: "examples/grid_barrier_racy.cu", grid: 2, block: 2, bug: true,
		shows: `reads (a|b)\[\d\] = 0 \(initial value\)`},
}

// stated matches what a file of testdata/explore states about a kernel: grid, block, verdict, and
// of a bug what its execution shows.
var stated = regexp.MustCompile(`(?m)^// explore: (\w+) (\d+) (\d+) (verified|bug|long)(?: (.*))?$`)

// rows returns the examples and what the files of testdata/explore state.
func rows(t *testing.T) []row {
	out := examples
	files, err := filepath.Glob("../../../testdata/explore/*.cu")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := stated.FindAllStringSubmatch(string(text), -1)
		if n := strings.Count(string(text), "// explore:"); n == 0 || n != len(found) {
			t.Fatalf("%s: %d of %d expectations are readable", path, len(found), n)
		}
		for _, m := range found {
			r := row{file: "testdata/explore/" + filepath.Base(path), kernel: m[1], bug: m[4] == "bug",
				long: m[4] == "long", shows: m[5]}
			if _, err := fmt.Sscan(m[2], &r.grid); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Sscan(m[3], &r.block); err != nil {
				t.Fatal(err)
			}
			out = append(out, r)
		}
	}
	return out
}

// TestTable: right kernels with locks, flags, hash tables, grid barriers, deques, look-back and
// last blocks are verified, and broken ones have an execution with a stale value. It logs the table
// of docs/theory/memory-model.md.
func TestTable(t *testing.T) {
	all := rows(t)
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].file == all[0].file {
			n++
		}
		of := slices.DeleteFunc(slices.Clone(all[:n]), func(r row) bool { return r.long && !long.All() })
		all = all[n:]
		if len(of) > 0 {
			examineRows(t, of)
		}
	}
}

// examineRows explores the launches of rows of one file.
func examineRows(t *testing.T, of []row) {
	d := driver.New(driver.Options{Workers: 1}, func(g diag.Diagnostic) {
		if g.Severity == diag.Error {
			t.Errorf("%s: %s", of[0].file, g.Message)
		}
	})
	done := 0
	in := []driver.Input{{Input: lower.Input{Name: "../../../" + of[0].file}}}
	d.Run(t.Context(), in, func(ctx context.Context, j *driver.Job) {
		asked := j.Launch
		for i := range of {
			if r := &of[i]; r.kernel == "" || strings.HasPrefix(j.Kernel.Demangled, r.kernel+"(") {
				done++
				j.Launch = asked
				r.examine(ctx, t, j)
			}
		}
	})
	if done != len(of) {
		t.Errorf("%s: %d of %d launches were examined", of[0].file, done, len(of))
	}
}

// examine explores the launch of a row and compares.
func (r *row) examine(ctx context.Context, t *testing.T, j *driver.Job) {
	j.Launch.Grid = &event.Dim3{X: r.grid, Y: 1, Z: 1}
	j.Launch.Block = &event.Dim3{X: r.block, Y: 1, Z: 1}
	for _, a := range strings.Fields(r.args) {
		spec, err := launch.ParseArg(a)
		if err != nil {
			t.Fatal(err)
		}
		j.Launch.Args = append(slices.Clip(j.Launch.Args), spec)
	}
	states, want := 1_000_000, diag.Verified
	if r.bug {
		states, want = 1500, diag.Bug // enough to find one
	}
	before := cputime.Process()
	res, err := Kernel(ctx, j, &Options{
		Options: explore.Options{Unroll: 4, MaxStates: states, Symmetry: true}})
	if err != nil {
		t.Fatal(err)
	}
	took := cputime.Process() - before
	name := strings.Join(strings.Fields(filepath.Base(r.file)+" "+r.kernel+" "+r.args), " ")
	kind, reason := res.Verdict()
	if kind != want {
		t.Errorf("%s, %d x %d: %v %s, expected %v", name, r.grid, r.block, kind, reason, want)
	}
	if res.Report == nil {
		return
	}
	found := ""
	if r.bug {
		found = r.stale(t, name, res.Report)
	}
	t.Logf("| %s | %d x %d | %v | %d | %d | %.1f | %s |", name, r.grid, r.block, kind,
		res.Report.Stats.Executions, res.Report.Stats.States, took.Seconds(), found)
}

// stale returns the load of a race that misses the store it races with. It reports that there is no
// such race, or none whose execution shows what the row says.
func (r *row) stale(t *testing.T, name string, rep *explore.Report) string {
	shows := regexp.MustCompile(r.shows)
	text := ""
	for _, race := range rep.Races {
		e := race.Example
		for _, p := range [...]memmodel.Pair{race.Pair,
			{First: race.Pair.Second, Second: race.Pair.First}} {
			w, l := &e.Graph.Events[p.First], &e.Graph.Events[p.Second]
			if !w.Op.Writes() || !l.Op.Reads() || e.Graph.RF[p.Second] == p.First {
				continue
			}
			var b strings.Builder
			for _, s := range e.Steps() {
				line := e.Threads()[s.Thread] + " " + s.Effect
				fmt.Fprintln(&b, line)
				if s.Event == p.Second {
					text = line
				}
			}
			if shows.MatchString(b.String()) {
				return text
			}
		}
	}
	if text == "" {
		t.Errorf("%s: no execution shows a stale value", name)
	} else {
		t.Errorf("%s: %s: no execution shows %s", name, text, r.shows)
	}
	return text
}
