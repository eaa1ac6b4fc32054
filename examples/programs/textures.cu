// An image of 40 x 30 pixels goes through textures of three kinds (linear memory, pitched memory and
// an array) and through a surface. Each result is compared with the formulas of the CUDA C++
// Programming Guide, "Texture Fetching", on the host.
#include <cmath>
#include <cstdio>
#include <vector>

const int W = 40, H = 30;

__global__ void invert(cudaTextureObject_t in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < W * H) out[i] = 1 - tex1Dfetch<float>(in, i);
}

// Scales the image by two; the texture interpolates.
__global__ void enlarge(cudaTextureObject_t in, float *out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 2 * W && y < 2 * H) out[y * 2 * W + x] = tex2D<float>(in, (x + 0.5f) / 2, (y + 0.5f) / 2);
}

// Rotates the image by a quarter, from a texture with normalized coordinates to a surface.
__global__ void rotate(cudaTextureObject_t in, cudaSurfaceObject_t out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < H && y < W)
    surf2Dwrite(tex2D<float>(in, (y + 0.5f) / W, 1 - (x + 0.5f) / H), out, x * sizeof(float), y);
}

// Reads colors of 8 bits, which the texture makes linear.
__global__ void linear_colors(cudaTextureObject_t in, float4 *out) { out[threadIdx.x] = tex1Dfetch<float4>(in, threadIdx.x); }

static cudaTextureObject_t texture_of(cudaResourceDesc r, bool filter, bool normalized) {
  cudaTextureDesc t = {};
  t.addressMode[0] = t.addressMode[1] = normalized ? cudaAddressModeWrap : cudaAddressModeClamp;
  t.filterMode = filter ? cudaFilterModeLinear : cudaFilterModePoint;
  t.normalizedCoords = normalized;
  cudaTextureObject_t out = 0;
  cudaError_t e = cudaCreateTextureObject(&out, &r, &t, nullptr);
  if (e != cudaSuccess) printf("cudaCreateTextureObject: %s\n", cudaGetErrorString(e));
  return out;
}

static std::vector<float> image;
static float at(int x, int y) {
  x = x < 0 ? 0 : x >= W ? W - 1 : x;
  y = y < 0 ? 0 : y >= H ? H - 1 : y;
  return image[y * W + x];
}

int main() {
  for (int i = 0; i < W * H; i++) image.push_back((i * 37 % 64) / 64.0f);
  int wrong = 0;

  float *linear, *result;
  cudaMalloc(&linear, W * H * sizeof(float));
  cudaMalloc(&result, 4 * W * H * sizeof(float));
  cudaMemcpy(linear, image.data(), W * H * sizeof(float), cudaMemcpyHostToDevice);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = linear;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  r.res.linear.sizeInBytes = W * H * sizeof(float);
  cudaTextureObject_t a = texture_of(r, false, false);
  invert<<<(W * H + 127) / 128, 128>>>(a, result);
  std::vector<float> got(4 * W * H);
  cudaMemcpy(got.data(), result, W * H * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < W * H; i++) wrong += got[i] != 1 - image[i];

  float *rows;
  size_t pitch;
  cudaMallocPitch(&rows, &pitch, W * sizeof(float), H);
  cudaMemcpy2D(rows, pitch, image.data(), W * sizeof(float), W * sizeof(float), H, cudaMemcpyHostToDevice);
  r = {};
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D.devPtr = rows;
  r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  r.res.pitch2D.width = W;
  r.res.pitch2D.height = H;
  r.res.pitch2D.pitchInBytes = pitch;
  cudaTextureObject_t b = texture_of(r, true, false);
  enlarge<<<dim3(5, 4), dim3(16, 16)>>>(b, result);
  cudaMemcpy(got.data(), result, 4 * W * H * sizeof(float), cudaMemcpyDeviceToHost);
  for (int y = 0; y < 2 * H; y++)
    for (int x = 0; x < 2 * W; x++) {
      // xB = x - 0.5; the fractions are 1/4 and 3/4, which 8 bits represent exactly
      float u = (x + 0.5f) / 2 - 0.5f, v = (y + 0.5f) / 2 - 0.5f;
      int i = (int)floorf(u), j = (int)floorf(v);
      float p = u - i, q = v - j;
      float want = (1 - p) * (1 - q) * at(i, j) + p * (1 - q) * at(i + 1, j) + (1 - p) * q * at(i, j + 1) +
                   p * q * at(i + 1, j + 1);
      wrong += got[y * 2 * W + x] != want;
    }

  uchar4 *colors, color[64];
  float4 *values, value[64];
  for (int k = 0; k < 64; k++) color[k] = make_uchar4(k, 4 * k, 255 - k, 3 * k);
  cudaMalloc(&colors, sizeof color);
  cudaMalloc(&values, sizeof value);
  cudaMemcpy(colors, color, sizeof color, cudaMemcpyHostToDevice);
  r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = colors;
  r.res.linear.desc = cudaCreateChannelDesc<uchar4>();
  r.res.linear.sizeInBytes = sizeof color;
  cudaTextureDesc srgb = {};
  srgb.readMode = cudaReadModeNormalizedFloat;
  srgb.sRGB = 1;
  cudaTextureObject_t d = 0;
  cudaCreateTextureObject(&d, &r, &srgb, nullptr);
  linear_colors<<<1, 64>>>(d, values);
  cudaMemcpy(value, values, sizeof value, cudaMemcpyDeviceToHost);
  for (int k = 0; k < 64; k++) {
    float c = color[k].y / 255.0f; // IEC 61966-2-1
    float want = c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
    wrong += fabsf(value[k].y - want) > 1e-6f || fabsf(value[k].w - color[k].w / 255.0f) > 1e-6f;
  }

  cudaArray_t from, to;
  cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
  cudaMallocArray(&from, &desc, W, H);
  cudaMallocArray(&to, &desc, H, W, cudaArraySurfaceLoadStore);
  cudaMemcpy2DToArray(from, 0, 0, image.data(), W * sizeof(float), W * sizeof(float), H, cudaMemcpyHostToDevice);
  r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = from;
  cudaTextureObject_t c = texture_of(r, false, true);
  r.res.array.array = to;
  cudaSurfaceObject_t surface;
  cudaCreateSurfaceObject(&surface, &r);
  rotate<<<dim3(3, 4), dim3(16, 16)>>>(c, surface);
  cudaMemcpy2DFromArray(got.data(), H * sizeof(float), to, 0, 0, H * sizeof(float), W, cudaMemcpyDeviceToHost);
  for (int y = 0; y < W; y++)
    for (int x = 0; x < H; x++) wrong += got[y * H + x] != at(y, H - 1 - x);

  cudaDestroyTextureObject(a);
  cudaDestroyTextureObject(b);
  cudaDestroyTextureObject(c);
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(from);
  cudaFreeArray(to);
  cudaFree(rows);
  cudaFree(linear);
  cudaFree(result);
  printf("%d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
  return wrong != 0;
}
