package lower

import (
	"io/fs"
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

// libraryPrograms are host code for each library, with the calls of its documentation. All of them
// must compile: a statement that does not would be left out, and launches beside it.
var libraryPrograms = []struct{ name, src string }{
	{"cuBLAS", `#include <cublas_v2.h>
#include <cublasLt.h>
cublasHandle_t h;
int host(const float *a, const float *b, float *c, double *d, __half *e, float *const *list, cublasLtHandle_t lt,
         cublasLtMatmulDesc_t op, cublasLtMatrixLayout_t m, cudaStream_t s) {
  const float one = 1, zero = 0;
  cublasStatus_t st = cublasCreate(&h);
  if (st != CUBLAS_STATUS_SUCCESS) return st;
  cublasSetStream(h, s); cublasSetMathMode(h, CUBLAS_TF32_TENSOR_OP_MATH);
  cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_T, 8, 8, 8, &one, a, 8, b, 8, &zero, c, 8);
  cublasSgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_T, 8, 8, 8, &one, a, 8, 64, b, 8, 64, &zero, c, 8, 64, 2);
  cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, e, CUDA_R_16F, 8, e, CUDA_R_16F, 8, &zero, c, CUDA_R_32F, 8,
               CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP);
  cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, e, CUDA_R_16F, 8, e, CUDA_R_16F, 8, &zero, c, CUDA_R_32F, 8,
               CUDA_R_32F, CUBLAS_GEMM_DEFAULT);
  double *const *all = &d; int info; cublasDgelsBatched(h, CUBLAS_OP_N, 8, 8, 1, all, 8, all, 8, &info, nullptr, 2);
  int at; double r; cublasIdamax(h, 8, d, 1, &at); cublasDdot(h, 8, d, 1, d, 1, &r); cublasDnrm2_v2(h, 8, d, 1, &r);
  cublasLtMatmulDescCreate(&op, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtEpilogue_t ep = CUBLASLT_EPILOGUE_GELU_BIAS;
  cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_EPILOGUE, &ep, sizeof ep);
  cublasLtMatmul(lt, op, &one, a, m, b, m, &zero, c, m, c, m, nullptr, nullptr, 0, s);
  return cublasDestroy(h);
}`},
	{"cuBLAS without handles", `#include <cublas.h>
float host(float *a) { cublasInit(); cublasSgemm('n', 't', 8, 8, 8, 1, a, 8, a, 8, 0, a, 8); return cublasSdot(8, a, 1, a, 1); }`},
	{"cuRAND", `#include <curand.h>
#include <curand_kernel.h>
__global__ void draw(float *p) { curandState s; curand_init(1, threadIdx.x, 0, &s); p[threadIdx.x] = curand_uniform(&s); }
int host(float *p, unsigned *u) {
  curandGenerator_t g; curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT); curandSetPseudoRandomGeneratorSeed(g, 1234ULL);
  curandGenerateUniform(g, p, 64); curandGenerateNormal(g, p, 64, 0.f, 1.f); curandGenerate(g, u, 64);
  return curandDestroyGenerator(g) == CURAND_STATUS_SUCCESS; }`},
	{"cuFFT", `#include <cufft.h>
#include <cufftXt.h>
int host(cufftComplex *c, cufftDoubleReal *r, cufftDoubleComplex *z) {
  cufftHandle p; int n[2] = {8, 8};
  cufftPlan1d(&p, 8, CUFFT_C2C, 1); cufftPlanMany(&p, 2, n, nullptr, 1, 64, nullptr, 1, 64, CUFFT_D2Z, 4);
  cufftExecC2C(p, c, c, CUFFT_FORWARD); cufftExecD2Z(p, r, z); return cufftDestroy(p); }`},
	{"cuSPARSE", `#include <cusparse.h>
int host(int *row, int *col, float *v, float *x, cusparseHandle_t h) {
  cusparseSpMatDescr_t a; cusparseDnVecDescr_t y; size_t n; float one = 1;
  cusparseCreateCsr(&a, 8, 8, 8, row, col, v, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseCreateDnVec(&y, 8, x, CUDA_R_32F);
  cusparseSpMV_bufferSize(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, y, &one, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &n);
  cusparseSpSMDescr_t d; cusparseDnMatDescr_t b; cusparseSpSM_createDescr(&d);
  cusparseSpSM_analysis(h, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, b, CUDA_R_32F,
                        CUSPARSE_SPSM_ALG_DEFAULT, d, x);
  cusparseSpVecDescr_t s; cusparseScatter(h, s, y); cusparseGather(h, y, s); cusparseAxpby(h, &one, s, &one, y);
  cusparseSpVV_bufferSize(h, CUSPARSE_OPERATION_NON_TRANSPOSE, s, y, x, CUDA_R_32F, &n);
  cusparseSpVV(h, CUSPARSE_OPERATION_NON_TRANSPOSE, s, y, x, CUDA_R_32F, v);
  cusparseMatDescr_t m; cusparseCreateMatDescr(&m);
  if (cusparseGetMatIndexBase(m) == CUSPARSE_INDEX_BASE_ONE || cusparseGetMatType(m) == CUSPARSE_MATRIX_TYPE_HERMITIAN ||
      cusparseGetMatFillMode(m) == CUSPARSE_FILL_MODE_UPPER || cusparseGetMatDiagType(m) == CUSPARSE_DIAG_TYPE_UNIT) return 1;
  return cusparseDestroySpMat(a); }`},
	{"cuSOLVER", `#include <cusolverDn.h>
#include <cusolverSp.h>
int host(double *a, double *w, int *info, cusolverDnHandle_t h, cusolverSpHandle_t sp, cusparseMatDescr_t m, int *r) {
  cusolverSpXcsrissymHost(sp, 8, 8, m, r, r + 1, r, info); cusolverSpXcsrmetisndHost(sp, 8, 8, m, r, r, nullptr, r);
  cusolverSpXcsrsymmdqHost(sp, 8, 8, m, r, r, r); cusolverSpDcsrzfdHost(sp, 8, 8, m, a, r, r, r, info);
  cudaStream_t s; cusolverSpGetStream(sp, &s);
  int n; cusolverDnDsyevd_bufferSize(h, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 8, a, 8, w, &n);
  return cusolverDnDpotrf(h, CUBLAS_FILL_MODE_LOWER, 8, a, 8, w, n, info); }`},
	{"cuDNN", `#include <cudnn.h>
int host(cudnnHandle_t h, float *x) {
  cudnnTensorDescriptor_t t; cudnnCreateTensorDescriptor(&t); float one = 1, zero = 0;
  cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 3, 8, 8);
  return cudnnSoftmaxForward(h, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one, t, x, &zero, t, x); }`},
	{"NCCL", `#include <nccl.h>
int host(float *a, ncclComm_t c, cudaStream_t s) {
  ncclGroupStart(); ncclAllReduce(a, a, 8, ncclFloat, ncclSum, c, s); return ncclGroupEnd() == ncclSuccess; }`},
	{"MPI and OpenMP", `#include <mpi.h>
#include <omp.h>
__global__ void work(float *p) { p[threadIdx.x] = 1; }
int host(int argc, char **argv, float *p) {
  int rank, n; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &n);
  omp_set_num_threads(n); double t = omp_get_wtime();
#pragma omp parallel for
  for (int i = 0; i < n; i++) cudaSetDevice(omp_get_thread_num());
  work<<<n, 64>>>(p); MPI_Allreduce(MPI_IN_PLACE, p, 64, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Request r; MPI_Isend(p, 64, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, &r); MPI_Wait(&r, MPI_STATUS_IGNORE);
  return MPI_Finalize() + (int)(omp_get_wtime() - t); }`},
	{"launch attributes", `#include <cuda.h>
#include <cuda_bf16.hpp>
#include <cuda_fp16.hpp>
#include <cuda_fp8.hpp>
int host(void (*f)(int *), cudaEvent_t e, int *p) {
  cudaLaunchAttribute a[7]; cudaLaunchConfig_t c = {}; int n;
  a[0].id = cudaLaunchAttributeClusterDimension; a[0].val.clusterDim = {2, 1, 1};
  a[1].id = cudaLaunchAttributePreferredClusterDimension; a[1].val.preferredClusterDim = {4, 1, 1};
  a[2].id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
  a[2].val.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicySpread;
  a[3].id = cudaLaunchAttributeMemSyncDomain; a[3].val.memSyncDomain = cudaLaunchMemSyncDomainRemote;
  a[4].id = cudaLaunchAttributeMemSyncDomainMap; a[4].val.memSyncDomainMap.default_ = 1;
  a[5].id = cudaLaunchAttributeProgrammaticEvent; a[5].val.programmaticEvent.event = e;
  a[6].id = cudaLaunchAttributePreferredSharedMemoryCarveout; a[6].val.sharedMemCarveout = 50;
  c.gridDim = 4; c.blockDim = 32; c.attrs = a; c.numAttrs = 7;
  CUlaunchAttribute d; d.id = CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION; d.value.preferredClusterDim.x = 4;
  cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, f, 32, 0, cudaOccupancyDisableCachingOverride);
  cudaOccupancyMaxActiveClusters(&n, f, &c); cudaOccupancyMaxPotentialClusterSize(&n, f, &c);
  return cudaLaunchKernelEx(&c, f, p) + (int)sizeof d; }`},
	{"NVML, NVTX and nvJPEG", `#include <nvml.h>
#include <nvjpeg.h>
#include <nvtx3/nvToolsExt.h>
unsigned host() { unsigned p; nvmlDevice_t d; nvmlInit(); nvmlDeviceGetHandleByIndex(0, &d); nvmlDeviceGetPowerUsage(d, &p);
  nvtxRangePushA("x"); nvtxRangePop(); nvjpegHandle_t h; nvjpegCreateSimple(&h); return p; }`},
}

// TestLibraries compiles host code that calls the libraries of the CUDA toolkit. Nothing is left out
// of it: there is no warning.
func TestLibraries(t *testing.T) {
	for _, c := range libraryPrograms {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 2)
			r := lowerSource(t, c.src+"\n__global__ void k(int *p) { p[0] = 1; }\n",
				Options{Compiler: compilers(t)[0]})
			if len(r.Kernels) == 0 || len(r.Warnings) > 0 || len(r.Omitted) > 0 {
				t.Errorf("%d kernels, warnings %q, omitted %v", len(r.Kernels), r.Warnings, r.Omitted)
			}
		})
	}
}

// TestLibrariesDefined: the runtime of heddle exec has each list of functions that a header
// declares, so that a program links.
func TestLibrariesDefined(t *testing.T) {
	text, err := headerFS.ReadFile("headers/exec/library.c")
	if err != nil {
		t.Fatal(err)
	}
	lists, err := fs.ReadDir(headerFS, "headers/heddle/library")
	if err != nil || len(lists) < 9 {
		t.Fatal(lists, err)
	}
	for _, f := range lists {
		// declare.h is no list, and the names of cublas1.h are those of cublas.h.
		if f.Name() != "declare.h" && f.Name() != "cublas1.h" &&
			!strings.Contains(string(text), `#include "../heddle/library/`+f.Name()+`"`) {
			t.Errorf("exec/library.c does not include the list %s", f.Name())
		}
	}
}
