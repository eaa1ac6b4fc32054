package diag

var memoryDocs = []Doc{
	{
		Code: CodeOutOfBounds, Family: Bugs,
		Title: "an access is outside the memory object that it belongs to",
		Text: `An address lies in no object: beyond the shared memory of the block, outside a __device__ array, outside a buffer
whose size was given (--arg in=zero:4096), or at null. A pointer argument without a size is a buffer without bound, so
that heddle does not guess. If the launch was guessed, check first whether it is one that the kernel is meant for.

The run ends there, and later code is not checked.`,
		Fix: `Guard the access (if (i < n)), or give the launch the shared memory (--shared), the sizes and the values that the
kernel is meant for.`,
		Example: Example{
			File: "beyond.cu",
			Text: `__global__ void k(int *out) {
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x; // 64 threads
    __syncthreads();
    out[threadIdx.x] = s[0];
}
`,
			Flags: []string{"--grid", "1", "--block", "64"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[0];
}
`,
		},
	},
	{
		Code: CodeMisaligned, Family: Bugs,
		Title: "an address is no multiple of the size of its access",
		Text: `Every access must be aligned to its size, a vector access to the size of the whole vector (PTX ISA 6.4.1.1). The hardware
stops the kernel with "misaligned address".`,
		Fix: `Access the data with its own type, or align the buffer and the offset: __align__(16) for a float4.`,
		Example: Example{
			File: "odd.cu",
			Text: `__global__ void k(char *buf) {
    *(int *)(buf + 4 * threadIdx.x + 1) = 0;
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(char *buf) {
    *(int *)(buf + 4 * threadIdx.x) = 0;
}
`,
		},
	},
	{
		Code: CodeTrap, Family: Bugs,
		Title: "the kernel executed a trap",
		Text:  `The kernel reached a trap instruction: __trap(), or code that the compiler considers unreachable.`,
		Fix:   `See what led there: the report names the thread.`,
		Example: Example{
			File: "trap.cu",
			Text: `__global__ void k(int *in) {
    if (in[threadIdx.x] == 0)
        __trap();
}
`,
			Flags: []string{"--grid", "1", "--block", "32", "--arg", "in=zero"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *in) {
    if (in[threadIdx.x] == 0)
        return;
    in[threadIdx.x] = 1 / in[threadIdx.x];
}
`,
		},
	},
	{
		Code: CodeAssertFailed, Family: Bugs,
		Title: "an assert of the kernel failed",
		Text:  `The condition of an assert() was false for the thread that is named.`,
		Fix:   `Repair what the assertion states, or give the inputs that it requires.`,
		Example: Example{
			File: "assert.cu",
			Text: `#include <cassert>
__global__ void k(int n) {
    assert(n > 0);
}
`,
			Flags: []string{"--grid", "1", "--block", "32", "--arg", "n=0"},
		},
		Fixed: Example{
			Flags: []string{"--grid", "1", "--block", "32", "--arg", "n=1"},
		},
	},
	{
		Code: CodeAnnotation, Family: Bugs,
		Title: "an annotation of heddle.h does not hold",
		Text: `The condition of an __assert, an __invariant, an __ensures, or of the __requires of a function that the kernel calls was
false for the thread that is named. Unlike a failed assert(), it does not end the run. Conditions that one thread's
execution does not decide (on other threads, on accesses made so far, on the function's result) are checked by
` + "`heddle verify`" + ` only.`,
		Fix: `Repair the annotation or what it states; or state with __requires which inputs the kernel is meant for.`,
		Example: Example{
			File: "annotated.cu",
			Text: `#include "heddle.h"
__global__ void k(int n) {
    __assert(threadIdx.x < n);
}
`,
			Flags: []string{"--grid", "1", "--block", "32", "--arg", "n=16"},
		},
		Fixed: Example{
			Text: `#include "heddle.h"
__global__ void k(int n) {
    if (threadIdx.x >= n)
        return;
    __assert(threadIdx.x < n);
}
`,
		},
	},
	{
		Code: CodeStackOverflow, Family: Bugs,
		Title: "calls nest too deeply",
		Text:  `Device functions call each other, or themselves, beyond the depth that a thread's stack has room for.`,
		Fix:   `Bound the recursion, or make it a loop with a stack of its own.`,
		Example: Example{
			File: "deep.cu",
			Text: `__device__ __attribute__((noinline)) int depth(int *p, int n) {
    return p[n] < 0 ? n : 1 + depth(p, n + 1);
}
__global__ void k(int *in, int *out) { out[threadIdx.x] = depth(in, 0); }
`,
			Flags: []string{"--grid", "1", "--block", "1", "--arg", "in=zero"},
		},
		Fixed: Example{
			Text: `__device__ int depth(int *p, int n) {
    while (n < 1000 && p[n] >= 0)
        n++;
    return n;
}
__global__ void k(int *in, int *out) { out[threadIdx.x] = depth(in, 0); }
`,
		},
	},
}
