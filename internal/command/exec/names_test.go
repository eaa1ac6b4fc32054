package exec_test

import (
	"debug/elf"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/testing/program"
)

// versioned are the functions of the driver that cuda.h of CUDA 11 or 12 gives names with _v2.
const versioned = `cuDeviceTotalMem cuCtxCreate cuModuleGetGlobal cuMemGetInfo cuMemAlloc
	cuMemAllocPitch cuMemFree cuMemGetAddressRange cuMemAllocHost cuMemHostGetDevicePointer
	cuMemcpyHtoD cuMemcpyDtoH cuMemcpyDtoD cuMemcpyHtoA cuMemcpyAtoH cuMemcpy2D cuMemcpy2DUnaligned
	cuMemcpy3D cuMemcpyHtoDAsync cuMemcpyDtoHAsync cuMemcpyDtoDAsync cuMemcpy2DAsync
	cuMemcpy3DAsync cuMemsetD8 cuMemsetD16 cuMemsetD32 cuMemsetD2D8 cuMemsetD2D16 cuMemsetD2D32
	cuArrayCreate cuArray3DCreate cuCtxDestroy cuCtxPopCurrent cuCtxPushCurrent cuStreamDestroy
	cuEventDestroy cuLinkCreate cuLinkAddData cuMemHostRegister cuDevicePrimaryCtxRelease
	cuDevicePrimaryCtxReset cuDevicePrimaryCtxSetFlags cuGetProcAddress cuDeviceGetUuid`

// TestNames: a program finds the driver's functions by their names in NVIDIA's cuda.h, if heddle
// has linked it and in the shared library. 98 is cudaErrorInvalidDeviceFunction.
func TestNames(t *testing.T) {
	path := program.Build(t, "testdata/names.cu")
	const want = "error 0, _Z4bumpiPi, 4 bytes, 12 12, then error 98\n"
	if r := start(t, []string{path}, nil); r.stdout != want || r.stderr != "" {
		t.Errorf("output %q, errors %q, want %q", r.stdout, r.stderr, want)
	}
	dir, err := program.Builder(t).SharedRuntime(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, filepath.Join(dir, "libcuda.so.1")} {
		f, err := elf.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := f.DynamicSymbols()
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		for name := range strings.FieldsSeq(versioned) {
			if !slices.ContainsFunc(symbols, func(s elf.Symbol) bool {
				return s.Name == name+"_v2" && s.Section != elf.SHN_UNDEF
			}) {
				t.Errorf("%s has no %s_v2", file, name)
			}
		}
	}
}
