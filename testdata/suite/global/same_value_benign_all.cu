// Two blocks store the same value to one word, and the options tolerate that.
// Why: --benign all tolerates writes of one value between any threads, as GPUVerify does.
// expect: clean
// options: --benign all
// heddle: grid=2 block=64
__global__ void k(int *flag) {
    flag[0] = 1;
}
