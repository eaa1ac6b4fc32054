package exec_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/command/exec"
	"heddle/internal/testing/long"
	"heddle/internal/testing/program"
)

// workPrologue begins the programs of these tests. P prints the number of a status.
const workPrologue = `#include <cstdio>
#include <vector>
#include <cublas_v2.h>
#include <cufftXt.h>
#include <curand.h>
#include <cuda_fp16.h>
__global__ void fill(float *p, float v) { p[threadIdx.x] = v; }
#define P(CALL) printf("%d\n", (int)(CALL))
template <class T> static T *device(const std::vector<T> &v) {
  T *p; cudaMalloc(&p, v.size() * sizeof(T)); cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <class T> static void show(T *p, int n) {
  std::vector<T> v(n); cudaError_t e = cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  if (e) printf("%s", cudaGetErrorName(e)); else for (T x : v) printf("%g ", (double)x);
  printf("\n");
}
int main() {
  cublasHandle_t h; cublasCreate(&h);
  const float one = 1, zero = 0, two = 2; float r = -1; int at = -1;
  // columns (1 2) and (3 4)
  float *a = device<float>({1, 2, 3, 4}), *b = device<float>({1, 0, 2, 1}), *c = device<float>({9, 9, 9, 9});
`

// workPrograms are calls of libraries with what their documentation promises.
var workPrograms = []struct {
	name, body  string
	want        string // the output, with spaces for line ends
	unsupported []string
	findings    []string
	initCheck   bool
}{
	// cuBLAS, "cublasStatus_t": a handle that was not created is 1, invalid arguments are 7. Level 1
	// functions with n <= 0 do nothing and deliver 0.
	{name: "statuses", body: `P(cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, 2, b, 2, &zero, c, 2));
			P(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, -1, 2, 2, &one, a, 2, b, 2, &zero, c, 2));
			P(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, 1, b, 2, &zero, c, 2));
			P(cublasSaxpy(h, 4, nullptr, a, 1, c, 1)); P(cublasSdot(h, 0, a, 1, b, 1, &r)); P(r);
			P(cublasIsamax(h, -1, a, 1, &at)); P(at); P(cublasDestroy(nullptr)); show(c, 4);`,
		want: "1 7 7 7 0 0 0 0 1 9 9 9 9"},
	// A = (1 3; 2 4), B = (1 2; 0 1): A B = (1 5; 2 8), A^T B = (1 4; 3 10).
	{name: "gemm", body: `cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, 2, b, 2, &zero, c, 2); show(c, 4);
			cublasSgemm(h, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, 2, &two, a, 2, b, 2, &one, c, 2); show(c, 4);`,
		want: "1 2 5 8 3 8 13 28"},
	// Arrays of pointers lie in device memory; a stride counts elements.
	{name: "batches", body: `float **as = device<float *>({a, b}), **cs = device<float *>({c, c + 2});
			float *v = device<float>({1, 1, 10, 10}), *w = device<float>({0, 0, 0, 0});
			cublasSgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 1, &one, as, 2, cs, 1, &one, cs, 2, 2);
			show(c, 4);
			cublasSgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 2, &one, a, 2, 0, v, 2, 2, &zero, w, 2, 2, 2);
			show(w, 4);`,
		want: "18 27 18 9 4 6 40 60"},
	// cublasGemmEx: half matrices, sums in float. 8-bit integers give 32-bit ones, and the scalars
	// are 32-bit integers then.
	{name: "types", body: `__half *x = device<__half>({__float2half(1), __float2half(2), __float2half(3), __float2half(4)});
			signed char *i = device<signed char>({1, -2, 100, 127}); int *k = device<int>({0, 0, 0, 0}), p = 1, q = 0;
			P(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 2, &one, x, CUDA_R_16F, 2, x, CUDA_R_16F, 2, &zero, c, CUDA_R_32F,
			               2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT)); show(c, 4);
			P(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 2, &p, i, CUDA_R_8I, 2, i, CUDA_R_8I, 2, &q, k, CUDA_R_32I, 2,
			               CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT)); show(k, 4);`,
		want: "0 10 14 14 20 0 10001 12698 12698 16133"},
	// A type that is not computed fails and is named.
	{name: "unknown type", body: `P(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, CUDA_R_8F_E4M3, 2, b, CUDA_R_8F_E4M3, 2,
			&zero, c, CUDA_R_32F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));`,
		want: "15", unsupported: []string{"cublasGemmEx"}},
	// "cublasPointerMode_t": with CUBLAS_POINTER_MODE_DEVICE scalars and results are in device
	// memory.
	{name: "device scalars", body: `float *s = device<float>({3, 0}); cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
			cublasSscal(h, 4, s, a, 1); P(cublasSdot(h, 2, a, 1, b, 1, s + 1)); show(a, 4); show(s, 2);`,
		want: "0 3 6 9 12 3 3"},
	// The place of the largest magnitude counts from 1 (cublasIsamax).
	{name: "reductions", body: `cublasIsamax(h, 4, a, 1, &at); P(at); cublasIsamin(h, 4, a, 1, &at); P(at);
			cublasSnrm2(h, 2, a + 2, 1, &r); P(r); cublasSasum(h, 4, a, 1, &r); P(r); cublasSdot(h, 2, a, 2, b, 2, &r); P(r);`,
		want: "4 1 5 10 7"},
	// A X = B with the lower triangle (1 0; 2 4) of A: X = (1 2; -0.5 -0.75).
	{name: "trsm", body: `cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 2, 2, &one, a, 2,
			b, 2); show(b, 4);`, want: "1 -0.5 2 -0.75"},
	// An operand that is not in device memory ends the context, as an invalid access of a kernel
	// does.
	{name: "too large", body: `P(cublasSscal(h, 5, &two, a, 1)); show(a, 1);`,
		want: "0 cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	{name: "freed", body: `cudaFree(a); P(cublasSscal(h, 4, &two, a, 1)); show(b, 1);`,
		want: "0 cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	{name: "host memory", body: `float v[4] = {}; P(cublasSscal(h, 4, &two, v, 1)); show(b, 1);`,
		want: "0 cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	{name: "misaligned", body: `P(cublasSscal(h, 1, &two, (float *)((char *)a + 2), 1)); show(b, 1);`,
		want: "0 cudaErrorMisalignedAddress", findings: []string{"misaligned"}},
	// Work of a library and launches of other streams may overlap (cublasSetStream), unless they
	// access other elements: the second call reads the second column only.
	{name: "race with a launch", body: `cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
			cublasSetStream(h, s); cublasSaxpy(h, 2, &one, a + 2, 1, c, 1); fill<<<1, 2>>>(a, 1); cudaDeviceSynchronize();
			cublasSaxpy(h, 2, &one, a, 1, c, 1); fill<<<1, 2>>>(a, 1); cudaDeviceSynchronize();`,
		findings: []string{"race-stream"}},
	// A result for the host is there when the function returns: what follows is ordered behind it.
	{name: "result for the host", body: `cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
			cublasSetStream(h, s); cublasSasum(h, 4, a, 1, &r); fill<<<1, 4>>>(a, 1); cudaDeviceSynchronize();`},
	// Functions of a stream that is captured become nodes; one whose result goes to the host cannot.
	{name: "captured", body: `cudaStream_t s; cudaStreamCreate(&s); cublasSetStream(h, s); cudaGraph_t g; cudaGraphExec_t x;
			cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); cublasSscal(h, 4, &two, a, 1);
			cublasSaxpy(h, 4, &one, a, 1, c, 1); cudaStreamEndCapture(s, &g); size_t n; cudaGraphGetNodes(g, nullptr, &n); P(n);
			cudaGraphNode_t all[2]; cudaGraphNodeType t; cudaGraphGetNodes(g, all, &n); cudaGraphNodeGetType(all[0], &t);
			P(t == cudaGraphNodeTypeKernel); cudaGraph_t copy; cudaGraphClone(&copy, g); cudaGraphDestroy(g);
			cudaGraphInstantiate(&x, copy, 0); cudaGraphLaunch(x, s); cudaGraphLaunch(x, s); cudaStreamSynchronize(s); show(c, 4);
			cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); P(cublasSasum(h, 4, a, 1, &r) == CUBLAS_STATUS_SUCCESS);
			P(cudaStreamEndCapture(s, &g));`,
		want: "2 1 15 21 27 33 0 901"},
	// --init-check: what a function reads must have been written.
	{name: "uninitialized", initCheck: true, body: `float *u; cudaMalloc(&u, 16); cublasSscal(h, 2, &two, a, 1);
			cublasScopy(h, 2, a, 1, u, 1); cublasSasum(h, 2, u, 1, &r); P(r); cublasSasum(h, 3, u, 1, &r);`,
		want: "6", findings: []string{"uninitialized"}},
	// cublasSetVector and cublasGetMatrix copy between host and device with increments.
	{name: "copies", body: `float v[6] = {1, 2, 3, 4, 5, 6}, w[6] = {}; P(cublasSetVector(3, 4, v, 2, c, 1)); show(c, 4);
			P(cublasGetMatrix(1, 2, 4, a, 2, w, 3)); for (float x : w) P(x); P(cublasSetVector(3, 4, v, 1, c + 2, 1));`,
		want: "0 1 3 5 9 0 1 0 0 3 0 0 11"},
	// A = (1 3; 2 4) with its rows exchanged is L U; the inverse is (-2 1.5; 1 -0.5).
	{name: "getrf", body: `float **as = device<float *>({a}), **cs = device<float *>({c}); int *pivots, *info;
			cudaMalloc(&pivots, 8); cudaMalloc(&info, 4); P(cublasSgetrfBatched(h, 2, as, 2, pivots, info, 1)); show(pivots, 2);
			P(cublasSgetriBatched(h, 2, as, 2, pivots, cs, 2, info, 1)); show(c, 4); show(info, 1);`,
		want: "0 2 2 0 -2 1 1.5 -0.5 0"},
	// cuFFT: transforms are not normalized, the sign of the forward one is -1. (1 2 3 4): sums 10,
	// -2+2i, -2, -2-2i.
	{name: "fft", body: `cufftHandle p; P(cufftPlan1d(&p, 4, CUFFT_R2C, 1)); cufftComplex *f; cudaMalloc(&f, 24);
			P(cufftExecR2C(p, a, f)); show((float *)f, 6); P(cufftExecC2C(p, f, f, CUFFT_FORWARD)); cufftHandle q;
			cufftPlan1d(&q, 4, CUFFT_C2R, 1); cufftExecC2R(q, f, c); show(c, 4); P(cufftDestroy(p)); P(cufftDestroy(p));
			P(cufftPlan1d(&p, 0, CUFFT_C2C, 1)); P(cufftPlan1d(&p, 4, (cufftType)1, 1)); P(cufftExecC2R(q, f, c + 1));
			show(c, 1);`,
		want: "0 0 10 0 -2 2 -2 0 3 4 8 12 16 0 1 8 3 0 cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	// cufftXtMakePlanMany names the types of the elements; half precision is not computed.
	{name: "fft by types", body: `cufftHandle p; size_t n; long long four = 4; cufftCreate(&p); cufftComplex *f; cudaMalloc(&f, 24);
			P(cufftXtMakePlanMany(p, 1, &four, nullptr, 1, 1, CUDA_R_32F, nullptr, 1, 1, CUDA_C_32F, 1, &n, CUDA_C_32F));
			P(cufftXtExec(p, a, f, CUFFT_FORWARD)); show((float *)f, 6); cufftCreate(&p);
			P(cufftXtMakePlanMany(p, 1, &four, nullptr, 1, 1, CUDA_C_16F, nullptr, 1, 1, CUDA_C_16F, 1, &n, CUDA_C_16F));`,
		want: "0 0 10 0 -2 2 -2 0 16", unsupported: []string{"cufftXtMakePlanMany of other types than float and double"}},
	// cuRAND: numbers depend on generator, seed and offset; parts of a sequence make the sequence; a
	// generator of the host delivers those of the device; normal numbers come in pairs.
	{name: "random", body: `curandGenerator_t g, k; float u[4], v[4], w[4]; P(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_XORWOW));
			P(curandCreateGeneratorHost(&k, CURAND_RNG_PSEUDO_XORWOW)); curandSetPseudoRandomGeneratorSeed(g, 5);
			curandSetPseudoRandomGeneratorSeed(k, 5); P(curandGenerateUniform(k, u, 4)); P(curandGenerateUniform(g, c, 1));
			P(curandGenerateUniform(g, c + 1, 3)); cudaMemcpy(v, c, 16, cudaMemcpyDefault); curandSetGeneratorOffset(g, 1);
			curandGenerateUniform(g, c, 3); cudaMemcpy(w, c, 16, cudaMemcpyDefault); int same = 0, shifted = 0, range = 0;
			for (int i = 0; i < 4; i++) same += u[i] == v[i], shifted += i < 3 && w[i] == v[i + 1], range += u[i] > 0 && u[i] <= 1;
			P(same); P(shifted); P(range); P(curandGenerateNormal(g, c, 3, 0, 1)); P(curandCreateGenerator(&g, (curandRngType_t)7));
			P(curandGenerateUniform(nullptr, c, 4)); P(curandDestroyGenerator(k));`,
		want: "0 0 0 0 0 4 3 4 105 103 101 0"},
	// The Sobol sequence of one dimension is that of van der Corput in the order of the Gray code: 0,
	// 1/2, 3/4, 1/4, ...
	{name: "sobol", body: `curandGenerator_t g; curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32); unsigned *u; cudaMalloc(&u, 16);
			P(curandGenerate(g, u, 4)); show(u, 4); P(curandSetQuasiRandomGeneratorDimensions(g, 2)); P(curandGenerate(g, u, 4));`,
		want:        "0 0 2.14748e+09 3.22123e+09 1.07374e+09 0 201",
		unsupported: []string{"cuRAND's quasi-random generators other than CURAND_RNG_QUASI_SOBOL32 of 1 dimension"}},
}

// TestWork: functions of libraries compute, fail and are ordered as their documentation says.
func TestWork(t *testing.T) {
	for _, c := range workPrograms {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 2)
			got := start(t, []string{program.OfText(t, workPrologue+c.body+"\n  return 0;\n}\n")},
				func(opt *exec.Options) { opt.InitCheck = c.initCheck })
			if out := strings.Join(strings.Fields(got.stdout), " "); out != c.want {
				t.Errorf("output %q, want %q; messages %q", out, c.want, got.stderr)
			}
			got.expect(t, c.unsupported, c.findings)
		})
	}
}

