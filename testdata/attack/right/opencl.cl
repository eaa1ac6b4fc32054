// expect: not bug
// Right OpenCL kernels (OpenCL C 3.0, 6.15.8, 6.15.11).

// heddle: grid=1 block=64
kernel void both_flags(global int *a) {
  local int s[64];
  int t = get_local_id(0);
  s[t] = a[t];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[t] = s[63 - t];
}
// Each memory has its own barrier.
// heddle: grid=1 block=64
kernel void two_barriers(global int *a) {
  local int s[64];
  int t = get_local_id(0);
  s[t] = t;
  a[t] = t;
  barrier(CLK_LOCAL_MEM_FENCE);
  barrier(CLK_GLOBAL_MEM_FENCE);
  a[64 + t] = s[63 - t] + a[63 - t];
}
// A copy with its wait and a barrier.
// heddle: grid=1 block=64
kernel void copied(global int *a, global const int *b) {
  local int s[64];
  event_t e = async_work_group_copy(s, b, 64, 0);
  wait_group_events(1, &e);
  a[get_local_id(0)] = s[63 - get_local_id(0)];
}
// A copy back, whose source is reused behind the wait and a barrier.
// heddle: grid=1 block=64
kernel void copied_back(global int *a) {
  local int s[64];
  s[get_local_id(0)] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  event_t e = async_work_group_copy(a, s, 64, 0);
  wait_group_events(1, &e);
  barrier(CLK_LOCAL_MEM_FENCE);
  s[get_local_id(0)] = 2;
}
// Two local arguments.
// heddle: grid=1 block=64 s=local:256 r=local:256
kernel void local_arguments(local int *s, local int *r, global int *a) {
  int t = get_local_id(0);
  s[t] = t;
  barrier(CLK_LOCAL_MEM_FENCE);
  r[t] = s[63 - t];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[t] = r[63 - t];
}
// Components of one vector by four work-items.
// heddle: grid=1 block=64
kernel void components(global float *a) {
  local float4 s[16];
  int t = get_local_id(0);
  ((local float *)s)[t] = t;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[t] = s[t / 4].x;
}
// A release flag of device scope between two groups.
// heddle: grid=2 block=1
kernel void flag(global int *a, global atomic_int *flag) {
  if (get_group_id(0) == 0) { a[0] = 1; atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device); }
  else { while (!atomic_load_explicit(flag, memory_order_acquire, memory_scope_device)) {} a[1] = a[0]; }
}
// An atomic counter in local memory, read behind a barrier.
// heddle: grid=1 block=64
kernel void counter(global int *a) {
  local int n;
  if (get_local_id(0) == 0) n = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&n);
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_local_id(0)] = n;
}
// A permutation in constant memory.
constant int order[8] = {3, 1, 4, 0, 5, 7, 2, 6};
// heddle: grid=1 block=8
kernel void permuted(global int *a) { a[order[get_local_id(0)]] = get_local_id(0); }
// vstore3 at a stride of 3.
// heddle: grid=1 block=64
kernel void vector3(global int *a) { int t = get_local_id(0); vstore3((int3)(t), t, a); }
// One pixel each.
// heddle: grid=1 block=64
kernel void pixel(write_only image2d_t image) { write_imagef(image, (int2)(get_local_id(0), 0), (float4)(1)); }
// A uniform loop with barriers.
// heddle: grid=1 block=64
kernel void rounds(global int *a, int n) {
  local int s[64];
  int t = get_local_id(0);
  for (int i = 0; i < n; i++) {
    s[t] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[64 * i + t] = s[63 - t];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
// All work-items have the same maximum, so that all or none reach the barrier.
// heddle: grid=2 block=64
kernel void maximum_decides(global int *a, global const int *b) {
  local int s[64];
  int t = get_local_id(0);
  s[t] = b[get_global_id(0)];
  int most = work_group_reduce_max(b[get_global_id(0)]);
  if (work_group_broadcast(s[t], 5) == most) return;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = s[63 - t];
}
// Filtered reads: no work-item writes an image.
constant sampler_t smooth = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
// heddle: grid=2 block=64
kernel void filtered(read_only image2d_t im, sampler_t s, global float *a) {
  int i = get_global_id(0);
  float2 at = (float2)(i * 0.01f, i * 0.02f);
  a[i] = read_imagef(im, smooth, at).x + read_imagef(im, s, at).y;
}
