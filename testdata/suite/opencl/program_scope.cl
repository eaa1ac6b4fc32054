// A variable of program scope.
// Why: it is in global memory, one for the launch (2.0, 6.5.1), and all work-items write it.
// expect: bug
// heddle: global=128 local=64
global int last;
kernel void k(void) {
    last = get_global_id(0);       // want race-global "last"
}
