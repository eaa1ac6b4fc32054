package check_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
)

// several is a module of n kernels; every third one has a race.
func several(n int) string {
	var b strings.Builder
	b.WriteString(".version 8.7\n.target sm_90\n.address_size 64\n")
	for i := range n {
		index := "%tid.x"
		if i%3 == 1 {
			index = "%ntid.x" // one element for all threads
		}
		fmt.Fprintf(&b, `.visible .entry k(.param .u64 p)
{
	.reg .b64 %%a, %%o;
	.reg .b32 %%x, %%i;
	ld.param.u64 %%a, [p];
	cvta.to.global.u64 %%a, %%a;
	mov.u32 %%x, %%tid.x;
	mov.u32 %%i, %s;
	mul.wide.u32 %%o, %%i, 4;
	add.s64 %%a, %%a, %%o;
	st.global.u32 [%%a], %%x;
	ret;
}
`, index)
	}
	return b.String()
}

// TestWorkers: findings, their order and the verdicts are the same for any number of workers.
func TestWorkers(t *testing.T) {
	var names []string
	text := several(12)
	for i := range 12 {
		text = strings.Replace(text, ".entry k(", fmt.Sprintf(".entry k%02d(", i), 1)
		names = append(names, fmt.Sprintf("k%02d", i))
	}
	path := filepath.Join(t.TempDir(), "many.ptx")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var first string
	for _, workers := range []int{1, 2, 5, 16} {
		var b strings.Builder
		opt := check.Options{Options: driver.Options{Workers: workers}}
		sum, err := check.Files(t.Context(), opt, []string{path}, func(d diag.Diagnostic) {
			fmt.Fprintln(&b, d.Code, d.Kernel, d.Message)
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(sum.Verdicts) != len(names) || sum.Bugs != 4 {
			t.Fatalf("%d workers: %d verdicts, %d bugs; want %d, 4\n%s",
				workers, len(sum.Verdicts), sum.Bugs, len(names), b.String())
		}
		for i, v := range sum.Verdicts {
			want := diag.Verified
			if i%3 == 1 {
				want = diag.Bug
			}
			if v.Kernel != names[i] || v.Kind != want {
				t.Errorf("%d workers: verdict %d is %v of %s (%s), want %v of %s",
					workers, i, v.Kind, v.Kernel, v.Text(), want, names[i])
			}
			fmt.Fprintln(&b, v.Text())
		}
		switch {
		case first == "":
			first = b.String()
		case first != b.String():
			t.Errorf("%d workers:\n%s\none worker:\n%s", workers, b.String(), first)
		}
	}
}

// TestFilesAhead: files are compiled ahead of the one that is examined. What is said of them, also
// of one that the compiler rejects and of one without kernels, is the same, in the order of the files,
// as that of one after the other.
func TestFilesAhead(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i := range 9 {
		text := fmt.Sprintf("__global__ void k%d(int *a) { a[threadIdx.x] = %d; }\n", i, i)
		switch i {
		case 2:
			text = "__global__ void k2(int *a) { a[0] = threadIdx.x; }\n" // a race
		case 4:
			text = "__global__ void k4(int *a) { a[0] = missing; }\n"
		case 6:
			text = "int none;\n"
		}
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("f%d.cu", i)))
		if err := os.WriteFile(paths[i], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var first string
	for _, workers := range []int{1, 2, 5} {
		var b strings.Builder
		opt := check.Options{Options: driver.Options{Workers: workers}}
		sum, err := check.Files(t.Context(), opt, paths, func(d diag.Diagnostic) {
			fmt.Fprintln(&b, d.Code, d.Span.Start, d.Kernel, d.Message, d.Notes)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range sum.Verdicts {
			fmt.Fprintln(&b, v.Text())
		}
		if len(sum.Verdicts) != 7 || sum.Bugs != 1 || sum.InputErrors != 1 {
			t.Fatalf("%d workers: %d verdicts, %d bugs, %d input errors; want 7, 1, 1\n%s", workers,
				len(sum.Verdicts), sum.Bugs, sum.InputErrors, b.String())
		}
		switch {
		case first == "":
			first = b.String()
		case first != b.String():
			t.Errorf("%d workers:\n%s\none worker:\n%s", workers, b.String(), first)
		}
	}
}

// TestAheadCancelled ends a run while files are compiled: each file that was not examined says so.
func TestAheadCancelled(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i := range 20 {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("f%02d.cu", i)))
		text := fmt.Sprintf("__global__ void k%d(int *a) { a[threadIdx.x] = %d; }\n", i, i)
		if err := os.WriteFile(paths[i], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opt := check.Options{Options: driver.Options{Workers: 3}}
	opt.Verdict = func(v *diag.Verdict) {
		if strings.Contains(v.Text(), "k4") {
			cancel()
		}
	}
	sum, err := check.Files(ctx, opt, paths, func(diag.Diagnostic) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Verdicts) != len(paths) {
		t.Errorf("%d verdicts, want one for each of %d files", len(sum.Verdicts), len(paths))
	}
	if v := sum.Verdicts[len(sum.Verdicts)-1]; v.Kind != diag.Unknown {
		t.Errorf("of the last file: %s, want unknown", v.Text())
	}
}
