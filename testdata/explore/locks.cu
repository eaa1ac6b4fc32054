// A spin lock and a ticket lock.
// Why: who enters acquires what the last owner released (PTX ISA 8.8). Without a fence on one side
// the owner may add to an old sum, so that an update is lost.
// explore: spin 2 1 verified
// explore: spin 2 2 long
// explore: spin_no_acquire 2 2 bug reads sum = 0 \(initial value\)
// explore: spin_no_release 2 2 bug reads sum = 0 \(initial value\)
// explore: ticket 2 2 verified
// explore: ticket_relaxed_unlock 2 2 bug reads sum = 0 \(initial value\)

__device__ int lock, sum;
__device__ unsigned next, serving;

__device__ void with_lock(bool acquire, bool release) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    if (acquire) __threadfence();
    sum += 1;
    if (release) __threadfence();
    atomicExch(&lock, 0);
}

__device__ void with_ticket(bool release) {
    unsigned mine = atomicAdd(&next, 1u);
    while (*(volatile unsigned *)&serving != mine) {
    }
    __threadfence();
    sum += 1;
    if (release) __threadfence();
    *(volatile unsigned *)&serving = mine + 1;
}

__global__ void spin() { with_lock(true, true); }
__global__ void spin_no_acquire() { with_lock(false, true); }
__global__ void spin_no_release() { with_lock(true, false); }
__global__ void ticket() { with_ticket(true); }
__global__ void ticket_relaxed_unlock() { with_ticket(false); }
