package exec_test

import (
	"slices"
	"strings"
	"testing"

	"heddle/internal/command/exec"
	"heddle/internal/host"
	"heddle/internal/testing/long"
	"heddle/internal/testing/program"
)

// apiPrologue begins the programs of these tests: E prints the name of the error of a call.
const apiPrologue = `#include <cstdio>
#include <cuda.h>
#include <dlfcn.h>
#include <thread>
__global__ void work(int *p) { p[threadIdx.x] = threadIdx.x; }
__global__ void fetch(cudaTextureObject_t t, float *p) { p[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }
#define E(CALL) printf("%s\n", cudaGetErrorName(CALL))
static cudaResourceDesc linear(void *p, cudaChannelFormatDesc d) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = p;
  r.res.linear.desc = d;
  r.res.linear.sizeInBytes = 1024;
  return r;
}
int main() {
  int *p;
  cudaMalloc(&p, 4096);
`

// apiErrors are calls that fail, and the errors that CUDA gives.
var apiErrors = []struct {
	name, body  string
	want        []string // lines of the output, without "cudaError" at the start
	unsupported []string
	findings    []string
}{
	// CUDA Runtime API, cudaError: 26 and 27 name these cases; cudaTextureObject: device memory
	// must be aligned to textureAlignment.
	{name: "textures", body: `cudaTextureObject_t t; cudaTextureDesc d = {};
			cudaResourceDesc r = linear(p, cudaCreateChannelDesc<int>());
			cudaResourceDesc q = r; q.resType = cudaResourceTypePitch2D; q.res.pitch2D.devPtr = p;
			q.res.pitch2D.desc = cudaCreateChannelDesc<int>(); q.res.pitch2D.width = q.res.pitch2D.height = 8;
			q.res.pitch2D.pitchInBytes = 32;
			d.filterMode = cudaFilterModeLinear; E(cudaCreateTextureObject(&t, &q, &d, nullptr));
			d = {}; d.readMode = cudaReadModeNormalizedFloat; E(cudaCreateTextureObject(&t, &r, &d, nullptr));
			d = {}; r.res.linear.devPtr = p + 1; E(cudaCreateTextureObject(&t, &r, &d, nullptr));
			r.res.linear.desc = cudaCreateChannelDesc(5, 0, 0, 0, cudaChannelFormatKindUnsigned);
			E(cudaCreateTextureObject(&t, &r, &d, nullptr)); E(cudaDestroyTextureObject(77));`,
		want: []string{"InvalidFilterSetting", "InvalidNormSetting", "InvalidValue",
			"InvalidChannelDescriptor", "InvalidValue"}},
	// A surface needs cudaArraySurfaceLoadStore (CUDA Runtime API, cudaMallocArray); copies must
	// stay in the array.
	{name: "arrays", body: `cudaArray_t a; cudaChannelFormatDesc d = cudaCreateChannelDesc<float>(); char h[64];
			E(cudaMallocArray(&a, &d, 4, 4)); cudaSurfaceObject_t s; cudaResourceDesc r = {};
			r.resType = cudaResourceTypeArray; r.res.array.array = a; E(cudaCreateSurfaceObject(&s, &r));
			E(cudaMemcpy2DToArray(a, 0, 1, h, 16, 16, 4, cudaMemcpyHostToDevice));
			E(cudaMemcpy2DToArray(a, 0, 0, h, 16, 16, 4, cudaMemcpyHostToDevice));
			E(cudaFreeArray(a)); E(cudaFreeArray(a)); d.x = 7; E(cudaMallocArray(&a, &d, 4, 4));`,
		want: []string{"Success", "InvalidValue", "InvalidValue", "Success", "Success", "InvalidValue",
			"InvalidChannelDescriptor"}},
	// The runtime has the version of its headers, and the driver is not older: programs test that
	// (CUDA C++ Programming Guide, "Versioning and Compatibility").
	{name: "versions", body: `int d, r; E(cudaDriverGetVersion(&d)); E(cudaRuntimeGetVersion(&r));
			printf("%d %d\n", r == CUDART_VERSION, d >= r);`,
		want: []string{"Success", "Success", "1", "1"}},
	// Attributes that only libcu++ asks for: the properties of the same meaning, and the limits of
	// the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". A device
	// without a NUMA node has the identifier -1.
	{name: "attributes", body: `cudaDeviceProp d; cudaGetDeviceProperties(&d, 0);
			auto is = [](cudaDeviceAttr a, long want) {
				int got = -9; E(cudaDeviceGetAttribute(&got, a, 0)); printf("%d ", got == want); };
			is(cudaDevAttrMaxPersistingL2CacheSize, d.persistingL2CacheMaxSize);
			is(cudaDevAttrTexturePitchAlignment, d.texturePitchAlignment);
			is(cudaDevAttrMaxSurface2DWidth, 131072); is(cudaDevAttrMaxTextureCubemapLayeredLayers, 2046);
			is(cudaDevAttrNumaId, -1);
			is(cudaDevAttrMemoryPoolSupportedHandleTypes, cudaMemHandleTypeNone);`,
		want: strings.Fields("Success 1 Success 1 Success 1 Success 1 Success 1 Success 1")},
	// libcu++ loads the driver and asks it for its functions. The runtime is part of the program,
	// and has them; the names of other libraries stay what they are.
	{name: "loaded driver", body: `void *h = dlopen("libcuda.so.1", RTLD_NOW), *f = nullptr;
			CUdriverProcAddressQueryResult r; int n = 0;
			auto address = (decltype(cuGetProcAddress) *)dlsym(h, "cuGetProcAddress_v2");
			printf("%d ", address("cuDeviceGetCount", &f, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &r));
			printf("%d %d ", ((decltype(cuDeviceGetCount) *)f)(&n), n);
			printf("%d ", dlopen("libheddle_does_not_exist.so", RTLD_NOW) == nullptr);`,
		want: []string{"0", "0", "1", "1"}},
	// A stream that a program creates belongs to a context, so that its work needs no current one;
	// that of a default stream does. libcu++ calls the driver so (cuda::stream, memory pools).
	{name: "context of a stream", body: `CUcontext c, of; CUstream s; CUdeviceptr q; CUevent e;
			CUmemoryPool m; cuInit(0);
			auto work = [&](CUstream s) {
				printf("%d %d ", cuMemAllocFromPoolAsync(&q, 64, m, s), cuMemsetD8Async(q, 1, 64, s));
				printf("%d %d ", cuEventRecord(e, s), cuStreamSynchronize(s)); };
			cuDevicePrimaryCtxRetain(&c, 0); cuCtxCreate(&c, 0, 0);
			cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
			cuEventCreate(&e, 0); cuDeviceGetDefaultMemPool(&m, 0); cuCtxPopCurrent(&of); CUdevice d = 7;
			std::thread([&] { work(s); printf("%d ", cuEventSynchronize(e));
				printf("%d ", cuStreamGetCtx(s, &of)); printf("%d ", of == c);
				printf("%d ", cuStreamGetDevice(s, &d)); printf("%d ", d);
				work(0); printf("%d %d", cuStreamGetCtx(0, &of), cuStreamGetDevice(0, &d)); }).join();`,
		want: strings.Fields("0 0 0 0 0 0 1 0 0 201 201 201 201 201 201")},
	// CUDA Runtime API, cudaTextureDesc and cudaResourceViewDesc: mipmapped arrays need normalized
	// coordinates, integers are not filtered, a view is of an array. The driver's are the same.
	{name: "mipmaps", body: `cudaMipmappedArray_t m; cudaChannelFormatDesc f = cudaCreateChannelDesc<int>();
			E(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(4, 4, 0), 2));
			cudaTextureObject_t t; cudaTextureDesc d = {}; cudaResourceDesc r = {};
			r.resType = cudaResourceTypeMipmappedArray; r.res.mipmap.mipmap = m;
			E(cudaCreateTextureObject(&t, &r, &d, nullptr));
			d.normalizedCoords = 1; E(cudaCreateTextureObject(&t, &r, &d, nullptr));
			d.mipmapFilterMode = cudaFilterModeLinear; E(cudaCreateTextureObject(&t, &r, &d, nullptr));
			d = {}; r = linear(p, f); cudaResourceViewDesc v = {};
			E(cudaCreateTextureObject(&t, &r, &d, &v)); E(cudaFreeMipmappedArray(m));
			CUmipmappedArray n; CUarray a; CUDA_ARRAY3D_DESCRIPTOR s = {8, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0};
			printf("%d ", cuMipmappedArrayCreate(&n, &s, 9)); printf("%d ", cuMipmappedArrayGetLevel(&a, n, 3));
			printf("%d ", cuMipmappedArrayGetLevel(&a, n, 4)); printf("%d ", cuArrayDestroy(a));
			CUtexObject x; CUDA_RESOURCE_DESC q = {}; CUDA_TEXTURE_DESC e = {}; e.flags = CU_TRSF_NORMALIZED_COORDINATES;
			q.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY; q.res.mipmap.hMipmappedArray = n;
			printf("%d ", cuTexObjectCreate(&x, &q, &e, nullptr)); printf("%d", cuMipmappedArrayDestroy(n));`,
		want: strings.Fields("Success InvalidValue Success InvalidFilterSetting InvalidValue Success 0 0 1 1 0 0")},
	// What heddle does not have says so.
	{name: "compressed texels", body: `cudaArray_t a; cudaChannelFormatDesc f = cudaCreateChannelDesc<uint2>();
			cudaMallocArray(&a, &f, 4, 4); cudaTextureObject_t t; cudaTextureDesc d = {}; cudaResourceDesc r = {};
			r.res.array.array = a; cudaResourceViewDesc v = {cudaResViewFormatUnsignedBlockCompressed1, 16, 16};
			E(cudaCreateTextureObject(&t, &r, &d, &v));`,
		want:        []string{"NotSupported"},
		unsupported: []string{"a cudaResourceViewDesc with a block-compressed format"}},
	// A handle is not valid any more after cudaDestroyTextureObject.
	{name: "destroyed texture", body: `cudaTextureObject_t t; cudaTextureDesc d = {};
			cudaResourceDesc r = linear(p, cudaCreateChannelDesc<float>());
			E(cudaCreateTextureObject(&t, &r, &d, nullptr)); E(cudaDestroyTextureObject(t));
			fetch<<<1, 32>>>(t, (float *)p); E(cudaDeviceSynchronize());`,
		want: []string{"Success", "Success", "IllegalAddress"}, findings: []string{"out-of-bounds"}},
	// CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture": not on the legacy
	// stream; a synchronization is prohibited and invalidates the capture.
	{name: "capture", body: `cudaStream_t s; cudaGraph_t g; cudaStreamCreate(&s);
			E(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal)); E(cudaStreamEndCapture(s, &g));
			E(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
			E(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
			E(cudaStreamSynchronize(s)); work<<<1, 32, 0, s>>>(p); E(cudaGetLastError());
			E(cudaStreamEndCapture(s, &g)); work<<<1, 32, 0, s>>>(p); E(cudaStreamSynchronize(s));`,
		want: []string{"StreamCaptureUnsupported", "IllegalState", "Success", "IllegalState",
			"StreamCaptureUnsupported", "StreamCaptureInvalidated", "StreamCaptureInvalidated", "Success"}},
	// The legacy stream would wait for a blocking stream that is captured; a wait for an event that
	// was not recorded in the capture isolates nothing.
	{name: "capture and others", body: `cudaStream_t s; cudaGraph_t g; cudaEvent_t e; cudaStreamCreate(&s);
			cudaEventCreate(&e); cudaEventRecord(e, 0);
			E(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); work<<<1, 32>>>(p);
			E(cudaGetLastError()); E(cudaStreamEndCapture(s, &g));
			E(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); E(cudaStreamWaitEvent(s, e, 0));
			E(cudaStreamEndCapture(s, &g));
			E(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); E(cudaEventRecord(e, s));
			E(cudaEventSynchronize(e)); E(cudaStreamEndCapture(s, &g));`,
		want: []string{"Success", "StreamCaptureImplicit", "StreamCaptureInvalidated", "Success",
			"StreamCaptureIsolation", "StreamCaptureInvalidated", "Success", "Success", "CapturedEvent",
			"StreamCaptureInvalidated"}},
	// A stream may be destroyed before the end of the capture in which it takes part; what it was
	// asked to do must be joined all the same (CUDA C++ Programming Guide, "Cross-stream
	// Dependencies and Events").
	{name: "capture and a destroyed stream", body: `cudaStream_t s, q; cudaGraph_t g; cudaEvent_t e, f;
			cudaStreamCreate(&s); cudaEventCreate(&e); cudaEventCreate(&f);
			for (int join = 0; join < 2; join++) {
				cudaStreamCreate(&q); E(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
				cudaEventRecord(e, s); cudaStreamWaitEvent(q, e, 0); work<<<1, 32, 0, q>>>(p);
				cudaEventRecord(f, q); if (join) cudaStreamWaitEvent(s, f, 0);
				E(cudaStreamDestroy(q)); E(cudaStreamEndCapture(s, &g)); }`,
		want: []string{"Success", "Success", "StreamCaptureUnjoined", "Success", "Success", "Success"}},
	// Nodes that depend on each other cannot be executed; an update must keep the types of nodes.
	{name: "graphs", body: `cudaGraph_t g, h; cudaGraphNode_t n[2]; cudaGraphExec_t x; cudaGraphCreate(&g, 0);
			E(cudaGraphAddEmptyNode(&n[0], g, nullptr, 0)); E(cudaGraphAddEmptyNode(&n[1], g, n, 1));
			E(cudaGraphAddDependencies(g, n + 1, n, 1)); E(cudaGraphInstantiate(&x, g, 0));
			E(cudaGraphRemoveDependencies(g, n + 1, n, 1)); E(cudaGraphInstantiate(&x, g, 0));
			cudaGraphCreate(&h, 0); E(cudaGraphAddEmptyNode(n, h, nullptr, 0));
			cudaGraphExecUpdateResultInfo i; E(cudaGraphExecUpdate(x, h, &i)); printf("%d\n", i.result);
			E(cudaGraphLaunch(x, 0)); E(cudaGraphExecDestroy(x)); E(cudaGraphLaunch(x, 0));`,
		want: []string{"Success", "Success", "Success", "InvalidValue", "Success", "Success", "Success",
			"GraphExecUpdateFailure", "2", "Success", "Success", "InvalidValue"}},
}

