package check_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"heddle/internal/check"
	"heddle/internal/check/task"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/source"
)

// other performs tasks as a worker does: from their bytes alone.
type other struct {
	mu     sync.Mutex
	asked  int
	failed []string
	tasks  []*task.Task

	do   func(ctx context.Context, t *task.Task) ([]byte, error) // nil: perform it
	gone error
}

// perform performs a task from copies of its bytes.
func perform(ctx context.Context, t *task.Task) ([]byte, error) {
	out, err := check.Perform(ctx, bytes.Clone(t.Request), func(hash string) ([]byte, error) {
		text, ok := t.Texts[hash]
		if !ok {
			return nil, os.ErrNotExist
		}
		return bytes.Clone(text), nil
	})
	if err == nil {
		err = t.Valid(out)
	}
	return out, err
}

// Do implements check.Elsewhere.
func (o *other) Do(ctx context.Context, t *task.Task, _ func(context.Context) ([]byte, error)) (
	[]byte, error) {
	o.mu.Lock()
	o.asked++
	o.tasks = append(o.tasks, t)
	o.mu.Unlock()
	if o.do != nil {
		return o.do(ctx, t)
	}
	return perform(ctx, t)
}

// Gone, Most and Failed implement check.Elsewhere.
func (o *other) Gone() error { return o.gone }
func (o *other) Most() int   { return 4 }
func (o *other) Failed(kernel string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = append(o.failed, fmt.Sprintf("%s: %v", kernel, err))
}

// reported returns everything that a run reports, for people and for programs.
func reported(t *testing.T, opt check.Options, names ...string) string {
	t.Helper()
	var text, data bytes.Buffer
	opt.Files = source.NewSet()
	people, programs := diag.NewText(&text, opt.Files, false), diag.NewJSON(&data, opt.Files)
	people.Verbose = true
	opt.Verdict = func(v *diag.Verdict) {
		if err := errors.Join(people.Verdict(v), programs.Verdict(v)); err != nil {
			t.Error(err)
		}
	}
	var inputs []driver.Input
	for _, name := range names {
		inputs = append(inputs, driver.Input{Input: lower.Input{Name: name}})
	}
	sum, err := check.Inputs(t.Context(), opt, inputs, func(d diag.Diagnostic) {
		if err := errors.Join(people.Finding(&d), programs.Finding(&d)); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s%s%d bugs, %d guessed, %d skipped, %d errors\n", text.String(), data.String(),
		sum.Bugs, sum.Guessed, sum.Skipped, sum.InputErrors)
}

// sampleFiles are kernels of all kinds: every n-th file of the suites, and examples with host code,
// several launches and inlined functions.
func sampleFiles(t *testing.T) []string {
	t.Helper()
	var out []string
	for pattern, n := range map[string]int{
		"../../testdata/suite/*/*.ptx": 14, "../../testdata/triton/*.ptx": 4,
		"../../examples/[bhrs]*.cu": 9, "../../testdata/verify/programs/*.cu": 60,
		"../../testdata/trace/*.ptx": 12,
	} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if testing.Short() { // with the race detector a proof takes minutes
			n *= 5
			if strings.Contains(pattern, "verify") || strings.Contains(pattern, "triton") {
				continue
			}
		}
		for i := 0; i < len(files); i += n {
			out = append(out, files[i])
		}
	}
	if len(out) < 10 && !testing.Short() {
		t.Fatalf("only %d files", len(out))
	}
	return out
}

// TestElsewhere: a report does not show where kernels were examined, and the result of a task is
// the same bytes each time.
func TestElsewhere(t *testing.T) {
	opt := check.Options{Options: driver.Options{Lower: lower.Options{CacheDir: t.TempDir()}}}
	for _, name := range sampleFiles(t) {
		here := reported(t, opt, name)
		there := new(other)
		opt := opt
		opt.Elsewhere = there
		if d := cmp.Diff(here, reported(t, opt, name)); d != "" || len(there.failed) > 0 {
			t.Errorf("%s: failed %v, -here +elsewhere\n%s", name, there.failed, d)
		}
		for _, task := range there.tasks {
			a, errA := perform(t.Context(), task)
			b, errB := perform(t.Context(), task)
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: a task has two results: %v %v", name, errA, errB)
			}
			break
		}
	}
}

// racy is a kernel with a race in line 3.
const racy = `__global__ void NAME(int *p) {
  if (blockIdx.x == 0)
    p[0] = threadIdx.x; COMMENT
}
`

