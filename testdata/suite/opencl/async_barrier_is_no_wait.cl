// expect: bug
// A barrier publishes the accesses of the work-items; the copy ends at wait_group_events (OpenCL C 6.12.10), so a
// read between the barrier and the wait races with it.
// heddle: global=128 local=64
__kernel void early(__global const float *in, __global float *out) {
    __local float s[64];
    event_t e = async_work_group_copy(s, in + 64 * get_group_id(0), 64, 0); // want race-async-copy "s"
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = s[get_local_id(0)]; // want race-async-copy "s"
    wait_group_events(1, &e);
}