// TestAPIErrors calls functions of the runtime wrongly.
func TestAPIErrors(t *testing.T) {
	for _, test := range apiErrors {
		t.Run(test.name, func(t *testing.T) {
			long.Sample(t, 3)
			got := start(t, []string{program.OfText(t, apiPrologue+test.body+"\n}\n")}, nil)
			lines := strings.Fields(strings.ReplaceAll(strings.ReplaceAll(got.stdout, "cudaError", ""),
				"cudaSuccess", "Success"))
			if !slices.Equal(lines, test.want) {
				t.Errorf("%q, want %q (%s)", lines, test.want, got.stderr)
			}
			got.expect(t, test.unsupported, test.findings)
		})
	}
}

// TestClusterOccupancy: as many clusters fit on a device as their blocks fit on its
// multiprocessors, two of 1024 threads on each. Clusters need compute capability 9.0.
func TestClusterOccupancy(t *testing.T) {
	const src = `#include <cstdio>
__global__ void work(int *p) { p[threadIdx.x] = threadIdx.x; }
int main() {
  cudaLaunchAttribute a[2]; cudaLaunchConfig_t c = {}; int size = -1, n = -1, failed = 0;
  c.gridDim = 8; c.blockDim = 1024; c.attrs = a;
  failed += cudaOccupancyMaxPotentialClusterSize(&size, work, &c);
  failed += cudaOccupancyMaxActiveClusters(&n, work, &c);
  printf("%d %d ", size, n);
  a[0].id = cudaLaunchAttributeClusterDimension; a[0].val.clusterDim = {2, 2, 1}; c.gridDim.y = 2;
  a[1].id = cudaLaunchAttributePreferredClusterDimension; a[1].val.preferredClusterDim = {4, 2, 1}; c.numAttrs = 2;
  failed += cudaOccupancyMaxActiveClusters(&n, work, &c);
  printf("%d %d", n, failed);
}
`
	for name, want := range map[string]string{"a100": "1 216 0 0", "h100": "8 264 66 0"} {
		gpu, err := host.FindGPU(name)
		if err != nil {
			t.Fatal(err)
		}
		got := start(t, []string{program.OfText(t, src)}, func(o *exec.Options) { o.GPU = gpu })
		if got.stdout != want {
			t.Errorf("%s: %q, want %q; %s", name, got.stdout, want, got.stderr)
		}
	}
}
