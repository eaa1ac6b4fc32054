// A work-stealing deque: its owner pushes and takes at the bottom, thieves steal at the top.
// Why: Chase and Lev (SPAA 2005), with the fences of Le, Pop, Cohen and Zappa Nardelli (PPoPP
// 2013). The owner stores bottom and loads top, a thief loads top and then bottom, and only
// fence.sc orders a store before a load (PTX ISA 8.9.4, 8.10.2). Without it the owner may read an
// old top, and take what a thief has stolen. Without a release before the store of bottom, a thief
// that sees the new bottom may read an old item.
// explore: right 2 1 verified
// explore: right 2 2 long
// explore: weak_take 2 1 bug block 0 thread 0 reads top = 0 \(initial value\)
// explore: no_publish 2 1 bug reads item\[0\] = 0 \(initial value\)

__device__ int top, bottom, item[4], done[4];

__device__ int get(int *p) { return *(volatile int *)p; }
__device__ void set(int *p, int v) { *(volatile int *)p = v; }
__device__ void acquire_release() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
__device__ void sequential() { asm volatile("fence.sc.gpu;" ::: "memory"); }

__device__ void push(int v, bool publish) {
    int b = get(&bottom);
    item[b] = v;
    if (publish) acquire_release();
    set(&bottom, b + 1);
}

__device__ int take(bool strong) {
    int b = get(&bottom) - 1;
    set(&bottom, b);
    if (strong) sequential();
    else acquire_release();
    int t = get(&top);
    if (t < b) return item[b];
    int v = t == b && atomicCAS(&top, t, t + 1) == t ? item[b] : 0;
    set(&bottom, b + 1);
    return v;
}

__device__ int steal() {
    int t = get(&top);
    sequential();
    int b = get(&bottom);
    if (t >= b) return 0;
    acquire_release();
    int v = item[t];
    return atomicCAS(&top, t, t + 1) == t ? v : 0;
}

// Each item is taken once, so that nobody else writes its entry of done.
__device__ void use(int v) {
    if (v) done[v] += 1;
}

__device__ void share(bool publish, bool strong) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        push(1, publish);
        push(2, publish);
        use(take(strong));
    } else {
        for (int i = blockDim.x; i < 3; i++) // a thief alone steals twice
            use(steal());
    }
}

__global__ void right() { share(true, true); }
__global__ void weak_take() { share(true, false); }
__global__ void no_publish() { share(false, true); }
