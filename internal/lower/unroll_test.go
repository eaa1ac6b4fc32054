package lower

import (
	"strings"
	"testing"
)

// multiplyEight is a wgmma with the accumulator c and the descriptors a and b.
const multiplyEight = `asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1, 0, 0;"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]) : "l"(a), "l"(b));`

// TestUnrolled: an array that is the accumulator of wgmma is in registers, though the source
// accesses it in loops; what other threads can access is accessed as often as before, also where
// the value is not used. Without wgmma a loop stays a loop.
func TestUnrolled(t *testing.T) {
	const src = `__global__ void k(float *out, unsigned long long a, unsigned long long b) {
  extern __shared__ float s[];
  float c[8] = {};
  for (int i = 0; i < 8; i++) c[i] = out[threadIdx.x * 8 + i];
#pragma unroll
  for (int i = 0; i < 3; i++) { float unused = s[i]; s[8] = s[9]; }
  MULTIPLY
  for (int i = 0; i < 8; i++) out[threadIdx.x * 8 + i] = c[i];
}
`
	for _, c := range []struct {
		text                  string
		local                 bool
		loads, stores, shared int // of global memory, and loads of shared memory
	}{{multiplyEight, false, 8, 8, 6}, {"c[0] += a + b;", true, 1, 1, 2}} {
		r := lowerSource(t, strings.Replace(src, "MULTIPLY", c.text, 1), Options{Compiler: compilers(t)[0], Arch: "sm_90a"})
		text := string(r.PTX)
		if got := strings.Contains(text, "ld.local"); got != c.local || strings.Count(text, "ld.global") != c.loads ||
			strings.Count(text, "st.global") != c.stores || strings.Count(text, "ld.shared") != c.shared {
			t.Errorf("%s: local memory %v, want %v; %d loads and %d stores, want %d and %d; %d loads of shared memory, want %d\n%s",
				c.text, got, c.local, strings.Count(text, "ld.global"), strings.Count(text, "st.global"), c.loads, c.stores,
				strings.Count(text, "ld.shared"), c.shared, text)
		}
	}
}

// TestUnrolledNames: blocks keep names that differ only behind the thousandth byte. LLVM cuts names
// to 1024 bytes, and copies of a block differ in what follows its name.
func TestUnrolledNames(t *testing.T) {
	long := strings.Repeat("n", 1020)
	src := `__device__ __forceinline__ void ` + long + `(float *out, int i) {
  if (threadIdx.x > i) out[i] = 1;
}
__global__ void k(float *out, unsigned long long a, unsigned long long b) {
  float c[8] = {};
  for (int i = 0; i < 4; i++) {
    ` + long + `(out, i);
    c[i] = out[threadIdx.x * 8 + i];
  }
` + multiplyEight + `
  for (int i = 0; i < 8; i++) out[threadIdx.x * 8 + i] = c[i];
}
`
	text := string(lowerSource(t, src, Options{Compiler: compilers(t)[0], Arch: "sm_90a"}).PTX)
	if loads, stores := strings.Count(text, "ld.global"), strings.Count(text, "st.global"); loads != 4 || stores != 12 {
		t.Errorf("%d loads and %d stores, want 4 and 12, one of each copy of the loop's body\n%s", loads, stores, text)
	}
}

// TestUnrolledViews: an accumulator is in registers if functions get it by a view, a struct within a
// struct that other functions return, with an index in a struct as well; if the function with wgmma
// is not one that is inlined as a rule and is called through a pointer; and if a variable of a
// function is the number of rounds. So does nvcc, and otherwise CuTe's tensors could not be used.
func TestUnrolledViews(t *testing.T) {
	src := `struct Engine { float *p; };
struct Layout { int stride; };
struct View { Engine engine; Layout layout; };
__device__ View view(float *p, int stride) { return {{p}, {stride}}; }
__device__ View part(View v, int i) { return {{v.engine.p + i * v.layout.stride}, v.layout}; }
typedef void (*Multiply)(float (&)[8], unsigned long long, unsigned long long);
__device__ void multiply(float (&c)[8], unsigned long long a, unsigned long long b) {
` + multiplyEight + `
}
__device__ __forceinline__ void apply(Multiply f, float (&c)[8], unsigned long long a, unsigned long long b) { f(c, a, b); }
__device__ __noinline__ void step(float (&c)[8], float *out, unsigned long long a, unsigned long long b) {
  static constexpr int rounds = 8;
  View v = view(c, 1);
  const int &n = rounds;
  for (int i = 0; i < n; i++) *part(v, i).engine.p = out[i];
  apply(multiply, c, a, b);
}
__global__ void k(float *out, unsigned long long a, unsigned long long b) {
  float c[8] = {};
  step(c, out, a, b);
  View v = view(c, 2);
  for (int i = 0; i < 4; i++) out[threadIdx.x * 8 + i] = *part(v, i).engine.p;
}
`
	text := string(lowerSource(t, src, Options{Compiler: compilers(t)[0], Arch: "sm_90a"}).PTX)
	if strings.Contains(text, ".local") || strings.Contains(text, "ld.const") ||
		strings.Count(text, "ld.global") != 8 || strings.Count(text, "st.global") != 4 {
		t.Errorf("want no local memory and no constant, 8 loads and 4 stores of global memory\n%s", text)
	}
}

// TestUnsetHalf: a value of 32 bits does not depend on bits of a wider one that are not set, in a
// module with tcgen05.mma. CUTLASS keeps the descriptor of an instruction so.
func TestUnsetHalf(t *testing.T) {
	src := `__device__ void multiply(unsigned d, unsigned long long a, unsigned long long b, unsigned i) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }"
      :: "r"(d), "l"(a), "l"(b), "r"(i));
}
__global__ void k(int n, unsigned d, unsigned long long a, unsigned long long b) {
  unsigned char id;
  unsigned long long i = (unsigned long long)id << 40 | 0x8100490;
  for (int j = 0; j < n; j++) {
    multiply(d, a, b, (unsigned)i);
    i = i & ~(1ull << 32) | 1ull << 33;
  }
}
`
	text := string(lowerSource(t, src, Options{Compiler: compilers(t)[0], Arch: "sm_100a"}).PTX)
	if !strings.Contains(text, "tcgen05.mma") || strings.Contains(text, "unset") {
		t.Errorf("the descriptor depends on what is not set\n%s", text)
	}
}
