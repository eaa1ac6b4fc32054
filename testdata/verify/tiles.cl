// Kernels that work on tiles in local memory.

#define T 16

// verified: a barrier before the tiles are read, and one before they are overwritten
// heddle: global=64,64 local=16,16 n=64
kernel void matmul(global const float *a, global const float *b, global float *c, int n) {
    local float ta[T][T], tb[T][T];
    int x = get_local_id(0), y = get_local_id(1);
    int col = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int t = 0; t < n; t += T) {
        ta[y][x] = a[row * n + t + x];
        tb[y][x] = b[(t + y) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < T; k++)
            sum += ta[y][k] * tb[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * get_global_size(0) + col] = sum;
}

// race: a tile is overwritten while other work-items still read it
// heddle: global=64,64 local=16,16 n=64
kernel void matmul_one_barrier(global const float *a, global const float *b, global float *c, int n) {
    local float ta[T][T], tb[T][T];
    int x = get_local_id(0), y = get_local_id(1);
    int col = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int t = 0; t < n; t += T) {
        ta[y][x] = a[row * n + t + x];
        tb[y][x] = b[(t + y) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < T; k++)
            sum += ta[y][k] * tb[k][x];
    }
    c[row * get_global_size(0) + col] = sum;
}

// verified: each element is written once, and the tile is padded
// heddle: global=64,64 local=16,16
kernel void transpose(global const float *in, global float *out) {
    local float tile[T][T + 1];
    int x = get_local_id(0), y = get_local_id(1);
    int w = get_global_size(0), h = get_global_size(1);
    tile[y][x] = in[get_global_id(1) * w + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int gx = get_group_id(1) * T + x, gy = get_group_id(0) * T + y;
    out[gy * h + gx] = tile[x][y];
}

// race: no barrier between writing and reading the tile
// heddle: global=64,64 local=16,16
kernel void transpose_no_barrier(global const float *in, global float *out) {
    local float tile[T][T + 1];
    int x = get_local_id(0), y = get_local_id(1);
    int w = get_global_size(0), h = get_global_size(1);
    tile[y][x] = in[get_global_id(1) * w + get_global_id(0)];
    int gx = get_group_id(1) * T + x, gy = get_group_id(0) * T + y;
    out[gy * h + gx] = tile[x][y];
}

// race: in place, a group overwrites elements that another group has not read yet
// heddle: global=64,64 local=16,16
kernel void transpose_in_place(global float *m) {
    local float tile[T][T + 1];
    int x = get_local_id(0), y = get_local_id(1);
    int w = get_global_size(0);
    tile[y][x] = m[get_global_id(1) * w + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    m[(get_group_id(0) * T + y) * w + get_group_id(1) * T + x] = tile[x][y];
}

// verified: one tile of bodies at a time; each work-item moves its own body
// heddle: global=256 local=64
kernel void nbody(global const float4 *in, global float4 *out, int tiles) {
    local float4 body[64];
    int i = get_local_id(0);
    float4 me = in[get_global_id(0)];
    float4 force = (float4)(0.0f);
    for (int t = 0; t < tiles; t++) {
        body[i] = in[t * 64 + i];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 64; k++) {
            float4 d = body[k] - me;
            float r = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f;
            force += d * (body[k].w / (r * sqrt(r)));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = me + force;
}

// race: bodies are moved in the array from which other work-items read them
// heddle: global=256 local=64
kernel void nbody_in_place(global float4 *bodies, int tiles) {
    local float4 body[64];
    int i = get_local_id(0);
    float4 me = bodies[get_global_id(0)];
    float4 force = (float4)(0.0f);
    for (int t = 0; t < tiles; t++) {
        body[i] = bodies[t * 64 + i];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 64; k++)
            force += body[k] - me;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    bodies[get_global_id(0)] = me + force;
}

// verified: a row with its borders in local memory
// heddle: global=512 local=128 row=local:520
kernel void convolve(global const int *in, constant int *weight, global int *out, local int *row) {
    int i = get_local_id(0), g = get_global_id(0), n = get_global_size(0);
    row[i + 1] = in[g];
    if (i == 0)
        row[0] = g > 0 ? in[g - 1] : 0;
    if (i == get_local_size(0) - 1)
        row[i + 2] = g + 1 < n ? in[g + 1] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = weight[0] * row[i] + weight[1] * row[i + 1] + weight[2] * row[i + 2];
}

// race: the last work-item writes the left border over the value of the one before it
// heddle: global=512 local=128 row=local:520
kernel void convolve_wrong_border(global const int *in, constant int *weight, global int *out, local int *row) {
    int i = get_local_id(0), g = get_global_id(0);
    row[i + 1] = in[g];
    if (i == get_local_size(0) - 1)
        row[i] = g + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = weight[0] * row[i] + weight[1] * row[i + 1];
}

// verified: one work-item writes each point of the new field, and the old field is only read
// heddle: global=16,16,8 local=8,4,2
kernel void stencil(global const float *old, global float *new) {
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t w = get_global_size(0), h = get_global_size(1), d = get_global_size(2);
    size_t at = (z * h + y) * w + x;
    if (x == 0 || y == 0 || z == 0 || x == w - 1 || y == h - 1 || z == d - 1) {
        new[at] = old[at];
        return;
    }
    new[at] = (old[at - 1] + old[at + 1] + old[at - w] + old[at + w] + old[at - w * h] + old[at + w * h]) / 6.0f;
}

// race: the field is changed in place, so neighbors read old and new points
// heddle: global=16,16,8 local=8,4,2
kernel void stencil_in_place(global float *field) {
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t w = get_global_size(0), h = get_global_size(1), d = get_global_size(2);
    size_t at = (z * h + y) * w + x;
    if (x == 0 || y == 0 || z == 0 || x == w - 1 || y == h - 1 || z == d - 1)
        return;
    field[at] = (field[at - 1] + field[at + 1] + field[at - w] + field[at + w] + field[at - w * h] + field[at + w * h]) / 6.0f;
}

// race: the plane above is at the distance of a row, so planes overlap
// heddle: global=16,16,8 local=8,4,2
kernel void stencil_wrong_pitch(global const float *old, global float *new) {
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t w = get_global_size(0);
    new[(z + y) * w + x] = old[(z + y) * w + x] + z;
}
