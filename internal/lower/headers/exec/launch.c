/* Launches. The program goes on; heddle executes launches in the order in which they arrive. */

/* The configuration between <<<...>>> and the stub that it calls. The return address of the push is in the line of
   the launch; that of cudaLaunchKernel is in the stub. */
struct configuration { dim3 grid, block; size_t shared; cudaStream_t stream; uint64_t caller; struct stack stack; };
static _Thread_local struct configuration pushed[8];
static _Thread_local int pushed_count;
static _Thread_local uint64_t popped_caller;
static _Thread_local struct stack popped_stack;

/* The stack of this thread; high is 0 if it is not known. */
static _Thread_local struct { int asked; uintptr_t low, high; } own_stack;

static void find_stack(void) {
  pthread_attr_t a;
  void *at;
  size_t size;
  own_stack.asked = 1;
  if (pthread_getattr_np(pthread_self(), &a)) return;
  if (!pthread_attr_getstack(&a, &at, &size)) own_stack.low = (uintptr_t)at, own_stack.high = own_stack.low + size;
  pthread_attr_destroy(&a);
}

/* Follows the frame pointers from that of a function of the API, which heddle makes all host code have. Code without
   them (libraries) leaves out frames or ends the list: a frame that is not in the stack, above the one before, is none. */
static void walk(struct stack *to, const void *frame) {
  to->n = 0;
  if (!own_stack.asked) find_stack();
  const uintptr_t *at = frame;
  for (int depth = 0; to->n < sizeof to->at / sizeof *to->at; depth++) {
    uintptr_t next = *at;
    if (next <= (uintptr_t)at || next < own_stack.low || next % sizeof next || next > own_stack.high - 2 * sizeof next ||
        own_stack.high == 0)
      return;
    at = (const uintptr_t *)next;
    to->at[to->n++] = at[1];
  }
}
#define WALK(TO) walk(TO, __builtin_frame_address(0))

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  if (pushed_count == 8) return 1;
  struct configuration *c = &pushed[pushed_count++];
  c->grid = grid, c->block = block, c->shared = shared, c->stream = stream, c->caller = CALLER;
  WALK(&c->stack);
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
  if (pushed_count == 0) return fail(cudaErrorMissingConfiguration);
  struct configuration *c = &pushed[--pushed_count];
  *grid = c->grid, *block = c->block, *shared = c->shared, *(cudaStream_t *)stream = c->stream;
  popped_caller = c->caller, popped_stack = c->stack;
  return cudaSuccess;
}

/* Asks heddle about a kernel once. The caller holds the lock. */
static void ask_kernel(struct kernel *k) {
  char reply[sizeof(struct heddle_kernel) + 8 * 4096];
  struct { uint32_t module, zero; } head = {k->module, 0};
  struct part p[2] = {{&head, sizeof head}, {k->name, strlen(k->name)}};
  k->failure = ask(HEDDLE_OP_KERNEL, p, 2, reply, sizeof reply);
  k->asked = 1;
  if (k->failure != cudaSuccess) return;
  memcpy(&k->info, reply, sizeof k->info);
  k->parameters = need(malloc(8 * (k->info.parameters + 1)));
  memcpy(k->parameters, reply + sizeof k->info, 8 * k->info.parameters);
}

static cudaError_t get_kernel(const void *host, struct kernel **to) {
  struct kernel *k = find_kernel(host);
  if (!k) return fail(cudaErrorInvalidDeviceFunction);
  if (!k->asked) {
    lock();
    if (!k->asked) ask_kernel(k);
    unlock();
  }
  *to = k;
  return fail(k->failure);
}

/* The limits of every GPU that heddle knows (CUDA C++ Programming Guide, "Technical Specifications per Compute
   Capability"). */