// TestWorkWithoutHandles: the functions of cublas.h have other symbols than those with handles, and
// are not computed: a program that uses them must not get what the others make of its arguments.
func TestWorkWithoutHandles(t *testing.T) {
	got := start(t, []string{program.OfText(t, `#include <cstdio>
#include <cublas.h>
int main() {
  float *p; cudaMalloc(&p, 16); cublasInit(); cublasSscal(4, 2, p, 1);
  printf("%d\n", cublasGetError() != CUBLAS_STATUS_SUCCESS);
}
`)}, nil)
	want := []string{"cublasInit of cublas.h", "cublasSscal of cublas.h", "cublasGetError of cublas.h"}
	if got.stdout != "1\n" || !slices.Equal(got.Unsupported, want) {
		t.Errorf("output %q, unsupported %q, want %q", got.stdout, got.Unsupported, want)
	}
}

// TestOwnArchive: and so does one that is linked with an archive.
func TestOwnArchive(t *testing.T) {
	b, dir := program.Builder(t), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		object := path + ".o"
		if _, err := b.Object(t.Context(), path, object, false); err != nil {
			program.Fail(t, err)
		}
		return object
	}
	own := write("own.cu", `extern "C" int cublasSscal(void *, int, const float *, float *, int) { return 14; }`)
	main := write("main.cu", `#include <cstdio>
#include <cublas_v2.h>
int main() { printf("%d\n", cublasSscal(nullptr, 4, nullptr, nullptr, 1)); }
`)
	out := filepath.Join(dir, "program")
	if err := b.Archive(t.Context(), []string{own}, filepath.Join(dir, "libcublas_static.a")); err != nil {
		t.Fatal(err)
	}
	if err := b.Link(t.Context(), []string{main}, []string{"-L" + dir, "-lcublas_static"}, out); err != nil {
		program.Fail(t, err)
	}
	if got := start(t, []string{out}, nil); got.stdout != "14\n" {
		t.Errorf("output %q, want that of the archive", got.stdout)
	}
}

// TestOwnLibrary: a program that brings such a function itself uses that.
func TestOwnLibrary(t *testing.T) {
	got := start(t, []string{program.OfText(t, `#include <cstdio>
#include <cublas_v2.h>
cublasStatus_t cublasSscal(cublasHandle_t, int, const float *, float *, int) { return CUBLAS_STATUS_INTERNAL_ERROR; }
int main() { printf("%d\n", cublasSscal(nullptr, 4, nullptr, nullptr, 1)); }
`)}, nil)
	if got.stdout != "14\n" {
		t.Errorf("output %q, want that of the program's own function", got.stdout)
	}
}
