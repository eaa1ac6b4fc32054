// Kernels build the levels of a mipmapped texture one from the other, and read between two levels.
// Each result is compared with the definition on the host. With the argument "racy" threads read a
// level that others write in the same launch.
#include <cmath>
#include <cstdio>
#include <vector>

const int W = 32, H = 16, LEVELS = 6;

// One texel is the mean of four of the level above: a filtered fetch from the corner that they share.
__global__ void halve(cudaTextureObject_t above, cudaSurfaceObject_t to, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) surf2Dwrite(tex2D<float>(above, (x + 0.5f) / w, (y + 0.5f) / h), to, x * sizeof(float), y);
}

__global__ void read(cudaTextureObject_t all, float *out, float level) {
  int x = threadIdx.x, y = blockIdx.x;
  out[y * W + x] = tex2DLod<float>(all, (x + 0.5f) / W, (y + 0.5f) / H, level);
}

// The pixels of a picture of a quarter of the size lie four texels apart: level log2(4).
__global__ void shrink(cudaTextureObject_t all, float *out) {
  int x = threadIdx.x, y = threadIdx.y;
  float w = W / 4, h = H / 4;
  out[y * W / 4 + x] = tex2DGrad<float>(all, (x + 0.5f) / w, (y + 0.5f) / h, make_float2(1 / w, 0), make_float2(0, 1 / h));
}

__global__ void overwrite(cudaTextureObject_t all, cudaSurfaceObject_t second, float *out) {
  int x = threadIdx.x;
  surf2Dwrite(1.0f, second, x * sizeof(float), 0);
  out[x] = tex2DLod<float>(all, 0.99f - (x + 0.5f) / (W / 2), 0, 1);
}

// A view of four bytes as a word, from the second of three layers and the second of two levels on.
__global__ void words(cudaTextureObject_t view, unsigned *out) {
  out[threadIdx.x] = tex2DLayeredLod<unsigned>(view, (threadIdx.x + 0.5f) / 4, 0.5f, 0, 0);
}

static int wrong;
static void good(cudaError_t e) {
  if (e != cudaSuccess) printf("%s\n", cudaGetErrorName(e)), wrong++;
}

static cudaTextureObject_t texture_of(cudaResourceDesc r, const cudaResourceViewDesc *v, bool filter) {
  cudaTextureDesc t = {};
  t.addressMode[0] = t.addressMode[1] = cudaAddressModeClamp;
  t.filterMode = t.mipmapFilterMode = filter ? cudaFilterModeLinear : cudaFilterModePoint;
  t.normalizedCoords = 1;
  t.maxMipmapLevelClamp = LEVELS;
  cudaTextureObject_t out = 0;
  good(cudaCreateTextureObject(&out, &r, &t, v));
  return out;
}

static cudaResourceDesc of(cudaArray_t a) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  return r;
}
static cudaResourceDesc of(cudaMipmappedArray_t m) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeMipmappedArray;
  r.res.mipmap.mipmap = m;
  return r;
}

