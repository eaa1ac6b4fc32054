package exec_test

import "testing"

// replaceFields has a kernel that changes a field of a map, in shared memory (from where it is
// copied to global memory), in global memory, or by a generic address of either, and then copies a
// box by it.
const replaceFields = `
#define FIELD(SS, NAME, TYPE, ...) asm volatile("tensormap.replace.tile." NAME SS ".b1024." TYPE ::"l"(p), ##__VA_ARGS__ : "memory")
#define REPLACE(SS)                                                                  \
  switch (field) {                                                                   \
  case 1: FIELD(SS, "global_address", "b64 [%0], %1;", "l"(value)); break;           \
  case 2: FIELD(SS, "rank", "b32 [%0], %1;", "r"((int)value)); break;                \
  case 3: FIELD(SS, "box_dim", "b32 [%0], 1, %1;", "r"((int)value)); break;          \
  case 4: FIELD(SS, "global_dim", "b32 [%0], 0, %1;", "r"((int)value)); break;       \
  case 5: FIELD(SS, "global_stride", "b64 [%0], 0, %1;", "l"(value)); break;         \
  case 6: FIELD(SS, "element_stride", "b32 [%0], 1, %1;", "r"((int)value)); break;   \
  case 7: FIELD(SS, "elemtype", "b32 [%0], 4;"); break;                              \
  case 8: FIELD(SS, "interleave_layout", "b32 [%0], 0;"); break;                     \
  case 9: FIELD(SS, "swizzle_mode", "b32 [%0], 1;"); break;                          \
  case 10: FIELD(SS, "fill_mode", "b32 [%0], 1;"); break;                            \
  case 11: FIELD(SS, "swizzle_atomicity", "b32 [%0], 0;"); break;                    \
  case 12: FIELD(SS, "interleave_layout", "b32 [%0], 2;"); break;                    \
  }
#define ACQUIRE(MAP) asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(MAP) : "memory")
#define RELEASE(SCOPE) asm volatile("fence.proxy.tensormap::generic.release." SCOPE ";" ::: "memory")
__global__ void k(MAP from, CUtensorMap *map, float *out, int how, int field, uint64_t value, int x, int y, int bytes) {
  alignas(1024) __shared__ float s[64];
  alignas(128) __shared__ CUtensorMap own;
  int t = threadIdx.x;
  CUtensorMap *to = how == 1 || how == 3 ? map : &own;
  ((int *)to)[t] = ((const int *)&from)[t];
  __syncwarp();
  if (t == 0) {
    if (how == 0) { uint64_t p = at(&own); REPLACE(".shared::cta") }
    if (how == 1) { uint64_t p = __cvta_generic_to_global(map); REPLACE(".global") }
    if (how > 1) { uint64_t p = (uint64_t)to; REPLACE("") }
  }
  __syncwarp();
  if (to == &own)
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
                 ::"l"(__cvta_generic_to_global(map)), "r"(at(&own)) : "memory");
  else RELEASE("gpu");
  ACQUIRE(map);
  LOAD("2d", "{%3, %4}", bytes, "r"(x), "r"(y));
  for (int i = t; i < bytes / 4; i += 32) out[i] = s[i];
}
static void run(CUtensorMap m, int field, uint64_t value, int x, int y, int bytes, int step = 1) {
  CUtensorMap *d; float *q, got[64], first[64];
  cudaMalloc(&d, sizeof m), cudaMalloc(&q, sizeof got);
  for (int how = 0; how < 4; how++) {
    k<<<1, 32>>>(m, d, q, how, field, value, x, y, bytes);
    if (cudaError_t e = cudaMemcpy(got, q, bytes, cudaMemcpyDeviceToHost)) { printf("%s ", cudaGetErrorName(e)); return; }
    if (how == 0) { memcpy(first, got, bytes); for (int i = 0; i < bytes / 4; i += step) printf("%g ", got[i]); }
    else if (memcmp(first, got, bytes)) printf("differs ");
  }
}
`

