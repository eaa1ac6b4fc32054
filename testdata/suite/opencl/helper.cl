// The accesses are in a function with generic pointers as parameters.
// Why: an unqualified pointer of 2.0 may point to local memory (6.7).
// expect: bug
// heddle: global=64 local=64
void put(int *p, int v) {
    *p = v;                        // want race-shared "tile"
}
int get(const int *p) {
    return *p;                     // want race-shared "tile"
}
kernel void k(global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    put(tile + i, i);
    out[i] = get(tile + 63 - i);
}
