package lower

import (
	"strings"
	"testing"
)

// User macros, by -D or #define before an #include, may have any name that the language does not
// reserve (ISO C++ [macro.names], [lex.name]); the headers must not use such names for themselves.
// x, y, z, w and f are members of CUDA's vectors and of cudaChannelFormatDesc. For the C++ library,
// which may be the system's, only capital letters are tested: it has members such as a() and b().
func TestHeadersUseReservedNames(t *testing.T) {
	const library = "#include <algorithm>\n#include <cmath>\n#include <cstdio>\n#include <iostream>\n#include <limits>\n#include <numeric>\n" +
		"#include <string>\n#include <type_traits>\n#include <utility>\n#include <vector>\n#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n#include <curand_kernel.h>\n" +
		"#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n#include <mma.h>\n#include <cuda/pipeline>\n#include <cuda_pipeline.h>\n#include <cooperative_groups/memcpy_async.h>\n#include <heddle.h>\n"
	for _, c := range []struct{ names, include string }{
		{"ABCDEFGHIJKLMNOPQRSTUVWXYZ", library},
		{"abcdeghijklmnopqrstuv", ""},
	} {
		opt := Options{NoCache: true} // parsed, not precompiled
		for _, n := range strings.Split(c.names, "") {
			opt.Defines = append(opt.Defines, n+"=@")
		}
		lowerSource(
			t, c.include+"__global__ void kernel(float *out) { out[threadIdx.x] = sqrtf(1.5f); }\n", opt)
	}
}
