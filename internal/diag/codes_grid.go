package diag

var gridDocs = []Doc{
	{
		Code: CodeRaceGrid, Family: Bugs,
		Title: "a grid that a kernel launches races with the kernel or with another such grid",
		Text: `A thread of a kernel launches a grid (CUDA Dynamic Parallelism). The grid begins with what
the thread knows at the launch: its own writes before, and those of other threads that a barrier has
put before. Nothing else is ordered:

- A kernel cannot wait for a grid that it launches, since CUDA 12 has no cudaDeviceSynchronize() in
  device code, and a barrier waits for threads only. So no thread of the kernel may read what the
  grid writes, or write what it accesses, behind the launch.
- Grids that threads of one block launch into the NULL stream follow each other, as do those in a
  stream that the device has created. The NULL streams of two blocks are different ones, and
  launches into cudaStreamFireAndForget are in no order.
- A grid that is launched into cudaStreamTailLaunch begins when the kernel and all its other grids
  have ended.

The finding names both accesses and the launches. A grid below the launched one counts as part of
it. Grids that signal each other or their kernel through flags, by atomic operations with fences,
are taken to do so rightly.`,
		Fix: `Let the kernel do everything that the grid needs before the launch, with a barrier if
several threads do it, and launch what needs the results into cudaStreamTailLaunch or into the same
stream.`,
		Example: Example{
			File: "sum.cu",
			Text: `__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
__global__ void first(int *p, int *out) { *out = p[0]; }
// heddle: grid=1 block=1
__global__ void parent(int *p, int *out) {
    twice<<<1, 32>>>(p);
    *out = p[0]; // the grid may not have begun
}
`,
			Flags: []string{"--kernel", "parent"},
		},
		Fixed: Example{
			Text: `__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
__global__ void first(int *p, int *out) { *out = p[0]; }
// heddle: grid=1 block=1
__global__ void parent(int *p, int *out) {
    twice<<<1, 32>>>(p);
    first<<<1, 1, 0, cudaStreamTailLaunch>>>(p, out);
}
`,
		},
	},
	{
		Code: CodeEarlyAccess, Family: Bugs,
		Title: "global memory is accessed before the wait for earlier grids",
		Text: `A kernel that executes griddepcontrol.wait (cudaGridDependencySynchronize() in CUDA) may be
launched while the grids before it in the stream still run (programmatic dependent launch). What
they write is there behind the wait, for the thread that waits and for those that synchronize with
it afterwards (PTX ISA 9.7.13.13). A thread that reads global memory before that may read what the
earlier grids have not written yet, and one that writes there may overwrite what they still use.
griddepcontrol.launch_dependents orders nothing.

This is a warning, which does not change the verdict: heddle examines one kernel and does not know
what the grids before it access. Memory that they do not touch, such as weights, may be accessed
early, and that is what such launches are for. Synchronization with a waiting thread of the same
block or cluster counts; through a flag in global memory it does not.

heddle exec knows the launches of a program. There it is an error, if a launch with the attribute
programmaticStreamSerialization accesses early what the launch before it in the stream accesses, one
of them writes, and that launch executes griddepcontrol.launch_dependents. Other launches give no
warning. A kernel that never waits accesses everything early.`,
		Fix: `Move the access behind the wait, or the wait in front of the access. If one thread waits for
its block, a barrier must follow the wait. If no earlier grid writes the memory, put a comment
heddle:ignore pdl-early-access with the reason in front of the access.`,
		Example: Example{
			File: "scale.cu",
			Text: `__global__ void scale(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i]; // the kernel before may not have written it
    cudaGridDependencySynchronize();
    out[i] = 2 * x;
}
`,
			Flags: []string{"--arch", "sm_90", "--grid", "4", "--block", "128"},
		},
		Fixed: Example{
			Text: `__global__ void scale(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cudaGridDependencySynchronize();
    out[i] = 2 * in[i];
}
`,
		},
	},
}