static cudaError_t check_shape(const struct kernel *k, dim3 g, dim3 b, size_t shared) {
  uint64_t threads = (uint64_t)b.x * b.y * b.z;
  if (!g.x || !g.y || !g.z || g.x > 0x7fffffff || g.y > 65535 || g.z > 65535) return cudaErrorInvalidConfiguration;
  if (!threads || b.x > 1024 || b.y > 1024 || b.z > 64 || threads > 1024) return cudaErrorInvalidConfiguration;
  if (k->info.max_threads && threads > k->info.max_threads) return cudaErrorLaunchOutOfResources;
  uint64_t room = k->dynamic_shared > (48 << 10) - k->info.shared ? k->dynamic_shared : (48 << 10) - k->info.shared;
  if (shared > room) return cudaErrorInvalidValue;
  return cudaSuccess;
}

struct shape { dim3 grid, block, cluster; size_t shared; cudaStream_t stream; int cooperative; uint64_t caller;
               const void *buffer; size_t buffer_size; /* all parameters, instead of a pointer to each */
               const struct stack *stack; /* NULL: not known */
               int dependent; /* it may begin while the launch before runs (programmatic stream serialization) */ };

static int blocks_per_sm(const struct kernel *k, int threads, size_t shared);

static cudaError_t capture_kernel(const struct kernel *k, const struct shape *s, const void *area);

static cudaError_t launch(const void *host, const struct shape *s, void **args) {
  ENTER();
  struct kernel *k;
  cudaError_t e = get_kernel(host, &k);
  if (e != cudaSuccess) return e;
  if ((e = check_stream(s->stream)) != cudaSuccess) return fail(e);
  if ((e = check_shape(k, s->grid, s->block, s->shared)) != cudaSuccess) return fail(e);
  uint64_t blocks = (uint64_t)s->grid.x * s->grid.y * s->grid.z;
  int threads = (int)(s->block.x * s->block.y * s->block.z);
  if (s->cooperative && blocks > (uint64_t)blocks_per_sm(k, threads, s->shared) * server.gpu.sms)
    return fail(cudaErrorCooperativeLaunchTooLarge);
  unsigned char area[4096 + 8];
  if (k->info.parameter_bytes > 4096 || (k->info.parameters && !args && !s->buffer) ||
      (s->buffer && s->buffer_size < k->info.parameter_bytes))
    return fail(cudaErrorInvalidValue);
  memset(area, 0, k->info.parameter_bytes);
  if (s->buffer) memcpy(area, s->buffer, k->info.parameter_bytes);
  for (uint32_t i = 0; i < k->info.parameters; i++) {
    unsigned char *to = area + k->parameters[2 * i];
    if (!s->buffer) memcpy(to, args[i], k->parameters[2 * i + 1]);
    if (registered_memory && k->parameters[2 * i + 1] == 8) {
      void *p;
      memcpy(&p, to, 8);
      struct registered *r = find_registered(p);
      uint64_t addr = r ? device_address(r, p) : (uint64_t)(uintptr_t)p;
      memcpy(to, &addr, 8);
    }
  }
  if (capturing(s->stream)) return fail(capture_kernel(k, s, area));
  if (outside_capture(s->stream) != cudaSuccess) return fail(cudaErrorStreamCaptureImplicit);
  uint32_t callers = s->stack ? s->stack->n : 0;
  struct { uint32_t kernel, cooperative; dim3 grid, block, cluster; uint32_t n; uint64_t shared, stream, caller; } m =
      {k->info.id, (uint32_t)s->cooperative | (uint32_t)s->dependent << 1, s->grid, s->block, s->cluster, callers, s->shared,
       stream_id(s->stream), s->caller};
  _Static_assert(sizeof m == 72, "the body of HEDDLE_OP_LAUNCH");
  struct part p[3] = {{&m, sizeof m}, {callers ? s->stack->at : NULL, callers * sizeof *s->stack->at},
                      {area, k->info.parameter_bytes}};
  last_default = -1;
  post(HEDDLE_OP_LAUNCH, p, 3);
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream) {
  uint64_t caller = popped_caller;
  struct stack own, *stack = &popped_stack;
  if (!caller) {
    caller = CALLER, stack = &own;
    WALK(stack);
  }
  popped_caller = 0;
  return launch(f, &(struct shape){grid, block, {1, 1, 1}, shared, stream, 0, caller, NULL, 0, stack}, args);
}

cudaError_t cudaLaunchCooperativeKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
                                        cudaStream_t stream) {
  struct stack stack;
  WALK(&stack);
  return launch(f, &(struct shape){grid, block, {1, 1, 1}, shared, stream, 1, CALLER, NULL, 0, &stack}, args);
}

/* Puts the attributes of a launch into its shape. */
static cudaError_t launch_attributes(struct shape *s, const cudaLaunchAttribute *attrs, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    const cudaLaunchAttribute *a = &attrs[i];
    if (a->id == cudaLaunchAttributeCooperative) s->cooperative = a->val.cooperative;
    if (a->id == cudaLaunchAttributeClusterDimension)
      s->cluster = (dim3){a->val.clusterDim.x, a->val.clusterDim.y, a->val.clusterDim.z};
    if (a->id == cudaLaunchAttributeProgrammaticStreamSerialization)
      s->dependent = a->val.programmaticStreamSerializationAllowed != 0;
    if (a->id == cudaLaunchAttributeProgrammaticEvent)
      return (cudaError_t)heddle_unsupported("cudaLaunchAttributeProgrammaticEvent");
    if (a->id == cudaLaunchAttributeLaunchCompletionEvent)
      return (cudaError_t)heddle_unsupported("cudaLaunchAttributeLaunchCompletionEvent");
    if (a->id == cudaLaunchAttributeDeviceUpdatableKernelNode)
      return (cudaError_t)heddle_unsupported("cudaLaunchAttributeDeviceUpdatableKernelNode");
  }
  if (!s->cluster.x || !s->cluster.y || !s->cluster.z || s->grid.x % s->cluster.x || s->grid.y % s->cluster.y ||
      s->grid.z % s->cluster.z)
    return fail(cudaErrorInvalidValue);
  return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *f, void **args) {
  if (!c) return fail(cudaErrorInvalidValue);
  struct stack stack;
  WALK(&stack);
  struct shape s = {c->gridDim, c->blockDim, {1, 1, 1}, c->dynamicSmemBytes, c->stream, 0, CALLER, NULL, 0, &stack};
  cudaError_t e = launch_attributes(&s, c->attrs, c->numAttrs);
  return e == cudaSuccess ? launch(f, &s, args) : e;
}

/* Functions of kernels. */
cudaError_t cudaFuncSetAttribute(const void *f, enum cudaFuncAttribute a, int value) {
  ENTER();
  struct kernel *k;
  cudaError_t e = get_kernel(f, &k);
  if (e != cudaSuccess) return e;
  if (a == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || (uint64_t)value + k->info.shared > server.gpu.shared_optin) return fail(cudaErrorInvalidValue);
    k->dynamic_shared = (uint32_t)value;
  }
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *to, const void *f) {
  ENTER();
  struct kernel *k;
  cudaError_t e = get_kernel(f, &k);
  if (e != cudaSuccess) return e;
  if (!to) return fail(cudaErrorInvalidValue);
  int version = (int)(10 * server.gpu.major + server.gpu.minor);
  *to = (struct cudaFuncAttributes){.sharedSizeBytes = k->info.shared, .constSizeBytes = k->info.constant,
                                    .localSizeBytes = k->info.local,
                                    .maxThreadsPerBlock = k->info.max_threads ? (int)k->info.max_threads : 1024,
                                    .numRegs = (int)k->info.registers, .ptxVersion = (int)k->info.ptx,
                                    .binaryVersion = version, .maxDynamicSharedSizeBytes = (int)k->dynamic_shared,
                                    .preferredShmemCarveout = -1};
  return cudaSuccess;
}

static cudaError_t known_kernel(const void *f) {
  ENTER();
  struct kernel *k;
  return get_kernel(f, &k);
}
cudaError_t cudaFuncSetCacheConfig(const void *f, enum cudaFuncCache c) { return (void)c, known_kernel(f); }
cudaError_t cudaFuncSetSharedMemConfig(const void *f, enum cudaSharedMemConfig c) { return (void)c, known_kernel(f); }

