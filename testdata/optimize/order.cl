// Memory orders of OpenCL C: the default is memory_order_seq_cst, of the device.

// heddle: grid=4 block=64
kernel void histogram(global atomic_uint *bins, global const uchar *in) {
    atomic_fetch_add(&bins[in[get_global_id(0)]], 1u); // offer: relaxed: only sums
}

// heddle: grid=4 block=64
kernel void largest(global atomic_uint *most, global const uint *in) {
    atomic_fetch_max_explicit(most, in[get_global_id(0)], memory_order_acq_rel, memory_scope_device); // offer: relaxed: nobody reads it
}

// heddle: grid=4 block=64
kernel void producer(global uint *data, global atomic_uint *done) {
    data[get_global_id(0)] = 1;
    atomic_fetch_add_explicit(done, 1u, memory_order_release, memory_scope_device); // keep: data is stored before it
}
