package diag

var memoryDocs = []Doc{
	{
		Code: CodeOutOfBounds, Family: Bugs,
		Title: "an access is outside every memory object",
		Text: `The address lies in no memory object: past the end of the block's shared memory, outside a
__device__ array, outside a buffer with a known size (--arg in=zero:4096), or at null. The hardware
stops the kernel with an error, or the access silently corrupts other data. If heddle guessed the
launch, first check that the kernel is meant to be launched this way. A pointer argument without a
size is treated as an unbounded buffer, because heddle does not guess sizes.

The run goes on without the access: a read returns 0, a write is dropped. Other findings in which
the same thread takes part later have a note, because they may be consequences.`,
		Fix: `Guard the access (if (i < n)), or specify the shared memory (--shared), the sizes and the
values that the kernel is meant for.`,
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
		Title: "an address is not a multiple of the access size",
		Text: `Every access must be aligned to its size, and a vector access to the size of the whole
vector; otherwise the behavior is undefined (PTX ISA 6.4.1.1). The hardware stops the kernel with
"misaligned address". A run goes on without the access, as after an access out of bounds.`,
		Fix: `Access the data with its own type, or align the buffer and the offset: __align__(16) for a
float4.`,
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
		Text: `The kernel reached a trap instruction: __trap(), or code that the compiler considers
unreachable. A trap aborts the kernel and returns an error to the host (PTX ISA 9.7.19). The message
names the thread.`,
		Fix: `Find out why the thread reached the trap, and handle that case before.`,
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
		Text: `The condition of an assert() was false for the thread in the message. On a device, the
kernel stops and the host gets an error.`,
		Fix: `Make the condition true, or use inputs for which it holds.`,
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
		Text: `The condition of an __assert, an __invariant, an __ensures, or a __requires of a called
function was false for the thread in the message. Unlike a failed assert(), this does not end the
run. Conditions that concern more than the execution of one thread (other threads, accesses so far,
the function's result) are checked by ` + "`" + `heddle verify` + "`" + ` only.`,
		Fix: `Correct the annotation or the code it describes, or state with __requires which inputs the
kernel is meant for.`,
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
		Title: "the call stack is too deep",
		Text: `Device functions call each other or themselves so deeply that the thread's stack
overflows. On a device, the thread then overwrites other memory or the kernel stops.`,
		Fix: `Bound the recursion, or turn it into a loop with an explicit stack.`,
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
	{
		Code: CodeLeak, Family: Bugs,
		Title: "device, managed or pinned memory is never freed",
		Text: `The program ended, and memory that this call has allocated was neither freed nor released by
cudaDeviceReset. heddle exec reports it with --leak-check only: a program that ends gives all of its
memory back in any case, but a library or a loop that leaks runs out of memory one day. Variables,
and memory of malloc in kernels, are not reported.`,
		Fix: `Free the memory with the function that belongs to the allocation: cudaFree, cudaFreeHost or
cudaFreeAsync, also on the paths that an error takes.`,
		Example: Example{
			Command: "exec", File: "leak.cu", Flags: []string{"--leak-check"},
			Text: `__global__ void fill(int *p) { p[threadIdx.x] = threadIdx.x; }

int main() {
    int *p;
    cudaMalloc(&p, 32 * sizeof(int));
    fill<<<1, 32>>>(p);
    return cudaDeviceSynchronize();
}
`,
		},
		Fixed: Example{
			Text: `__global__ void fill(int *p) { p[threadIdx.x] = threadIdx.x; }

int main() {
    int *p;
    cudaMalloc(&p, 32 * sizeof(int));
    fill<<<1, 32>>>(p);
    return cudaFree(p);
}
`,
		},
	},
	{
		Code: CodeUninitialised, Family: Bugs,
		Title: "a launch reads device memory that nothing has written",
		Text: `A launch reads bytes of memory of cudaMalloc that no copy, no memset, no earlier launch and
not the launch itself has written. Their values are those that another program or an earlier
allocation has left. heddle exec reports it with --init-check only: a kernel may read such bytes and
not use them, for instance the padding of a structure that it loads as a whole. Device memory holds
zeros here, so that the results of the program do not show the mistake.

What a launch writes counts as written for all of its reads, also for those before. Managed and
pinned memory, and variables, are not examined: the host writes to them as well.`,
		Fix: `Write the memory before the launch that reads it (cudaMemset, cudaMemcpy, another kernel), or
read only what was written: often a size or a stride of the launch is larger than that of the copy.`,
		Example: Example{
			Command: "exec", File: "uninitialized.cu", Flags: []string{"--init-check"},
			Text: `__global__ void add(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

int main() {
    int *in, *out, host[32] = {};
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
    add<<<1, 64>>>(in, out); // 32 numbers were copied
    return cudaDeviceSynchronize();
}
`,
		},
		Fixed: Example{
			Text: `__global__ void add(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

int main() {
    int *in, *out, host[64] = {};
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
    add<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize();
}
`,
		},
	},
}
