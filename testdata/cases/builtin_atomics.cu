// expect: released verified|clean; relaxed bug race-global; elsewhere bug|unknown; unlocked bug race-global; signal verified
// clang's own atomic functions and their orders, of which LLVM drops some and cannot compile others.

// heddle: grid=2 block=1
__global__ void released(int *data, int *flag, int *out) {
  if (blockIdx.x == 0) {
    *data = 1;
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
  } else if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 1) {
    *out = *data;
  }
}

// heddle: grid=2 block=1
__global__ void relaxed(int *data, int *flag, int *out) { // nothing orders the flag and the data
  if (blockIdx.x == 0) {
    *data = 1;
    __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
  } else if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 1) {
    *out = *data;
  }
}

// heddle: grid=2 block=1
__global__ void elsewhere(int *data, int *flag, int *other, int *out) { // no release by an acquire
  if (blockIdx.x == 0) {
    *data = 1;
    out[1] = __atomic_load_n(other, __ATOMIC_ACQUIRE);
    __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
  } else if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 1) {
    *out = *data;
  }
}

// heddle: grid=2 block=1
__global__ void unlocked(int *lock, int *n) { // the holder frees the lock before its write is seen
  while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) {
  }
  ++*n;
  __atomic_store_n(lock, 0, __ATOMIC_RELAXED);
}

// heddle: grid=1 block=64
__global__ void signal(int *out) { // a fence against the compiler alone
  out[threadIdx.x] = 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
