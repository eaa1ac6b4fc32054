package placement_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/placement"
	"heddle/internal/engine/prove"
	"heddle/internal/lower"
	"heddle/internal/place"
	"heddle/internal/testing/long"
)

// synchronize searches barriers for a source text.
func synchronize(t *testing.T, name, text string, so placement.Options) *placement.Result {
	t.Helper()
	in := driver.Input{Input: lower.Input{Name: name, Content: []byte(text)}}
	res, err := placement.File(t.Context(), so, in, func(d diag.Diagnostic) { t.Errorf("%s: %s", name, d.Message) })
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Kernels) != 1 {
		t.Fatalf("%s: %d kernels", name, len(res.Kernels))
	}
	return res
}

// inPlace counts the barriers that stand in the end.
func inPlace(k *placement.Kernel) int {
	n := 0
	for _, b := range k.Barriers {
		if !b.Gone {
			n++
		}
	}
	return n
}

var wantSync = regexp.MustCompile(`// sync: (\d+)`)

// The kernels of testdata/sync get as many barriers as their comments say: from the text as it is,
// where none may cost more than the present barriers, and from the text without its barriers. Lines
// marked "sync: before" have one right before them. The result is verified, and found by few calls
// of the oracle.
func TestSyncKernels(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/sync/*.cu")
	if err != nil || len(files) < 20 {
		t.Fatalf("%v, %d files", err, len(files))
	}
	for i, path := range files {
		name := filepath.Base(path)
		if !long.All() && i%8 != 0 && !strings.HasPrefix(name, "figure") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text := string(content)
			want, _ := strconv.Atoi(wantSync.FindStringSubmatch(text)[1])
			bare := strings.ReplaceAll(text, "__syncthreads();", "")
			for _, src := range []string{text, bare} {
				if src == text && bare == text {
					continue
				}
				res := synchronize(t, name, src, placement.Options{BlockOnly: true})
				k := &res.Kernels[0]
				if got := inPlace(k); got != want || k.Verdict.Kind != diag.Verified {
					t.Errorf("%d barriers, %v; want %d, verified: %+v\n%s", got, k.Verdict.Kind, want, k, res.Diff)
				}
				if src == text && k.After > k.Before {
					t.Errorf("costs %g, before %g", k.After, k.Before)
				}
				if k.Calls > 3 || !k.Optimal {
					t.Errorf("%d calls of the oracle, optimal %v", k.Calls, k.Optimal)
				}
				patched := src
				if p := res.Patched[name]; p != nil {
					patched = string(p)
				}
				marks(t, patched)
			}
		})
	}
}

// marks checks that there is a barrier right before each line that is marked.
func marks(t *testing.T, text string) {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.Contains(l, "// sync: before") && !strings.Contains(lines[i-1], "__syncthreads();") {
			t.Errorf("no barrier before %q:\n%s", l, text)
		}
	}
}

const head = "// heddle: grid=1 block=64\n__global__ void k(int *A, int *B, int n)\n{\n    int tid = threadIdx.x;\n"

// What barriers cannot do is said, with the reason.
func TestSyncStuck(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"one statement", "    A[0] = tid;\n", "at the same statement"},
		{"in a conditional that not all enter", "    if (tid < 40) {\n        int x = A[tid + 1];\n        A[tid] = x;\n    }\n", "not all threads of the block reach"},
		{"in a macro", "#define BOTH { int x = A[tid + 1]; A[tid] = x; }\n    BOTH\n", "at the same statement"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := synchronize(t, "stuck.cu", head+c.body+"}\n", placement.Options{})
			k := &res.Kernels[0]
			if k.Status != placement.NoPlacement || res.Diff != "" || len(k.Stuck) == 0 ||
				!strings.Contains(k.Stuck[0], c.want) {
				t.Errorf("%+v; want no placement, because %q\n%s", k, c.want, res.Diff)
			}
		})
	}
}

// A race between blocks is told, and does not keep barriers from being placed.
func TestSyncOtherBlocks(t *testing.T) {
	text := strings.Replace(head, "grid=1", "grid=2", 1) + "    int x = A[tid + 1];\n    A[tid] = x;\n}\n"
	k := &synchronize(t, "blocks.cu", text, placement.Options{}).Kernels[0]
	if k.Status != placement.Changed || len(k.OtherBlocks) == 0 || inPlace(k) != 1 {
		t.Errorf("%+v", k)
	}
}

// The three oracles and the three algorithms agree where they must: the placement is right. The
// paper's algorithm calls an oracle that does not know the paths of a race again.
func TestSyncOracles(t *testing.T) {
	text := head + "    for (int i = 0; i < 8; i++) {\n        int x = A[tid + 1];\n        A[tid] = x;\n    }\n}\n"
	for _, c := range []struct {
		oracle placement.Oracle
		alg    place.Algorithm
	}{{placement.Static, place.Exact}, {placement.Static, place.Paper}, {placement.Static, place.Naive},
		{placement.Dynamic, place.Exact}, {placement.Both, place.Exact}} {
		k := &synchronize(t, "oracles.cu", text, placement.Options{Oracle: c.oracle, Options: place.Options{Algorithm: c.alg}}).Kernels[0]
		if inPlace(k) != 2 || k.Verdict.Kind != diag.Verified {
			t.Errorf("oracle %d, algorithm %d: %+v", c.oracle, c.alg, k)
		}
	}
}

// What was not judged is unknown, not clean.
func TestSyncNotJudged(t *testing.T) {
	in := driver.Input{Input: lower.Input{Name: "late.cu", Content: []byte(head + "    A[tid] = n;\n}\n")}}
	res, err := placement.File(t.Context(), placement.Options{Prove: prove.Options{Timeout: time.Nanosecond}}, in, func(diag.Diagnostic) {})
	if err != nil || len(res.Kernels) != 1 {
		t.Fatal(err, res)
	}
	if k := &res.Kernels[0]; k.Status != placement.NotChecked || k.Verdict.Kind != diag.Unknown ||
		len(k.Stuck) == 0 || k.Stuck[0] != "out of time" {
		t.Errorf("%+v; want not checked, unknown, out of time", k)
	}
}

// --verify-only says whether what stands is right, and changes nothing.
func TestSyncVerifyOnly(t *testing.T) {
	for _, c := range []struct {
		body   string
		status placement.Status
	}{
		{"    int x = A[tid + 1];\n    A[tid] = x;\n", placement.NoPlacement},
		{"    int x = A[tid + 1];\n    __syncthreads();\n    A[tid] = x;\n", placement.Unchanged},
		{"    if (tid < 40)\n        __syncthreads();\n", placement.NoPlacement},
	} {
		res := synchronize(t, "only.cu", head+c.body+"}\n", placement.Options{VerifyOnly: true})
		if k := &res.Kernels[0]; k.Status != c.status || res.Diff != "" {
			t.Errorf("%s: %+v; want %v\n%s", c.body, k, c.status, res.Diff)
		}
	}
}

// In OpenCL C the flags of a barrier name the memory that it is needed for.
func TestSyncOpenCL(t *testing.T) {
	const text = "// heddle: grid=1 block=64\n__kernel void k(__global int *out)\n{\n    __local int s[65];\n    int i = get_local_id(0);\n    s[i] = i;\n    out[i] = s[(i + 1) & 63];\n}\n"
	res := synchronize(t, "flags.cl", text, placement.Options{})
	if k := &res.Kernels[0]; k.Verdict.Kind != diag.Verified ||
		!strings.Contains(res.Diff, "+    barrier(CLK_LOCAL_MEM_FENCE);") {
		t.Errorf("%+v\n%s", k, res.Diff)
	}
}

// Measured costs are executions of a thread: 8 iterations with two barriers cost 16; a loop that
// runs once costs as much as the code around it, and a place in a conditional that is never
// entered costs less.
func TestSyncMeasured(t *testing.T) {
	for _, c := range []struct {
		body string
		cost float64
	}{
		{"    for (int i = 0; i < 8; i++) {\n        int x = A[tid + 1];\n        A[tid] = x;\n    }\n", 16},
		{"    for (int i = 0; i < 1; i++) {\n        int x = A[tid + 1];\n        A[tid] = x;\n    }\n", 1},
		{"    int x = A[tid + 1];\n    A[tid] = x;\n", 1},
	} {
		k := &synchronize(t, "measured.cu", head+c.body+"}\n", placement.Options{Measured: true}).Kernels[0]
		if k.Verdict.Kind != diag.Verified || k.After != c.cost || !k.Optimal {
			t.Errorf("%s: %+v; want cost %g", c.body, k, c.cost)
		}
	}
}

// Of the project's own kernels, those whose barriers are proved right never get more barriers or
// costlier ones, and stay proved. Cheaper results are logged.
func TestSyncNeverWorse(t *testing.T) {
	patterns := []string{"../../../testdata/verify/reduce.cl"}
	if long.All() {
		patterns = []string{"../../../testdata/verify/*.c[ul]", "../../../testdata/verify/programs/*.cu", "../../../testdata/sync/*.cu", "../../../testdata/fix/*.cu", "../../../testdata/suite/*/*.c[ul]", "../../../examples/*.c[ul]"}
	}
	strip := placement.Options{BlockOnly: true} // a barrier of the warp for one of the block may mean two
	strip.Strip = true
	right, cheaper := 0, 0
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %d files", pattern, err, len(files))
		}
		for _, path := range files {
			run := func(so placement.Options) []placement.Kernel {
				so.Prove.Timeout = 30 * time.Second
				in := driver.Input{Input: lower.Input{Name: path}}
				res, err := placement.File(t.Context(), so, in, func(diag.Diagnostic) {})
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				return res.Kernels
			}
			before, after := run(placement.Options{VerifyOnly: true}), run(strip)
			for i := range before {
				b, a := &before[i], &after[i]
				if b.Status != placement.Unchanged || len(b.Barriers) == 0 || b.Verdict.Kind != diag.Verified {
					continue
				}
				if b.Given && !a.Given { // that takes more than what was right for one launch
					continue
				}
				right++
				if a.Verdict.Kind != diag.Verified || inPlace(a) > inPlace(b) || a.After > b.Before {
					t.Errorf("%s: kernel %s: %d barriers, cost %g; now %v, %d, %g, %v",
						path, a.Kernel, inPlace(b), b.Before, a.Status, inPlace(a), a.After, a.Verdict.Kind)
				}
				if a.After < b.Before {
					cheaper++
					t.Logf("%s: kernel %s: %d barriers, cost %g; now %d, %g, %v",
						filepath.Base(path), a.Kernel, inPlace(b), b.Before, inPlace(a), a.After, a.Verdict.Kind)
				}
			}
		}
	}
	t.Logf("%d kernels with barriers that are proved right, %d cost less now", right, cheaper)
	if right == 0 || long.All() && right < 60 {
		t.Errorf("only %d kernels", right)
	}
}

// A race within a function that is called is repaired there: the places of a function are those of
// all its call sites, and a barrier costs what it costs at all of them. What is not the kernel's
// alone is left as it is: a function of another kernel or of the host, or called by a condition.
func TestSyncCalls(t *testing.T) {
	const shift = " int shift(int *s, int tid)\n{\n    int x = s[(tid + 1) & 63];\n    s[tid] = x + 1;\n    return x;\n}\n"
	const open = "// heddle: grid=1 block=64\n__global__ void k(int *A)\n{\n    __shared__ int s[64];\n    int tid = threadIdx.x;\n"
	kernel := open + "    s[tid] = A[tid];\n"
	other := strings.Replace(kernel, "void k", "void other", 1) + "    __syncthreads();\n    A[tid] = shift(s, tid);\n}\n"
	for _, c := range []struct {
		name, text string
		want       int     // barriers; 0: none will do
		cost       float64 // executions, at all call sites
	}{
		// Once: write s, read s in shift: 1; the read in shift and the write there: 2.
		{"one call", "__device__" + shift + kernel + "    A[tid] = shift(s, tid);\n}\n", 2, 2},
		// Twice: the places before and after line 3 of shift are executed twice each; nothing in the
		// kernel helps more.
		{"two calls", "__device__" + shift + kernel + "    A[tid] = shift(s, tid);\n    A[tid] += shift(s, tid);\n}\n", 2, 4},
		{"two calls in a statement", "__device__" + shift + kernel + "    A[tid] = shift(s, tid) + shift(s, tid);\n}\n", 2, 4},
		// In a loop: 100 iterations, and the write before it needs no barrier of its own.
		{"in a loop", "__device__" + shift + kernel + "    for (int i = 0; i < 9; i++)\n        A[tid] += shift(s, tid);\n}\n", 2, 200},
		// The argument is read before the call and the result is written after it: both need a barrier in
		// the function.
		{"around a call", "__device__ int add(int *s, int tid, int x)\n{\n    x += tid;\n    return x;\n}\n" + open +
			"    s[tid] = add(s, tid, s[(tid + 1) & 63]);\n}\n", 1, 1},
		{"a call in a call", "__device__" + shift + "__device__ int twice(int *s, int tid)\n{\n    int x = shift(s, tid);\n    return x + shift(s, tid);\n}\n" + kernel + "    A[tid] = twice(s, tid);\n}\n", 2, 4},
		{"a barrier that exists", "__device__" + strings.Replace(shift, "    s[tid]", "    __syncthreads();\n    __syncthreads();\n    s[tid]", 1) + kernel + "    __syncthreads();\n    A[tid] = shift(s, tid);\n}\n", 2, 2},
		{"a template", "template <class T> __device__" + strings.Replace(shift, "int *", "T *", 1) + kernel + "    A[tid] = shift<int>(s, tid);\n}\n", 2, 2},
		{"of the host", "__host__ __device__" + shift + kernel + "    A[tid] = shift(s, tid);\n}\n", 0, 0},
		{"of another kernel", "__device__" + shift + kernel + "    A[tid] = shift(s, tid);\n}\n" + other, 0, 0},
		{"in a condition", "__device__" + shift + kernel + "    if (shift(s, tid) == 3)\n        A[tid] = 1;\n}\n", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 2)
			in := driver.Input{Input: lower.Input{Name: "calls.cu", Content: []byte(c.text)}}
			res, err := placement.File(t.Context(), placement.Options{Common: driver.Options{Kernel: "k"}}, in, func(d diag.Diagnostic) { t.Error(d.Message) })
			if err != nil || len(res.Kernels) != 1 {
				t.Fatal(err, res)
			}
			k := &res.Kernels[0]
			if c.want == 0 {
				if k.Status != placement.NoPlacement || res.Diff != "" {
					t.Errorf("%+v; want none\n%s", k, res.Diff)
				}
				return
			}
			if k.Verdict.Kind != diag.Verified || inPlace(k) != c.want || k.After != c.cost || !k.Optimal {
				t.Errorf("%+v; want %d barriers, cost %g\n%s", k, c.want, c.cost, res.Diff)
			}
		})
	}
}

// Where only lanes of one warp race, a warp barrier is enough and costs less (CUDA C++ Programming
// Guide, __syncwarp: it orders memory among the lanes that take part); the warps of a block are its
// threads in linear order, 32 each.
func TestSyncWarp(t *testing.T) {
	const open = "__global__ void k(int *A)\n{\n    __shared__ int s[128];\n    int tid = threadIdx.x;\n"
	exchange := func(with string) string {
		return "    s[tid] = A[tid];\n    int x = s[" + with + "];\n    A[tid] = x;\n"
	}
	for _, c := range []struct {
		name, launch, body string
		so                 placement.Options
		warp, block        int // barriers; -1: none will do
	}{
		{"a neighbour in the warp", "block=128", exchange("tid ^ 1"), placement.Options{}, 1, 0},
		{"in another warp", "block=128", exchange("tid ^ 32"), placement.Options{}, 0, 1},
		{"in the warp or not", "block=128", exchange("(tid + 1) & 127"), placement.Options{}, 0, 1},
		{"not wanted", "block=128", exchange("tid ^ 1"), placement.Options{BlockOnly: true}, 0, 1},
		// A patch for the one warp of this launch would be wrong for others, and is no faster.
		{"a block of one warp", "block=32", exchange("(tid + 1) & 31"), placement.Options{}, 0, 1},
		// Rows of 16: a warp is two of them, so y and y^1 share one, y and y^2 do not.
		{"rows, in the warp", "block=16,8", strings.Replace(exchange("tid ^ 16"), "    s[", "    tid += threadIdx.y * 16;\n    s[", 1), placement.Options{}, 1, 0},
		{"rows, in another", "block=16,8", strings.Replace(exchange("tid ^ 32"), "    s[", "    tid += threadIdx.y * 16;\n    s[", 1), placement.Options{}, 0, 1},
		// Where only whole warps come, no barrier of the block can stand, and one of the warp can.
		{"only some warps", "block=128", "    if (tid < 64) {\n" + exchange("tid ^ 1") + "    }\n", placement.Options{}, 1, 0},
		{"behind a return of whole warps", "block=128", "    if (tid >= 64)\n        return;\n" + exchange("tid ^ 1"), placement.Options{}, 1, 0},
		{"only some lanes", "block=128", "    if (tid < 40) {\n" + exchange("tid ^ 1") + "    }\n", placement.Options{}, -1, -1},
		// One barrier of the warp does not separate what another warp reads; one of the block does both.
		{"both", "block=128", "    s[tid] = A[tid];\n    int x = s[tid ^ 1] + s[tid ^ 64];\n    A[tid] = x;\n", placement.Options{}, 0, 1},
		{"in a loop", "block=128", "    for (int i = 0; i < 8; i++) {\n        int x = s[tid ^ 1];\n        s[tid] = x;\n    }\n", placement.Options{}, 2, 0},
		// A loop of which lanes leave at different times has no place that all lanes of a warp reach.
		{"in an uneven loop", "block=128", "    for (int i = 0; i < tid; i++) {\n        int x = s[tid ^ 1];\n        s[tid] = x;\n    }\n", placement.Options{}, -1, -1},
		{"a barrier that exists", "block=128", strings.Replace(exchange("tid ^ 1"), "    int x", "    __syncthreads();\n    int x", 1), placement.Options{}, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 3)
			res := synchronize(t, "warp.cu", "// heddle: grid=1 "+c.launch+"\n"+open+c.body+"}\n", c.so)
			k := &res.Kernels[0]
			if c.warp < 0 {
				if k.Status != placement.NoPlacement || res.Diff != "" {
					t.Errorf("%+v; want none\n%s", k, res.Diff)
				}
				return
			}
			warp, block := 0, 0
			for _, b := range k.Barriers {
				switch {
				case b.Gone:
				case b.Warp:
					warp++
				default:
					block++
				}
			}
			if k.Verdict.Kind != diag.Verified || warp != c.warp || block != c.block ||
				strings.Count(res.Diff, "+") > 0 && strings.Count(res.Diff, "__syncwarp();") != warp || !k.Optimal {
				t.Errorf("%+v; want %d of the warp, %d of the block, verified\n%s", k, c.warp, c.block, res.Diff)
			}
		})
	}
}