int main(int argc, char **) {
  cudaMipmappedArray_t mip;
  cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  good(cudaMallocMipmappedArray(&mip, &floats, make_cudaExtent(W, H, 0), 100, cudaArraySurfaceLoadStore));
  cudaArray_t level[LEVELS], none;
  for (int i = 0; i < LEVELS; i++) good(cudaGetMipmappedArrayLevel(&level[i], mip, i));
  // 32, 16, 8, 4, 2, 1 texels: there are no more.
  wrong += cudaGetMipmappedArrayLevel(&none, mip, LEVELS) != cudaErrorInvalidValue;
  wrong += cudaFreeArray(level[1]) != cudaErrorInvalidValue;

  // Small integers, whose means over 512 texels are exact.
  std::vector<std::vector<float>> want(LEVELS);
  for (int i = 0; i < W * H; i++) want[0].push_back(i * 37 % 64);
  good(cudaMemcpy2DToArray(level[0], 0, 0, want[0].data(), W * sizeof(float), W * sizeof(float), H, cudaMemcpyHostToDevice));
  for (int i = 1; i < LEVELS; i++) {
    int w = W >> i, h = H >> i ? H >> i : 1, above = 2 * w, taller = H >> (i - 1) > 1;
    cudaExtent e;
    good(cudaArrayGetInfo(nullptr, &e, nullptr, level[i]));
    wrong += e.width != (size_t)w || e.height != (size_t)h;
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        const float *p = &want[i - 1][(taller ? 2 * y : 0) * above + 2 * x];
        float lower = p[0] + p[1], upper = taller ? p[above] + p[above + 1] : lower;
        want[i].push_back((lower + upper) / 4);
      }
    cudaSurfaceObject_t to;
    cudaResourceDesc r = of(level[i]);
    good(cudaCreateSurfaceObject(&to, &r));
    halve<<<dim3(2, 1), dim3(8, 8)>>>(texture_of(of(level[i - 1]), nullptr, true), to, w, h);
  }
  cudaTextureObject_t all = texture_of(of(mip), nullptr, true);
  float *result;
  cudaMalloc(&result, W * H * sizeof(float));
  std::vector<float> got(W * H);
  auto fetch = [&] { good(cudaMemcpy(got.data(), result, W * H * sizeof(float), cudaMemcpyDeviceToHost)); };

  // The middle of the texture is the corner of four texels, or the middle of the only one.
  read<<<H, W>>>(all, result, LEVELS - 1);
  fetch();
  for (float v : got) wrong += v != want[LEVELS - 1][0];
  read<<<H, W>>>(all, result, 0.25f);
  fetch();
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      // Level 1 at the same place: a quarter of a texel from the middle of one towards the next.
      auto at = [&](int i, int j) { return want[1][(j < 0 ? 0 : j >= H / 2 ? H / 2 - 1 : j) * W / 2 + (i < 0 ? 0 : i >= W / 2 ? W / 2 - 1 : i)]; };
      int i = x / 2, j = y / 2, di = x % 2 ? 1 : -1, dj = y % 2 ? 1 : -1;
      float second = (9 * at(i, j) + 3 * at(i + di, j) + 3 * at(i, j + dj) + at(i + di, j + dj)) / 16;
      wrong += std::fabs(got[y * W + x] - (0.75f * want[0][y * W + x] + 0.25f * second)) > 1e-4f;
    }
  shrink<<<1, dim3(W / 4, H / 4)>>>(all, result);
  fetch();
  for (int i = 0; i < W * H / 16; i++) wrong += got[i] != want[2][i];

  cudaSurfaceObject_t second;
  cudaResourceDesc r = of(level[1]);
  good(cudaCreateSurfaceObject(&second, &r));
  if (argc > 1) overwrite<<<1, W / 2>>>(all, second, result);

  cudaMipmappedArray_t layers;
  cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar4>();
  good(cudaMallocMipmappedArray(&layers, &bytes, make_cudaExtent(8, 2, 3), 2, cudaArrayLayered));
  unsigned char texels[3][4][4];
  for (int i = 0; i < 48; i++) (&texels[0][0][0])[i] = i;
  cudaMemcpy3DParms p = {};
  good(cudaGetMipmappedArrayLevel(&p.dstArray, layers, 1));
  p.srcPtr = make_cudaPitchedPtr(texels, 16, 16, 1);
  p.extent = make_cudaExtent(4, 1, 3);
  p.kind = cudaMemcpyHostToDevice;
  good(cudaMemcpy3D(&p));
  cudaResourceViewDesc v = {cudaResViewFormatUnsignedInt1, 8, 2, 3, 1, 1, 1, 1}, same;
  cudaTextureObject_t view = texture_of(of(layers), &v, false);
  good(cudaGetTextureObjectResourceViewDesc(&same, view));
  wrong += same.firstLayer != 1;
  words<<<1, 4>>>(view, (unsigned *)result);
  unsigned seen[4];
  cudaMemcpy(seen, result, sizeof seen, cudaMemcpyDeviceToHost);
  for (unsigned i = 0; i < 4; i++) wrong += seen[i] != 0x13121110 + 0x04040404 * i;

  // Views that are none of the array: another size, levels and layers that it does not have, wider texels.
  cudaTextureObject_t bad;
  cudaTextureDesc t = {};
  t.normalizedCoords = 1;
  cudaResourceDesc whole = of(layers);
  cudaResourceViewDesc bads[] = {{cudaResViewFormatNone, 4, 2, 3, 0, 1, 0, 2}, {cudaResViewFormatNone, 8, 2, 3, 0, 2, 0, 2},
                                 {cudaResViewFormatNone, 8, 2, 3, 0, 1, 0, 3}, {cudaResViewFormatUnsignedInt2, 8, 2, 3, 0, 1, 0, 2},
                                 {cudaResViewFormatNone, 8, 2, 3, 1, 0, 0, 2}};
  for (auto &b : bads) wrong += cudaCreateTextureObject(&bad, &whole, &t, &b) != cudaErrorInvalidValue;
  good(cudaFreeMipmappedArray(layers));
  good(cudaFreeMipmappedArray(mip));
  wrong += cudaFreeMipmappedArray(mip) != cudaErrorInvalidValue;
  cudaFree(result);
  (void)cudaGetLastError();
  printf("%d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
}
