// What device code cannot do.

// part: the grids that the others launch
__global__ void fill(int *out) { out[threadIdx.x] = 1; }

// unsupported "CUDA 12 has removed it from device code": CUDA 12 rejects it ("CDP1 vs CDP2")
// heddle: grid=1 block=1
__global__ void waits(int *out) {
    fill<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    out[0] = out[1];
}

// unsupported "graphs that device code launches are not supported": a limit of heddle ("Device Graph Launch")
// heddle: grid=1 block=1
__global__ void graph(int *out) { cudaGraphLaunch(*(cudaGraphExec_t *)out, cudaStreamGraphFireAndForget); }

// unsupported "graphs that device code launches are not supported": the graph of the kernel itself
// heddle: grid=1 block=1
__global__ void own_graph(int *out) { cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch); }
