// expect: not verified; callee verified grid 1
// OpenCL C 3.0: barriers whose flags leave memory out (6.15.8), copies (6.15.11), components, work-items that do not come.

// heddle: grid=1 block=64
kernel void global_behind_local(global int *a) {
  int t = get_local_id(0);
  a[t] = t;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[64 + t] = a[63 - t];
}
// heddle: grid=1 block=64
kernel void local_behind_global(global int *a) {
  local int s[64];
  int t = get_local_id(0);
  s[t] = t;
  barrier(CLK_GLOBAL_MEM_FENCE);
  a[t] = s[63 - t];
}
// No flags: it waits, and orders nothing.
// heddle: grid=1 block=64
kernel void no_flags(global int *a) {
  local int s[64];
  int t = get_local_id(0);
  s[t] = t;
  barrier(0);
  a[t] = s[63 - t];
}
// A fence is no barrier.
// heddle: grid=1 block=64
kernel void fence_only(global int *a) {
  local int s[64];
  int t = get_local_id(0);
  s[t] = t;
  mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  a[t] = s[63 - t];
}
// The flags come from an argument: they may be 0.
// heddle: grid=1 block=64
kernel void flags_of_argument(global int *a, uint flags) {
  local int s[64];
  int t = get_local_id(0);
  s[t] = t;
  barrier(flags);
  a[t] = s[63 - t];
}
// In a loop, the odd iterations fence the wrong memory.
// heddle: grid=1 block=64
kernel void odd_flags(global int *a, int n) {
  local int s[64];
  int t = get_local_id(0);
  for (int i = 0; i < n; i++) {
    s[t] = i;
    if (i & 1) barrier(CLK_GLOBAL_MEM_FENCE); else barrier(CLK_LOCAL_MEM_FENCE);
    a[64 * i + t] = s[63 - t];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
// A generic pointer to local or global memory, and a barrier for one of them.
// heddle: grid=1 block=64
kernel void generic_pointer(global int *a, int n) {
  local int s[64];
  int t = get_local_id(0);
  int *p = n > 0 ? (int *)s : (int *)a;
  p[t] = t;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[64 + t] = p[63 - t];
}
// Two local arguments are apart, one of them is used for both.
// heddle: grid=1 block=64 s=local:256 r=local:256
kernel void local_arguments(local int *s, local int *r, global int *a) {
  int t = get_local_id(0);
  s[t] = t;
  r[t] = s[63 - t];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[t] = r[t];
}
// A component of a vector in local memory is one word of a vector of which another work-item reads all.
// heddle: grid=1 block=64
kernel void component(global float4 *a) {
  local float4 s[16];
  int t = get_local_id(0);
  ((local float *)s)[t] = t;
  a[t] = s[t / 4];
}
// vstore3 of neighbours at a stride of 2.
// heddle: grid=1 block=64
kernel void vector3(global int *a) { int t = get_local_id(0); vstore3((int3)(t), 0, a + 2 * t); }
// The swizzle .lo of one and .hi of the other overlap in the type of the cast.
// heddle: grid=1 block=64
kernel void low_high(global int4 *a) {
  int t = get_local_id(0);
  if (t & 1) a[t / 2].lo = (int2)(1); else *(global int3 *)&a[t / 2] = (int3)(2);
}
// An async copy without a wait, with a barrier.
// heddle: grid=1 block=64
kernel void copy_no_wait(global int *a, global const int *b) {
  local int s[64];
  event_t e = async_work_group_copy(s, b, 64, 0);
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_local_id(0)] = s[63 - get_local_id(0)];
  wait_group_events(1, &e);
}
// The wait is for another copy's event.
// heddle: grid=1 block=64
kernel void copy_other_event(global int *a, global const int *b) {
  local int s[64], r[64];
  event_t e = async_work_group_copy(s, b, 64, 0);
  event_t f = async_work_group_copy(r, b + 64, 64, 0);
  wait_group_events(1, &e);
  a[get_local_id(0)] = r[63 - get_local_id(0)];
  wait_group_events(1, &f);
}
// The target is written between start and wait.
// heddle: grid=1 block=64
kernel void copy_store(global int *a, global const int *b) {
  local int s[64];
  event_t e = async_work_group_copy(s, b, 64, 0);
  s[get_local_id(0)] = 1;
  wait_group_events(1, &e);
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_local_id(0)] = s[get_local_id(0)];
}
// A copy back to global memory, whose source is reused at once.
// heddle: grid=1 block=64
kernel void copy_back(global int *a) {
  local int s[64];
  s[get_local_id(0)] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  event_t e = async_work_group_copy(a, s, 64, 0);
  s[get_local_id(0)] = 2;
  wait_group_events(1, &e);
}
// The number of elements differs between work-items.
// heddle: grid=1 block=64
kernel void copy_differs(global int *a, global const int *b) {
  local int s[64];
  event_t e = async_work_group_copy(s, b, 32 + get_local_id(0) / 32, 0);
  wait_group_events(1, &e);
  a[get_local_id(0)] = s[0];
}
// Two copies into one array overlap.
// heddle: grid=1 block=64
kernel void two_copies(global int *a, global const int *b) {
  local int s[128];
  event_t e = async_work_group_copy(s, b, 64, 0);
  e = async_work_group_copy(s + 32, b + 64, 64, e);
  wait_group_events(1, &e);
  a[get_local_id(0)] = s[get_local_id(0)];
}
// The group's id without its size.
// heddle: grid=4 block=64
kernel void group_id(global int *a) { a[get_group_id(0) + get_local_id(0)] = get_group_id(0); }
// get_global_id of the wrong dimension.
// heddle: grid=4,4 block=8,8
kernel void dimension(global int *a) { a[get_global_id(0) * 32 + get_local_id(1)] = get_group_id(1); }
// The last work-item of each group also writes the next group's first element.
// heddle: grid=4 block=64
kernel void halo(global int *a) {
  int i = get_global_id(0);
  a[i] = 1;
  if (get_local_id(0) == 63) a[i + 1] = 2;
}
// work_group_all in one branch.
// heddle: grid=1 block=64
kernel void all_in_branch(global int *a) {
  int t = get_local_id(0), v = 1;
  if (t < 32) v = work_group_all(a[t] > 0);
  a[64 + t] = v;
}
// An atomic in local memory, and a plain read without a barrier.
// heddle: grid=1 block=64
kernel void counter(global int *a) {
  local int n;
  if (get_local_id(0) == 0) n = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&n);
  a[get_local_id(0)] = n;
}
// A flag of relaxed order between two groups.
// heddle: grid=2 block=1
kernel void relaxed_flag(global int *a, global atomic_int *flag) {
  if (get_group_id(0) == 0) { a[0] = 1; atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device); }
  else { while (!atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device)) {} a[1] = a[0]; }
}
// A flag of the group's scope between two groups.
// heddle: grid=2 block=1
kernel void group_scope(global int *a, global atomic_int *flag) {
  if (get_group_id(0) == 0) { a[0] = 1; atomic_store_explicit(flag, 1, memory_order_release, memory_scope_work_group); }
  else { while (!atomic_load_explicit(flag, memory_order_acquire, memory_scope_work_group)) {} a[1] = a[0]; }
}
// volatile is nothing in OpenCL.
// heddle: grid=2 block=1
kernel void volatile_flag(volatile global int *a) {
  if (get_group_id(0) == 0) { a[0] = 1; a[1] = 1; } else { while (!a[1]) {} a[2] = a[0]; }
}
// Two work-items write one pixel.
// heddle: grid=1 block=64
kernel void pixel(write_only image2d_t image) { write_imagef(image, (int2)(get_local_id(0) / 2, 0), (float4)(get_local_id(0))); }
// A helper with a barrier that only some reach.
void helper(local int *s) { barrier(CLK_LOCAL_MEM_FENCE); s[get_local_id(0)] = 1; }
// heddle: grid=1 block=64
kernel void calls(global int *a) {
  local int s[64];
  if (a[get_local_id(0)] > 0) helper(s);
  a[64 + get_local_id(0)] = 1;
}
// A kernel called as a function: both write the same elements.
kernel void callee(global int *a) { a[get_local_id(0)] = 1; }
// heddle: grid=1 block=64
kernel void caller(global int *a) { callee(a); a[63 - get_local_id(0)] = 2; }
// A constant table with an entry twice.
constant int order[8] = {0, 1, 2, 3, 4, 5, 6, 6};
// heddle: grid=1 block=8
kernel void table(global int *a) { a[order[get_local_id(0)]] = get_local_id(0); }
// A sub-group's barrier orders 32 work-items.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
// heddle: grid=1 block=64
kernel void sub_group(global int *a) {
  local int s[64];
  int t = get_local_id(0);
  s[t] = t;
  sub_group_barrier(CLK_LOCAL_MEM_FENCE);
  a[t] = s[63 - t];
}
// Bytes of one word: char stores are apart, a read of the word is not.
// heddle: grid=1 block=64
kernel void bytes(global char *a, global int *b) { int t = get_local_id(0); a[t] = 1; b[t] = ((global int *)a)[t / 4]; }
// A work-item that returns first does not come to the barrier.
// heddle: grid=1 block=64
kernel void returns(global int *a, int n) {
  if (get_global_id(0) >= n) return;
  a[get_global_id(0)] = 1;
  barrier(CLK_GLOBAL_MEM_FENCE);
}
// Two places of an image, in fractions of its size: they have different pixels.
constant sampler_t fractions = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
// heddle: grid=1 block=64
kernel void fractions_of_image(read_only image2d_t im, global int *a) {
  uint x = read_imageui(im, fractions, (float2)(0.25f, 0.25f)).x, y = read_imageui(im, fractions, (float2)(0.75f, 0.75f)).x;
  if (x != y && get_local_id(0) < 3) barrier(CLK_LOCAL_MEM_FENCE);
}
// The same with a sampler of the host, which may be such a one.
// heddle: grid=1 block=64
kernel void sampler_of_host(read_only image2d_t im, sampler_t s, global int *a) {
  uint x = read_imageui(im, s, (float2)(0.25f, 0.25f)).x, y = read_imageui(im, s, (float2)(0.75f, 0.75f)).x;
  if (x != y && get_local_id(0) < 3) barrier(CLK_LOCAL_MEM_FENCE);
}
// A read in front of the image gets the border, and not its first pixel.
constant sampler_t bordered = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
// heddle: grid=1 block=64
kernel void border(read_only image1d_t im, global int *a) {
  uint x = read_imageui(im, bordered, -0.5f).x, y = read_imageui(im, bordered, 0.5f).x;
  if (x != y && get_local_id(0) < 3) barrier(CLK_LOCAL_MEM_FENCE);
}
// The sum of a group is the same for its work-items, and not for those of two groups.
// heddle: grid=2 block=64
kernel void sum_as_index(global int *a, global const int *b) {
  int n = work_group_reduce_add(b[get_global_id(0)] & 1);
  if (get_local_id(0) == 0) a[n] = get_group_id(0);
}
// An inclusive sum grows only at work-items that add something.
// heddle: grid=1 block=64
kernel void inclusive_index(global int *a, global const int *b) {
  a[work_group_scan_inclusive_add(b[get_local_id(0)] & 1)] = get_local_id(0);
}
// The scan is different in each work-item.
// heddle: grid=1 block=64
kernel void scan_decides(global int *a) {
  if (work_group_scan_exclusive_add(1) > 10) barrier(CLK_GLOBAL_MEM_FENCE);
}
// A reduction waits for all work-items, and orders no memory.
// heddle: grid=1 block=64
kernel void reduction_only(global int *a) {
  local int s[64];
  int t = get_local_id(0);
  s[t] = t;
  int n = work_group_reduce_max(t);
  a[t] = s[n - t];
}
// A broadcast in one branch.
// heddle: grid=1 block=64
kernel void broadcast_in_branch(global int *a) {
  int t = get_local_id(0);
  if (t < 32) a[t] = work_group_broadcast(t, 3);
}
