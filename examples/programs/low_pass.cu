// A low-pass filter with NVIDIA's libraries, which heddle computes on the CPU: noise of cuRAND is added
// to a signal, transformed by cuFFT, high frequencies are removed by a kernel, and the result is
// transformed back. cuBLAS measures how far it is from the signal. All of it is work of one stream.

#include <cmath>
#include <cstdio>
#include <vector>

#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>

__global__ void signal(float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sinf(6.2831853f * 3 * i / n);
}

// Keeps the lowest frequencies, and divides by n: cuFFT's transforms are not normalized.
__global__ void keep(cufftComplex *f, int count, int kept, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float factor = i < kept ? 1.0f / n : 0;
  f[i] = make_cuComplex(f[i].x * factor, f[i].y * factor);
}

int main() {
  const int n = 4096, half = n / 2 + 1, block = 256;
  float *pure, *noisy, one = 1, minus = -1, before, after;
  cufftComplex *spectrum;
  cudaMalloc(&pure, n * sizeof(float));
  cudaMalloc(&noisy, n * sizeof(float));
  cudaMalloc(&spectrum, half * sizeof(cufftComplex));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  curandGenerator_t random;
  curandCreateGenerator(&random, CURAND_RNG_PSEUDO_DEFAULT);
  curandSetPseudoRandomGeneratorSeed(random, 7);
  curandSetStream(random, stream);
  cublasHandle_t blas;
  cublasCreate(&blas);
  cublasSetStream(blas, stream);
  cufftHandle there, back;
  cufftPlan1d(&there, n, CUFFT_R2C, 1);
  cufftPlan1d(&back, n, CUFFT_C2R, 1);
  cufftSetStream(there, stream);
  cufftSetStream(back, stream);

  signal<<<n / block, block, 0, stream>>>(pure, n);
  curandGenerateNormal(random, noisy, n, 0, 0.5f);
  cublasSaxpy(blas, n, &one, pure, 1, noisy, 1); // noisy += pure
  std::vector<float> start(n), end(n), reference(n);
  cudaMemcpyAsync(start.data(), noisy, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaMemcpyAsync(reference.data(), pure, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cufftExecR2C(there, noisy, spectrum);
  keep<<<(half + block - 1) / block, block, 0, stream>>>(spectrum, half, 5, n);
  cufftExecC2R(back, spectrum, noisy);
  cudaMemcpyAsync(end.data(), noisy, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cublasSaxpy(blas, n, &minus, pure, 1, noisy, 1); // noisy -= pure
  cublasSnrm2(blas, n, noisy, 1, &after);
  cudaStreamSynchronize(stream);

  // The reference: the same five frequencies by the definition of the transform.
  std::vector<double> filtered(n);
  for (int k = 0; k < 5; k++) {
    double re = 0, im = 0;
    for (int i = 0; i < n; i++) {
      re += start[i] * cos(2 * M_PI * k * i / n);
      im -= start[i] * sin(2 * M_PI * k * i / n);
    }
    for (int i = 0; i < n; i++) {
      double c = cos(2 * M_PI * k * i / n), s = sin(2 * M_PI * k * i / n);
      filtered[i] += (k == 0 ? 1 : 2) * (re * c - im * s) / n;
    }
  }
  int wrong = 0;
  double difference = 0, noise = 0;
  for (int i = 0; i < n; i++) {
    wrong += !(fabs(filtered[i] - end[i]) < 1e-4);
    difference += (filtered[i] - reference[i]) * (filtered[i] - reference[i]);
    noise += (start[i] - reference[i]) * (start[i] - reference[i]);
  }
  before = sqrt(noise);
  wrong += !(fabs(sqrt(difference) - after) < 1e-3 * after);
  wrong += !(before > 25 && before < 40); // 0.5 * sqrt(4096) = 32 is expected
  wrong += !(after < before / 10);        // of 2049 frequencies of noise 5 are left
  printf("%d wrong\n", wrong);
  cufftDestroy(there);
  cufftDestroy(back);
  cublasDestroy(blas);
  curandDestroyGenerator(random);
  return wrong != 0;
}