// mapFences has a kernel that changes the address of a map in global memory and then copies by it,
// with more or fewer fences (PTX ISA 9.7.13.4).
const mapFences = replaceFields + `
#define CHANGE(MAP, TO) asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(MAP)), "l"(TO) : "memory")
#define ISSUE(MAP)                                                                                                     \
  do {                                                                                                                 \
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 64;" ::"r"(at(&bar)) : "memory");                 \
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" \
                 ::"r"(at(s)), "l"(MAP), "r"(0), "r"(0), "r"(at(&bar)) : "memory");                                     \
  } while (0)
#define WAIT()                                                                                                         \
  for (int done = 0; !done;)                                                                                           \
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"        \
                 : "=r"(done) : "r"(at(&bar)) : "memory")
#define BEGIN                                                                                                          \
  alignas(128) __shared__ float s[16];                                                                                 \
  __shared__ uint64_t bar;                                                                                             \
  int t = threadIdx.x;                                                                                                 \
  if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");                       \
  __syncthreads();
`

const inGlobal = `float *p = device<float>(64), *q = device<float>(64, 100); CUtensorMap m = make(TYPE(FLOAT32), p, {8, 8}, {32}, {4, 4}), *d;
			cudaMalloc(&d, 256); cudaMemcpy(d, &m, sizeof m, cudaMemcpyHostToDevice); cudaMemcpy(d + 1, &m, sizeof m, cudaMemcpyHostToDevice); `

// one is a program of one kernel on a map in global memory. threads are those of its launch.
func one(name, text, threads string, findings ...string) tensorProgram {
	return tensorProgram{name: name, kernels: mapFences + "__global__ void f(CUtensorMap *map, float *to, int *flag) { BEGIN\n" + text + "\n}",
		body: inGlobal + `int *flag; cudaMalloc(&flag, 4); cudaMemset(flag, 0, 4); f<<<` + threads + `>>>(d, q, flag); cudaDeviceSynchronize();`, findings: findings}
}

// twoLaunches are kernels that change a map, and that use it.
func twoLaunches(text string) string {
	return mapFences + "__global__ void change(CUtensorMap *map, float *to) { if (threadIdx.x == 0) { CHANGE(map, to); RELEASE(\"gpu\"); } }\n" +
		"__global__ void f(CUtensorMap *map) { BEGIN\n" + text + "\n}"
}

// two is a program in which one launch changes a map, and the next one uses it.
func two(name, text, threads string, findings ...string) tensorProgram {
	return tensorProgram{name: name, kernels: twoLaunches(text), findings: findings,
		body: inGlobal + `change<<<1, 32>>>(d, q); f<<<` + threads + `>>>(d); cudaDeviceSynchronize();`}
}

