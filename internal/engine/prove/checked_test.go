package prove_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/event"
	"heddle/internal/testing/long"
)

// checkedRE matches the comment above a kernel: the expected verdict, with a code or a word of its
// text, the reason, and the launch.
var checkedRE = regexp.MustCompile(`(?m)^// (verified|bug|unknown)(?:,? ([\w-]+))?: .+\n(?:// .+\n)*?` +
	`// heddle: .+\n__global__ void (\w+)\(`)

// TestChecked: what a proof used to assume is checked: that accesses stay in arrays of known size,
// that the lanes of a mask reach the operation, and that the arguments of a counterexample are
// ordinary. The reasons are beside the kernels.
func TestChecked(t *testing.T) {
	names := []string{"aliases", "aggregated", "arrivals", "blockqueues", "bounds", "constants",
		"counters", "exchange", "flags", "gridbarriers", "lanes", "locks", "ordinary", "ranks", "textures",
		"tickets", "tolerated", "../lockstep/loops"}
	if long.All() {
		names = append(names, "lookback")
	}
	if testing.Short() { // under the race detector, ten times slower
		names = names[:1]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "../../../testdata/verify/" + name + ".cu"
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string][]string{}
			for _, m := range checkedRE.FindAllStringSubmatch(string(text), -1) {
				want[m[3]] = m[1:3]
			}
			if n := strings.Count(string(text), "\n__global__"); n != len(want) {
				t.Fatalf("%d kernels, %d expectations", n, len(want))
			}
			found := map[string]string{}
			opt := check.Options{Mode: check.Verify}
			if strings.HasPrefix(name, "../lockstep/") {
				opt.Warp = event.Lockstep
			}
			sum, err := check.Files(t.Context(), opt, []string{path},
				func(d diag.Diagnostic) { found[d.Kernel] += " " + string(d.Code) })
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range sum.Verdicts {
				kernel, _, _ := strings.Cut(v.Kernel, "(")
				w, text := want[kernel], v.Text()+found[v.Kernel]
				delete(want, kernel)
				if w == nil || v.Kind.String() != w[0] || !strings.Contains(text, w[1]) {
					t.Errorf("%s: %v %s, want %s", kernel, v.Kind, text, w)
				}
			}
			if len(want) > 0 {
				t.Errorf("no verdicts: %v", want)
			}
		})
	}
}