// write writes files into one directory and returns their paths.
func write(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	dir, out := t.TempDir(), map[string]string{}
	for name, text := range files {
		out[name] = filepath.Join(dir, name)
		if err := os.WriteFile(out[name], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func kernelText(name, comment string) string {
	return strings.NewReplacer("NAME", name, "COMMENT", comment).Replace(racy)
}

// TestElsewhereComments: comments that suppress findings are used or unused as here, also those of
// a header that several files share.
func TestElsewhereComments(t *testing.T) {
	const suppress = "// heddle:ignore race-global one of them may win"
	at := write(t, map[string]string{
		"a.cu": kernelText("a", suppress),
		"b.cu": kernelText("b", "") + "__global__ void c(int *p) {\n  p[threadIdx.x] = 1; " + suppress + "\n}\n",
		"h.h":  "__device__ void put(int *p) {\n  p[0] = threadIdx.x; " + suppress + "\n}\n",
		"d.cu": "#include \"h.h\"\n__global__ void d(int *p) { put(p); }\n",
		"e.cu": "#include \"h.h\"\n__global__ void e(int *p) { if (!p) put(p); }\n",
	})
	for _, names := range [][]string{{"a.cu"}, {"b.cu"}, {"d.cu"}, {"e.cu"}, {"e.cu", "d.cu"},
		{"a.cu", "b.cu", "d.cu", "e.cu"}} {
		var files []string
		for _, n := range names {
			files = append(files, at[n])
		}
		here := reported(t, check.Options{}, files...)
		there := new(other)
		if d := cmp.Diff(here, reported(t, check.Options{Elsewhere: there}, files...)); d != "" ||
			there.asked == 0 || len(there.failed) > 0 {
			t.Errorf("%v: asked %d, failed %v, -here +elsewhere\n%s", names, there.asked, there.failed, d)
		}
	}
}

// TestElsewhereTwice: a file that is named twice is reported twice.
func TestElsewhereTwice(t *testing.T) {
	at := write(t, map[string]string{"a.ptx": strings.Replace(several(1), ".entry k(", ".entry a(", 1)})
	here := reported(t, check.Options{}, at["a.ptx"], at["a.ptx"], at["a.ptx"])
	there := new(other)
	if d := cmp.Diff(here, reported(t, check.Options{Elsewhere: there}, at["a.ptx"], at["a.ptx"],
		at["a.ptx"])); d != "" || len(there.failed) > 0 || there.asked == 0 {
		t.Errorf("asked %d, failed %v, -here +elsewhere\n%s", there.asked, there.failed, d)
	}
}

// TestElsewhereBaseline: an entry of a baseline covers one finding, the first. Which is the first is
// decided here.
func TestElsewhereBaseline(t *testing.T) {
	at := write(t, map[string]string{"a.cu": kernelText("a", "") + kernelText("b", "")})
	run := func(e check.Elsewhere) string {
		left := 1
		return reported(t, check.Options{Elsewhere: e, Options: driver.Options{
			Known: func(*diag.Diagnostic) bool { left--; return left >= 0 }}}, at["a.cu"])
	}
	here := run(nil)
	if d := cmp.Diff(here, run(new(other))); d != "" {
		t.Errorf("-here +elsewhere\n%s", d)
	}
	if !strings.Contains(here, "1 bugs") {
		t.Errorf("the baseline knows both findings or none:\n%s", here)
	}
}

// TestElsewhereFails: whatever happens to a task, the report is that of here.
func TestElsewhereFails(t *testing.T) {
	at := write(t, map[string]string{"a.cu": kernelText("a", "") + kernelText("b", "")})
	here := reported(t, check.Options{}, at["a.cu"])
	var last []byte
	var mu sync.Mutex
	for name, test := range map[string]struct {
		there  *other
		failed string // a part of what is said; empty: nothing is
	}{
		"error": {&other{do: func(context.Context, *task.Task) ([]byte, error) {
			return nil, errors.New("the worker burns")
		}}, "the worker burns"},
		"gone": {&other{gone: errors.New("no server")}, ""},
		"cut": {&other{do: func(ctx context.Context, t *task.Task) ([]byte, error) {
			out, err := perform(ctx, t)
			return out[:len(out)-10], err
		}}, "cannot be read"},
		"of another task": {&other{do: func(ctx context.Context, t *task.Task) ([]byte, error) {
			mu.Lock()
			defer mu.Unlock()
			out, err := perform(ctx, t)
			if last != nil {
				out, last = last, out
			} else {
				last = out
			}
			return out, err
		}}, "of another request"},
	} {
		got := reported(t, check.Options{Elsewhere: test.there}, at["a.cu"])
		if d := cmp.Diff(here, got); d != "" {
			t.Errorf("%s: -here +elsewhere\n%s", name, d)
		}
		if all := strings.Join(test.there.failed, "\n"); !strings.Contains(all, test.failed) ||
			(test.failed == "") != (all == "") {
			t.Errorf("%s: failures %q, want %q", name, all, test.failed)
		}
	}
}

// TestElsewhereSolver: a worker with another solver than this process does nothing.
func TestElsewhereSolver(t *testing.T) {
	at := write(t, map[string]string{"a.cu": kernelText("a", "")})
	there := new(other)
	opt := check.Options{Elsewhere: there}
	reported(t, opt, at["a.cu"])
	request := bytes.Replace(there.tasks[0].Request, []byte(`"Solver":"`), []byte(`"Solver":"z5 `), 1)
	_, err := check.Perform(t.Context(), request, func(h string) ([]byte, error) {
		return there.tasks[0].Texts[h], nil
	})
	var unfit *check.UnfitError
	if !errors.As(err, &unfit) || !strings.Contains(unfit.Why, "proofs of this run use z5") {
		t.Errorf("%v, want one that names both solvers", err)
	}
}

// TestElsewhereStops: a run that ends does not wait for what is under way.
func TestElsewhereStops(t *testing.T) {
	at := write(t, map[string]string{"a.cu": kernelText("a", "") + kernelText("b", "")})
	ctx, cancel := context.WithCancel(t.Context())
	there := &other{do: func(ctx context.Context, _ *task.Task) ([]byte, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	began := time.Now()
	sum, err := check.Files(ctx, check.Options{Elsewhere: there}, []string{at["a.cu"]},
		func(diag.Diagnostic) {})
	if err != nil || len(sum.Verdicts) == 0 || time.Since(began) > time.Minute {
		t.Fatalf("%v, %v", sum, err)
	}
	for _, v := range sum.Verdicts {
		if v.Kind != diag.Unknown || !strings.Contains(v.Reason, "interrupted") {
			t.Errorf("%v: %s", v.Kind, v.Reason)
		}
	}
	if len(there.failed) > 0 {
		t.Errorf("said to have failed: %v", there.failed)
	}
}
