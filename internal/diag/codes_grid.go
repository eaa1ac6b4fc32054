package diag

var gridDocs = []Doc{
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
