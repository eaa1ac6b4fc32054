package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
)

// examine runs heddle check on a program.
func examine(t *testing.T, text string) *check.Summary {
	t.Helper()
	file := filepath.Join(t.TempDir(), "k.cu")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	sum, err := check.Files(t.Context(), check.Options{}, []string{file}, func(diag.Diagnostic) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Verdicts) != 1 {
		t.Fatalf("verdicts: %v", sum.Verdicts)
	}
	return sum
}

// TestSharedProof: launches in a loop that differ in an argument have one proof, for all values of
// this argument, where there is one. It asks no query twice.
func TestSharedProof(t *testing.T) {
	// All threads write out[0] if mode is 1, so no proof holds for all arguments; one holds for all
	// values of turn, since all launches have mode 0.
	const kernel = `
__global__ void k(int *out, int mode, int turn) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[mode == 1 ? 0 : i] = i % (turn + 1);
}
int main() {
  int *out;
  cudaMalloc(&out, 256 * sizeof(int));
  LOOP k<<<4, 64>>>(out, 0, turn);
}`
	one := examine(t, strings.Replace(kernel, "LOOP", "int turn = 1;", 1))
	many := examine(t, strings.Replace(kernel, "LOOP", "for (int turn = 1; turn < 9; turn++)", 1))
	for _, sum := range []*check.Summary{one, many} {
		if v := sum.Verdicts[0]; v.Kind != diag.Verified {
			t.Errorf("%v: %s", v.Kind, v.Reason)
		}
	}
	asked := func(s *check.Summary) (n int) {
		for _, q := range s.Queries.Queries {
			n += q.Unsat + q.Sat + q.Unknown
		}
		return n
	}
	if a, b := asked(one), asked(many); a == 0 || b > 2*a {
		t.Errorf("%d queries for one launch, %d for eight", a, b)
	}
}

// TestProofOfOneLaunch: what is proved of a launch says nothing of another one with another value
// of an argument that the proof needs, with other memory behind its pointers, or with another
// shape. The races need contents of memory that no run tries by itself: proofs see them.
func TestProofOfOneLaunch(t *testing.T) {
	const scale = `
__global__ void k(int *out, const int *in, int gap) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[in[0] == 123457 ? i * gap : i] = i;
}
int main() {
  int *out, *in;
  cudaMalloc(&out, 4096 * sizeof(int));
  cudaMalloc(&in, 4096 * sizeof(int));
  LOOP k<<<4, 64>>>(out, in, gap);
}`
	for name, program := range map[string]string{
		"the last value of an argument": strings.Replace(scale, "LOOP",
			"for (int gap = 2; gap >= 0; gap--)", 1),
		"the first value": strings.Replace(scale, "LOOP", "for (int gap = 0; gap < 3; gap++)", 1),
		"one buffer": `
__global__ void k(int *to, const int *from, const int *in, int turn) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[in[0] == 123457 ? (i + 1) % 256 : i] + turn;
}
int main() {
  int *a, *b, *c;
  cudaMalloc(&a, 256 * sizeof(int));
  cudaMalloc(&b, 256 * sizeof(int));
  cudaMalloc(&c, 256 * sizeof(int));
  k<<<4, 64>>>(a, b, c, 1);
  k<<<4, 64>>>(b, b, c, 2);
}`,
		"a shape": `
__global__ void k(int *out, const int *in, int turn) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[in[0] == 123457 ? i % 256 : i] = turn;
}
int main() {
  int *out, *in;
  cudaMalloc(&out, 1024 * sizeof(int));
  cudaMalloc(&in, 1024 * sizeof(int));
  k<<<4, 64>>>(out, in, 1);
  k<<<8, 64>>>(out, in, 2);
}`,
	} {
		t.Run(name, func(t *testing.T) {
			if v := examine(t, program).Verdicts[0]; v.Kind == diag.Verified {
				t.Errorf("verified, although one launch has a race: %s", v.Scope)
			}
		})
	}
}

// TestBlockAlone: if the first run ends while eight long blocks take turns, one block runs alone,
// and the kernel is verified if it ends: 10,000 iterations of a few instructions for each of 8
// warps are less than the limit of 3 million for one block, and more for eight.
func TestBlockAlone(t *testing.T) {
	sum := examine(t, `
// heddle: grid=64 block=256 n=10000
__global__ void k(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < n; j++) atomicAdd(&out[i], j % 2);
  if (n < 0) out[i] = clock(); // blocks of kernels that read a clock take turns
}`)
	v := sum.Verdicts[0]
	if v.Kind != diag.Verified {
		t.Errorf("%v: %s", v.Kind, v.Reason)
	}
	if text := strings.Join(v.Details, "; "); !strings.Contains(text, "block 0 alone has ended") {
		t.Errorf("the verdict does not say that a block has ended alone: %s", text)
	}
}

// TestHopelessRun: a launch of 60,000 blocks of which the first run, of 3 million warp
// instructions, finishes a few hundred needs far more than the limit of 50 million. It is not run
// up to that, and the verdict says where it ended.
func TestHopelessRun(t *testing.T) {
	sum := examine(t, `
// heddle: grid=60000 block=64 n=2000 to=iota
__global__ void k(float *out, const int *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = i;
  for (int j = 0; j < n; j++) x = x * 0.5f + 1;
  out[to[i]] = x; // no proof for other contents of to
}`)
	v := sum.Verdicts[0]
	if v.Kind != diag.Unknown || !strings.Contains(v.Reason, "limit of 3000000 warp instructions") {
		t.Errorf("%v: %s; want unknown, after a run of 3 million warp instructions", v.Kind, v.Reason)
	}
}

// TestChangedVariable: the host code changes shift. With the initial value, 1, there is no race;
// with 2 all threads write out[0]. If the host code sets it to 2, that is a bug; if its value at
// the launch is not known, the verdict says that the run had the initial one. other is not read by
// the kernel.
func TestChangedVariable(t *testing.T) {
	const program = `
QUALIFIER int shift = 1;
__device__ int other = 1;
int input();
__global__ void k(int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (shift == 1) out[i] = i; else out[0] = i;
}
int main() {
  int *out, s = VALUE, *p;
  cudaMalloc(&out, 1024 * 4);
  cudaMemcpyToSymbol(other, &s, 4);
  CHANGE
  k<<<4, 64>>>(out);
}`
	const copied = "cudaMemcpyToSymbol(shift, &s, sizeof(int));"
	for _, test := range []struct {
		name, qualifier, value, change string
		kind                           diag.VerdictKind
	}{
		{"known", "__device__", "2", copied, diag.Bug},
		{"copied", "__device__", "input()", copied, diag.Clean},
		{"constant", "__constant__", "input()", copied, diag.Clean},
		{"address", "__device__", "input()",
			"cudaGetSymbolAddress((void **)&p, shift); cudaMemcpy(p, &s, 4, cudaMemcpyHostToDevice);",
			diag.Clean},
		{"managed", "__managed__", "input()", "shift = s;", diag.Clean},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := examine(t, strings.NewReplacer("QUALIFIER", test.qualifier, "VALUE", test.value,
				"CHANGE", test.change).Replace(program)).Verdicts[0]
			text := strings.Join(v.Details, "; ")
			const named = "shift: its initial value (guessed: the host code may change it)"
			if v.Kind != test.kind {
				t.Errorf("%v, want %v: %s", v.Kind, test.kind, v.Reason)
			}
			if v.Kind == diag.Clean && !strings.Contains(text, named) || strings.Contains(text, "other:") {
				t.Errorf("the verdict should name the initial value of shift only: %s", text)
			}
		})
	}
}