// mapPrograms change tensor maps.
var mapPrograms = []tensorProgram{
	// 9.7.9.28. The box of 4 by 2 at (2, 1) of rows of 8: 10 to 13 and 18 to 21.
	{name: "fields", kernels: replaceFields, body: `float *p = device<float>(160); CUtensorMap m = make(TYPE(FLOAT32), p, {8, 8}, {32}, {4, 2});
			run(m, 0, 0, 2, 1, 32); puts(""); run(m, 1, (uint64_t)(p + 16), 2, 1, 32); puts("");
			run(make(TYPE(FLOAT32), p, {8, 4, 2}, {32, 128}, {4, 2, 1}), 2, 1, 2, 1, 32); puts(""); // a rank of 2 is written as 1
			run(m, 3, 1, 2, 1, 16); puts(""); run(m, 4, 4, 2, 1, 32); puts(""); run(m, 5, 64, 2, 1, 32); puts(""); run(m, 6, 2, 2, 1, 16); puts("");
			run(m, 7, 0, 2, 1, 64, 2); puts(""); run(m, 8, 0, 2, 1, 32); puts(""); run(m, 11, 0, 2, 1, 32); puts("");
			run(make(TYPE(FLOAT32), p, {8, 8}, {32}, {8, 8}), 9, 0, 0, 0, 256, 4); puts(""); run(m, 10, 0, 6, 1, 32);`,
		want: "10 11 12 13 18 19 20 21 " +
			"26 27 28 29 34 35 36 37 " + // another address
			"10 11 12 13 18 19 20 21 " + // a rank
			"10 11 12 13 " + // one row
			"10 11 0 0 18 19 0 0 " + // rows of 4
			"18 19 20 21 34 35 36 37 " + // rows 64 bytes apart
			"10 11 12 13 " + // each second of two rows
			"12 14 16 18 20 22 24 26 " + // elements of 8 bytes
			"10 11 12 13 18 19 20 21 10 11 12 13 18 19 20 21 " + // what they were
			"0 4 8 12 16 20 24 28 36 32 44 40 52 48 60 56 " + // a swizzle of 32 bytes
			"14 15 nan nan 22 23 nan nan"},
	{name: "interleaved", kernels: replaceFields, body: `float *p = device<float>(64); run(make(TYPE(FLOAT32), p, {8, 8}, {32}, {4, 2}), 12, 0, 2, 1, 32); fflush(stdout);`,
		want: "cudaErrorLaunchFailure", reason: "an interleaved layout"},
	// A map that no function of the Driver API makes; bytes that are no map; a map that is for im2col.
	{name: "no box", kernels: replaceFields, body: `float *p = device<float>(64); run(make(TYPE(FLOAT32), p, {8, 8}, {32}, {4, 2}), 3, 0, 2, 1, 32);`,
		want: "cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	{name: "replaced in no map", kernels: replaceFields, body: `run(CUtensorMap{}, 2, 1, 2, 1, 32);`,
		want: "cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	{name: "replaced for im2col", kernels: replaceFields, body: `float *p = device<float>(64); run(column(TYPE(FLOAT32), p, {4, 5, 2}, {16, 80}, {0}, {0}, 4, 8), 2, 1, 2, 1, 32);`,
		want: "cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	{name: "copied by half a warp", kernels: mapFences + `__global__ void f(CUtensorMap *map) { alignas(128) __shared__ CUtensorMap own; ((int *)&own)[threadIdx.x] = 0; __syncwarp();
			if (threadIdx.x < 16) asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
			::"l"(__cvta_generic_to_global(map)), "r"(at(&own)) : "memory"); }`,
		body: inGlobal + `f<<<1, 32>>>(d); cudaDeviceSynchronize();`, findings: []string{"warp-sync-hang"}},

	// 9.7.13.4, the example there: a change, a release, an acquire of the map and a copy by one thread.
	one("release and acquire", `if (t == 0) { CHANGE(map, to); RELEASE("gpu"); ACQUIRE(map); ISSUE(map); } WAIT();`, "1, 32"),
	one("of the scope of the block", `if (t == 0) { CHANGE(map, to); RELEASE("cta"); asm volatile("fence.proxy.tensormap::generic.acquire.cta [%0], 128;" ::"l"(map) : "memory");
			ISSUE(map); } WAIT();`, "1, 32"),
	one("no fences", `if (t == 0) { CHANGE(map, to); ISSUE(map); } WAIT();`, "1, 32", "race-proxy"),
	one("release only", `if (t == 0) { CHANGE(map, to); RELEASE("gpu"); ISSUE(map); } WAIT();`, "1, 32", "race-proxy"),
	one("acquire only", `if (t == 0) { CHANGE(map, to); ACQUIRE(map); ISSUE(map); } WAIT();`, "1, 32", "race-proxy"),
	one("acquire before release", `if (t == 0) { CHANGE(map, to); ACQUIRE(map); RELEASE("gpu"); ISSUE(map); } WAIT();`, "1, 32", "race-proxy"),
	one("acquire of another map", `if (t == 0) { CHANGE(map, to); RELEASE("gpu"); ACQUIRE(map + 1); ISSUE(map); } WAIT();`, "1, 32", "race-proxy"),
	one("change behind the release", `if (t == 0) { RELEASE("gpu"); CHANGE(map, to); ACQUIRE(map); ISSUE(map); } WAIT();`, "1, 32", "race-proxy"),
	one("async fence instead", `if (t == 0) { CHANGE(map, to); asm volatile("fence.proxy.async;" ::: "memory"); ISSUE(map); } WAIT();`, "1, 32", "race-proxy"),
	one("ordinary stores", `((int *)map)[t] = ((int *)(map + 1))[t]; RELEASE("gpu"); __syncwarp(); ACQUIRE(map); if (t == 0) ISSUE(map); WAIT();`, "1, 32"),
	one("ordinary stores without a release", `((int *)map)[t] = ((int *)(map + 1))[t]; __syncwarp(); ACQUIRE(map); if (t == 0) ISSUE(map); WAIT();`, "1, 32", "race-proxy"),
	one("a prefetch reads the map", `if (t == 0) { CHANGE(map, to); RELEASE("gpu");
			asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(map), "r"(0), "r"(0) : "memory"); ACQUIRE(map); ISSUE(map); } WAIT();`, "1, 32", "race-proxy"),

	// Two warps: the barrier orders them, and the pair of fences must be around it.
	one("by another warp", `if (t == 32) { CHANGE(map, to); RELEASE("gpu"); } __syncthreads(); if (t == 0) { ACQUIRE(map); ISSUE(map); } WAIT();`, "1, 64"),
	one("acquire in front of the barrier", `if (t == 32) { CHANGE(map, to); RELEASE("gpu"); } if (t == 0) ACQUIRE(map); __syncthreads(); if (t == 0) ISSUE(map); WAIT();`, "1, 64", "race-proxy"),
	// The fences may be those of other threads of the block, as with fence.proxy.async.
	one("fences of others", `if (t == 32) CHANGE(map, to); __syncthreads(); if (t == 33) { RELEASE("gpu"); ACQUIRE(map); } __syncthreads(); if (t == 0) ISSUE(map); WAIT();`, "1, 64"),
	one("without the barrier", `if (t == 32) { CHANGE(map, to); RELEASE("gpu"); } if (t == 0) { ACQUIRE(map); ISSUE(map); } WAIT();`, "1, 64", "race-async-copy"),
	// 9.7.13.16: the copy is of the warp, so that any of its lanes may use the map.
	one("copy of a map by the warp", `alignas(128) __shared__ CUtensorMap own; ((int *)&own)[t] = ((int *)(map + 1))[t]; __syncwarp();
			asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
			::"l"(__cvta_generic_to_global(map)), "r"(at(&own)) : "memory"); ACQUIRE(map); if (t == 5) ISSUE(map); WAIT();`, "1, 32"),
	one("copy of a map without an acquire", `alignas(128) __shared__ CUtensorMap own; ((int *)&own)[t] = ((int *)(map + 1))[t]; __syncwarp();
			asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
			::"l"(__cvta_generic_to_global(map)), "r"(at(&own)) : "memory"); if (t == 0) ISSUE(map); WAIT();`, "1, 32", "race-proxy"),
	one("copy of a map without __syncwarp", `alignas(128) __shared__ CUtensorMap own; ((int *)&own)[t] = ((int *)(map + 1))[t];
			asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
			::"l"(__cvta_generic_to_global(map)), "r"(at(&own)) : "memory"); ACQUIRE(map); if (t == 5) ISSUE(map); WAIT();`, "1, 32", "race-shared"),

	// Two blocks, by a flag: the scopes must include each other's threads, and the acquire must be in
	// the block of the copy.
	one("by another block", `if (blockIdx.x == 1) { if (t == 0) { CHANGE(map, to); RELEASE("gpu"); asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory"); } return; }
			if (t == 0) { int v = 0; while (!v) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory"); ACQUIRE(map); ISSUE(map); } WAIT();`, "2, 32"),
	one("scope too narrow", `if (blockIdx.x == 1) { if (t == 0) { CHANGE(map, to); RELEASE("cta"); asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory"); } return; }
			if (t == 0) { int v = 0; while (!v) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory"); ACQUIRE(map); ISSUE(map); } WAIT();`, "2, 32", "race-proxy"),
	one("acquire in the other block", `if (blockIdx.x == 1) { if (t == 0) { CHANGE(map, to); RELEASE("gpu"); ACQUIRE(map); asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory"); } return; }
			if (t == 0) { int v = 0; while (!v) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory"); ISSUE(map); } WAIT();`, "2, 32", "race-proxy"),

	// An earlier launch has changed the map: each block acquires it, at a scope that includes that
	// launch (CUDA C++ Programming Guide, "Using TMA to transfer multi-dimensional arrays").
	two("acquired in the next launch", `if (t == 0) { ACQUIRE(map); ISSUE(map); } WAIT();`, "2, 32"),
	two("acquired by another warp", `if (t == 32) ACQUIRE(map); __syncthreads(); if (t == 0) ISSUE(map); WAIT();`, "1, 64"),
	two("not acquired in the next launch", `if (t == 0) ISSUE(map); WAIT();`, "1, 32", "race-proxy"),
	two("acquired by one of two blocks", `if (t == 0) { if (blockIdx.x == 0) ACQUIRE(map); ISSUE(map); } WAIT();`, "2, 32", "race-proxy"),
	two("acquired for the block alone", `if (t == 0) { asm volatile("fence.proxy.tensormap::generic.acquire.cta [%0], 128;" ::"l"(map) : "memory"); ISSUE(map); } WAIT();`, "1, 32", "race-proxy"),
	two("acquired too late", `if (t == 0) { ISSUE(map); ACQUIRE(map); } WAIT();`, "1, 32", "race-proxy"),
	two("another map is acquired", `if (t == 0) { ACQUIRE(map + 1); ISSUE(map); } WAIT();`, "1, 32", "race-proxy"),
	two("another map is used", `if (t == 0) ISSUE(map + 1); WAIT();`, "1, 32"),
	// What the launch has left is there no more.
	{name: "written anew by the host", kernels: twoLaunches(`if (t == 0) ISSUE(map); WAIT();`), body: inGlobal + `change<<<1, 32>>>(d, q); m = make(TYPE(FLOAT32), q, {8, 8}, {32}, {8, 2});
			cudaMemcpy(d, &m, sizeof m, cudaMemcpyHostToDevice); f<<<1, 32>>>(d); cudaDeviceSynchronize();`},

	// The map is read until the copy is complete (NVIDIA/cutlass 2162), or until a bulk group is
	// (9.7.9.27.1.2, 9.7.9.27.2.2).
	one("changed while it is used", `if (t == 0) { ISSUE(map); CHANGE(map, to); } WAIT();`, "1, 32", "race-async-copy"),
	one("changed behind the copy", `if (t == 0) ISSUE(map); WAIT(); if (t == 0) CHANGE(map, to);`, "1, 32"),
	one("changed behind the read of the map", `if (t == 0) { ISSUE(map); asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::: "memory"); CHANGE(map, to); } WAIT();`, "1, 32"),
	one("one group is left", `if (t == 0) { ISSUE(map); asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 1;" ::: "memory"); CHANGE(map, to); } WAIT();`, "1, 32", "race-async-copy"),
}

// TestTensorMaps runs programs that change tensor maps.
func TestTensorMaps(t *testing.T) { runTensors(t, mapPrograms) }
