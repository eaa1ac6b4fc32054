package check_test

import (
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