/* Occupancy by threads, shared memory (with 1 KB of the system for each block) and blocks. Registers are not known:
   PTX has no limit of them. */
static int blocks_per_sm(const struct kernel *k, int threads, size_t shared) {
  if (threads <= 0 || threads > 1024 || (k->info.max_threads && (unsigned)threads > k->info.max_threads)) return 0;
  uint64_t bytes = k->info.shared + shared;
  if (bytes > server.gpu.shared_optin) return 0;
  uint64_t n = server.gpu.threads_sm / ((unsigned)(threads + 31) / 32 * 32);
  uint64_t by_shared = server.gpu.shared_sm / (bytes + 1024);
  if (by_shared < n) n = by_shared;
  return (int)(n < server.gpu.blocks_sm ? n : server.gpu.blocks_sm);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *f, int threads, size_t shared,
                                                                   unsigned int flags) {
  ENTER();
  (void)flags;
  struct kernel *k;
  cudaError_t e = get_kernel(f, &k);
  if (e != cudaSuccess) return e;
  if (!n || threads <= 0) return fail(cudaErrorInvalidValue);
  *n = blocks_per_sm(k, threads, shared);
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *f, int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n, f, threads, shared, 0);
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *to, const void *f, int blocks, int threads) {
  ENTER();
  struct kernel *k;
  cudaError_t e = get_kernel(f, &k);
  if (e != cudaSuccess) return e;
  if (!to || blocks <= 0 || threads <= 0) return fail(cudaErrorInvalidValue);
  uint64_t each = server.gpu.shared_sm / (unsigned)blocks, taken = k->info.shared + 1024;
  *to = each > taken ? each - taken : 0;
  return cudaSuccess;
}

/* Clusters by the blocks of all multiprocessors: an emulated GPU has no groups of them to which a cluster is bound. */
cudaError_t cudaOccupancyMaxActiveClusters(int *n, const void *f, const cudaLaunchConfig_t *c) {
  ENTER();
  struct kernel *k;
  cudaError_t e = get_kernel(f, &k);
  if (e != cudaSuccess) return e;
  if (!n || !c) return fail(cudaErrorInvalidValue);
  struct shape s = {.grid = c->gridDim, .cluster = {1, 1, 1}};
  if ((e = launch_attributes(&s, c->attrs, c->numAttrs)) != cudaSuccess) return e;
  uint64_t size = (uint64_t)s.cluster.x * s.cluster.y * s.cluster.z;
  if (size == 1 && k->info.cluster) size = k->info.cluster;
  if (size > 1 && server.gpu.major < 9) return *n = 0, cudaSuccess;
  int threads = (int)(c->blockDim.x * c->blockDim.y * c->blockDim.z);
  *n = (int)((uint64_t)blocks_per_sm(k, threads, c->dynamicSmemBytes) * server.gpu.sms / size);
  return cudaSuccess;
}
/* 8 blocks are portable (CUDA C++ Programming Guide, "Thread Block Clusters"). */
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *n, const void *f, const cudaLaunchConfig_t *c) {
  ENTER();
  struct kernel *k;
  cudaError_t e = get_kernel(f, &k);
  if (e != cudaSuccess) return e;
  if (!n || !c) return fail(cudaErrorInvalidValue);
  *n = server.gpu.major >= 9 ? 8 : 1;
  return cudaSuccess;
}

cudaError_t __heddle_cuda_block_size(int *grid, int *block, const void *f, size_t shared, int limit) {
  ENTER();
  struct kernel *k;
  cudaError_t e = get_kernel(f, &k);
  if (e != cudaSuccess) return e;
  int most = k->info.max_threads ? (int)k->info.max_threads : 1024, best = 0;
  if (limit > 0 && limit < most) most = limit;
  for (int t = most; t > 0; t = (t - 1) / 32 * 32) {
    int n = blocks_per_sm(k, t, shared);
    if (n * t > best) best = n * t, *block = t, *grid = n * (int)server.gpu.sms;
  }
  return best ? cudaSuccess : fail(cudaErrorInvalidValue);
}
