// Half a warp waits at __syncwarp for lanes that wait at __syncthreads for them.
// Why: bar.warp.sync waits for all lanes of its mask (PTX ISA 9.7.13.2), bar.sync for all threads of the warp.
// expect: bug
// heddle: grid=1 block=32
__global__ void k(int *out) {
    if (threadIdx.x < 16)
        __syncwarp(); // want warp-sync-hang
    else
        __syncthreads(); // want warp-sync-hang
    out[threadIdx.x] = 1;
}
