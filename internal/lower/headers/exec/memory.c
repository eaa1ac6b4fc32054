/* Memory. Heddle allocates in the arena, which both map at one address: a device pointer is a host pointer, and a copy
   is memmove once earlier launches have ended. The table of allocations finds wrong pointers without asking. */

static struct allocation *allocations; /* ascending by address */
static size_t allocation_count, allocation_room;

/* The index of the first allocation that ends after an address. Holds the lock. */
static size_t allocation_at(uint64_t addr) {
  size_t low = 0, high = allocation_count;
  while (low < high) {
    size_t mid = (low + high) / 2;
    if (allocations[mid].addr + allocations[mid].size > addr) high = mid;
    else low = mid + 1;
  }
  return low;
}

static int in_arena(const void *p) {
  uint64_t a = (uint64_t)(uintptr_t)p;
  return server.fd >= 0 && a >= server.base && a - server.base < server.size;
}

static void note_allocation(uint64_t addr, uint64_t size, uint32_t kind) {
  lock();
  if (allocation_count == allocation_room) {
    allocation_room = allocation_room ? 2 * allocation_room : 256;
    allocations = need(realloc(allocations, allocation_room * sizeof *allocations));
  }
  size_t i = allocation_at(addr);
  memmove(allocations + i + 1, allocations + i, (allocation_count - i) * sizeof *allocations);
  allocations[i] = (struct allocation){addr, size ? size : 1, kind};
  allocation_count++;
  unlock();
}

static void forget_allocations(void) {
  size_t n = 0;
  lock();
  for (size_t i = 0; i < allocation_count; i++)
    if (allocations[i].kind == HEDDLE_KIND_VARIABLE) allocations[n++] = allocations[i];
  allocation_count = n;
  unlock();
}

/* Copies the allocation that contains an address. */
static int find_allocation(const void *p, struct allocation *to) {
  uint64_t addr = (uint64_t)(uintptr_t)p;
  lock();
  size_t i = allocation_at(addr);
  int found = i < allocation_count && allocations[i].addr <= addr;
  if (found) *to = allocations[i];
  unlock();
  return found;
}

/* Whether n bytes at p are in one allocation, or, if p is not in the arena, may be host memory. */
static int valid_range(const void *p, size_t n, int device) {
  struct allocation a;
  if (!in_arena(p)) return !device && p;
  if (!find_allocation(p, &a)) return 0;
  return n <= a.addr + a.size - (uint64_t)(uintptr_t)p;
}

/* Allocates. stream_ordered says that no other stream waits for it: cudaMallocAsync. */
static cudaError_t allocate_as(void **p, size_t size, uint32_t kind, uint64_t caller, uint32_t stream_ordered) {
  ENTER();
  if (!p) return fail(cudaErrorInvalidValue);
  if (size == 0) { /* succeeds with a null pointer (CUDA Runtime API, cudaMalloc of 0 bytes) */
    *p = NULL;
    return cudaSuccess;
  }
  struct { uint64_t size; uint32_t kind, stream_ordered; uint64_t caller; } m = {size, kind, stream_ordered, caller};
  struct part part = {&m, sizeof m};
  uint64_t addr = 0;
  cudaError_t e = ask(HEDDLE_OP_ALLOC, &part, 1, &addr, sizeof addr);
  if (e != cudaSuccess) return fail(e);
  note_allocation(addr, size, kind);
  *p = (void *)(uintptr_t)addr;
  return cudaSuccess;
}

/* Sets addresses aside, and makes a part of them memory, as often as it was freed before. */
static cudaError_t reserve(uint64_t *addr, uint64_t size) {
  struct part part = {&size, sizeof size};
  return ask(HEDDLE_OP_RESERVE, &part, 1, addr, sizeof *addr);
}
static cudaError_t map(uint64_t addr, uint64_t size, uint64_t caller, uint64_t stream_ordered) {
  uint64_t m[4] = {addr, size, caller, stream_ordered};
  struct part part = {m, sizeof m};
  cudaError_t e = ask(HEDDLE_OP_MAP, &part, 1, NULL, 0);
  if (e == cudaSuccess) note_allocation(addr, size, HEDDLE_KIND_DEVICE);
  return e;
}

static cudaError_t allocate(void **p, size_t size, uint32_t kind, uint64_t caller) {
  return allocate_as(p, size, kind, caller, 0);
}

static void pool_freed(uint64_t addr);

/* Frees. how is null for a function that waits for the device. */
static cudaError_t release(void *p, int pinned, uint64_t caller, const struct how *how) {
  ENTER();
  if (!p) return cudaSuccess;
  uint64_t addr = (uint64_t)(uintptr_t)p;
  lock();
  size_t i = allocation_at(addr), size = 0;
  int ok = i < allocation_count && allocations[i].addr == addr && allocations[i].kind != HEDDLE_KIND_VARIABLE &&
           (allocations[i].kind == HEDDLE_KIND_PINNED) == pinned;
  if (ok) {
    size = allocations[i].size;
    allocation_count--;
    memmove(allocations + i, allocations + i + 1, (allocation_count - i) * sizeof *allocations);
  }
  unlock();
  if (!ok) {
    uint64_t bad[2] = {addr, caller};
    struct part report = {bad, sizeof bad};
    post(HEDDLE_OP_BAD_FREE, &report, 1);
    return fail(cudaErrorInvalidValue);
  }
  pool_freed(addr);
  if (how)
    note_order((struct heddle_order){.what = HEDDLE_ORDER_FREE, .stream = stream_id(how->stream), .caller = caller,
                                     .to = addr, .to_pitch = size, .width = size, .rows = 1});
  uint64_t m[3] = {addr, caller, how != NULL};
  struct part part = {m, sizeof m};
  return fail(ask(HEDDLE_OP_FREE, &part, 1, NULL, 0));
}

cudaError_t cudaMalloc(void **p, size_t n) { return allocate(p, n, HEDDLE_KIND_DEVICE, CALLER); }
static int capturing(cudaStream_t s);
static cudaError_t capture_alloc(void **p, size_t n, cudaStream_t s, uint64_t caller);
static cudaError_t capture_free(void *p, cudaStream_t s, uint64_t caller);
static cudaError_t allocate_async(void **p, size_t n, cudaStream_t s, uint64_t caller) {
  if (check_stream(s) != cudaSuccess) return fail(cudaErrorInvalidResourceHandle);
  if (capturing(s)) return fail(capture_alloc(p, n, s, caller));
  cudaError_t e = allocate_as(p, n, HEDDLE_KIND_DEVICE, caller, 1);
  if (e == cudaSuccess && n)
    note_order((struct heddle_order){.what = HEDDLE_ORDER_ALLOC, .stream = stream_id(s), .caller = caller,
                                     .to = (uint64_t)(uintptr_t)*p, .to_pitch = n, .width = n, .rows = 1});
  return e;
}
cudaError_t cudaMallocManaged(void **p, size_t n, unsigned int flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return fail(cudaErrorInvalidValue);
  if (n == 0) return fail(cudaErrorInvalidValue);
  return allocate(p, n, HEDDLE_KIND_MANAGED, CALLER);
}
cudaError_t cudaMallocHost(void **p, size_t n) { return allocate(p, n, HEDDLE_KIND_PINNED, CALLER); }
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned int flags) {
  return (void)flags, allocate(p, n, HEDDLE_KIND_PINNED, CALLER);
}

/* Rows start at multiples of 512 bytes, as on hardware. */
static size_t pitch_of(size_t width) { return (width + 511) / 512 * 512; }

cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) {
  if (!pitch) return fail(cudaErrorInvalidValue);
  *pitch = pitch_of(width);
  return allocate(p, *pitch * height, HEDDLE_KIND_DEVICE, CALLER);
}
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent e) {
  if (!p) return fail(cudaErrorInvalidValue);
  p->pitch = pitch_of(e.width), p->xsize = e.width, p->ysize = e.height;
  return allocate(&p->ptr, p->pitch * e.height * e.depth, HEDDLE_KIND_DEVICE, CALLER);
}
cudaError_t cudaFree(void *p) { return release(p, 0, CALLER, NULL); }
cudaError_t cudaFreeAsync(void *p, cudaStream_t s) {
  if (check_stream(s) != cudaSuccess) return fail(cudaErrorInvalidResourceHandle);
  if (capturing(s)) return fail(capture_free(p, s, CALLER));
  return release(p, 0, CALLER, &HOW(s, 1));
}
cudaError_t cudaFreeHost(void *p) { return release(p, 1, CALLER, NULL); }

/* Registered host memory: its pages become pages of the arena, with what they held, so that the program and kernels
   share them. The device's address of it is another one than the host's, as on devices without
   canUseHostPointerForRegisteredMem; a pointer that a launch passes all the same is translated (launch.c). Other
   threads must not write to the pages meanwhile. Ranges that share pages share their mapping. */
struct mapping { uint64_t first, size, addr; int users; };
struct registered { uint64_t host, size; struct mapping *pages; struct registered *next; };
static struct registered *registered_memory;

static struct registered *find_registered(const void *p) {
  uint64_t at = (uint64_t)(uintptr_t)p;
  lock();
  struct registered *r = registered_memory;
  while (r && at - r->host >= r->size) r = r->next;
  unlock();
  return r;
}

static uint64_t device_address(const struct registered *r, const void *p) {
  return r->pages->addr + ((uint64_t)(uintptr_t)p - r->pages->first);
}

/* Pages that change their memory and keep their contents. They may be of the stack on which the caller runs: nothing
   may be written there between the copy and the mapping, so both are made on another stack, which is in no page that a
   program can register. */
struct remapping {
  void *pages, *arena;
  size_t size;
  int back; /* to memory of the host alone */
  void *result;
  ucontext_t caller, here;
  char stack[1 << 16];
};

static void remap_pages(struct remapping *r) {
  if (!r->back) memcpy(r->arena, r->pages, r->size);
  r->result = r->back ? mmap(r->pages, r->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
                      : mmap(r->pages, r->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, arena_fd,
                             (off_t)((uint64_t)(uintptr_t)r->arena - server.base));
  if (r->back && r->result != MAP_FAILED) memcpy(r->pages, r->arena, r->size);
}
static void remap_there(unsigned int high, unsigned int low) {
  remap_pages((struct remapping *)(uintptr_t)((uint64_t)high << 32 | low));
}

static void change_pages(uint64_t pages, size_t size, void *arena, int back) {
  struct remapping *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (r == MAP_FAILED) give_up("no memory");
  r->pages = (void *)(uintptr_t)pages, r->arena = arena, r->size = size, r->back = back;
  /* Below the pages the stack must go on to grow, which it does while a page of it is left there. */
  volatile char below[1 << 14];
  below[0] = 0;
  getcontext(&r->here);
  r->here.uc_stack.ss_sp = r->stack, r->here.uc_stack.ss_size = sizeof r->stack, r->here.uc_link = &r->caller;
  makecontext(&r->here, (void (*)(void))remap_there, 2, (unsigned int)((uint64_t)(uintptr_t)r >> 32),
              (unsigned int)(uintptr_t)r);
  swapcontext(&r->caller, &r->here);
  if (r->result == MAP_FAILED) give_up("registered host memory cannot be mapped");
  munmap(r, sizeof *r);
}

/* One that shares some of its pages but not all with an earlier one would need two addresses for them. */
cudaError_t cudaHostRegister(void *p, size_t n, unsigned int flags) {
  ENTER();
  uint64_t host = (uint64_t)(uintptr_t)p, first = host / 4096 * 4096, size = (host + n + 4095) / 4096 * 4096 - first;
  struct mapping *m = NULL;
  (void)flags;
  if (!p || !n || in_arena(p)) return fail(cudaErrorInvalidValue);
  for (struct registered *r = registered_memory; r; r = r->next) {
    struct mapping *of = r->pages;
    if (host < r->host + r->size && r->host < host + n) return fail(cudaErrorHostMemoryAlreadyRegistered);
    if (first >= of->first + of->size || of->first >= first + size) continue;
    if (first < of->first || first + size > of->first + of->size) return fail(cudaErrorHostMemoryAlreadyRegistered);
    m = of;
  }
  if (!m) {
    void *to;
    cudaError_t e = allocate(&to, size, HEDDLE_KIND_PINNED, CALLER);
    if (e != cudaSuccess) return e;
    m = need(malloc(sizeof *m));
    change_pages(first, size, to, 0);
    *m = (struct mapping){first, size, (uint64_t)(uintptr_t)to, 0};
  }
  struct registered *r = need(malloc(sizeof *r));
  lock();
  m->users++;
  *r = (struct registered){host, n, m, registered_memory};
  registered_memory = r;
  unlock();
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *p) {
  ENTER();
  lock();
  struct registered **at = &registered_memory, *r;
  while (*at && (*at)->host != (uint64_t)(uintptr_t)p) at = &(*at)->next;
  if ((r = *at)) *at = r->next;
  struct mapping *m = r ? r->pages : NULL;
  int last = m && !--m->users;
  unlock();
  if (!r) return fail(cudaErrorHostMemoryNotRegistered);
  free(r);
  cudaError_t e = finish();
  if (!last) return fail(e);
  void *from = (void *)(uintptr_t)m->addr;
  change_pages(m->first, m->size, from, 1);
  free(m);
  return fail(e != cudaSuccess ? e : release(from, 1, CALLER, NULL));
}

cudaError_t cudaHostGetDevicePointer(void **to, void *p, unsigned int flags) {
  ENTER();
  struct allocation a;
  struct registered *r = find_registered(p);
  if (to && r) {
    *to = (void *)(uintptr_t)device_address(r, p);
    return cudaSuccess;
  }
  if (!to || flags || !find_allocation(p, &a) || a.kind == HEDDLE_KIND_DEVICE) return fail(cudaErrorInvalidValue);
  *to = p;
  return cudaSuccess;
}
cudaError_t cudaHostGetFlags(unsigned int *flags, void *p) {
  ENTER();
  struct allocation a;
  if (!flags || !find_allocation(p, &a) || a.kind != HEDDLE_KIND_PINNED) return fail(cudaErrorInvalidValue);
  *flags = cudaHostAllocMapped;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *to, const void *p) {
  ENTER();
  struct allocation a;
  if (!to) return fail(cudaErrorInvalidValue);
  *to = (struct cudaPointerAttributes){cudaMemoryTypeUnregistered, -2, NULL, (void *)(uintptr_t)p};
  struct registered *r = find_registered(p);
  if (r) {
    to->type = cudaMemoryTypeHost, to->device = 0, to->devicePointer = (void *)(uintptr_t)device_address(r, p);
    return cudaSuccess;
  }
  if (!find_allocation(p, &a)) return cudaSuccess;
  to->device = 0, to->devicePointer = (void *)(uintptr_t)p;
  switch (a.kind) {
  case HEDDLE_KIND_MANAGED: to->type = cudaMemoryTypeManaged; break;
  case HEDDLE_KIND_PINNED: to->type = cudaMemoryTypeHost; break;
  default: to->type = cudaMemoryTypeDevice, to->hostPointer = NULL;
  }
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  ENTER();
  uint64_t m[2] = {0, 0};
  cudaError_t e = ask(HEDDLE_OP_MEMORY, NULL, 0, m, sizeof m);
  if (available) *available = m[0];
  if (total) *total = m[1];
  return fail(e);
}

/* Checks a copy of rows: the sides that the kind says to be device memory must be, and each range must be in one
   allocation. A rectangle takes pitch * (height - 1) + width bytes. */
static cudaError_t check_copy(void *to, const void *from, size_t to_span, size_t from_span, enum cudaMemcpyKind k) {
  if ((unsigned)k > cudaMemcpyDefault) return fail(cudaErrorInvalidMemcpyDirection);
  int to_device = k == cudaMemcpyHostToDevice || k == cudaMemcpyDeviceToDevice;
  int from_device = k == cudaMemcpyDeviceToHost || k == cudaMemcpyDeviceToDevice;
  if (!valid_range(to, to_span, to_device) || !valid_range(from, from_span, from_device))
    return fail(cudaErrorInvalidValue);
  return fail(finish());
}

/* Work of a stream that is captured becomes a node of a graph (graph.c). */
static int capturing(cudaStream_t s);
static cudaError_t capture_copy(struct rows to, struct rows from, struct cudaExtent e, enum cudaMemcpyKind k, struct how how);
static cudaError_t capture_set(struct rows to, unsigned value, size_t size, struct cudaExtent e, struct how how);
static cudaError_t outside_capture(cudaStream_t s);

static cudaError_t copy_rows(struct rows to, struct rows from, struct cudaExtent e, enum cudaMemcpyKind k,
                             struct how how) {
  ENTER();
  if (check_stream(how.stream) != cudaSuccess) return fail(cudaErrorInvalidResourceHandle);
  if (!e.width || !e.height || !e.depth) return cudaSuccess;
  if (e.width > to.pitch || e.width > from.pitch) return fail(cudaErrorInvalidPitchValue);
  if (capturing(how.stream)) return fail(capture_copy(to, from, e, k, how));
  if (outside_capture(how.stream) != cudaSuccess) return fail(cudaErrorStreamCaptureImplicit);
  size_t rows = e.height - 1, slices = e.depth - 1;
  cudaError_t err = check_copy(to.p, from.p, to.slice * slices + to.pitch * rows + e.width,
                               from.slice * slices + from.pitch * rows + e.width, k);
  if (err != cudaSuccess) return err;
  for (size_t z = 0; z < e.depth; z++)
    for (size_t y = 0; y < e.height; y++)
      memmove(to.p + z * to.slice + y * to.pitch, from.p + z * from.slice + y * from.pitch, e.width);
  note_copy(to, &from, e, how);
  return cudaSuccess;
}

static cudaError_t copy(void *to, const void *from, size_t n, enum cudaMemcpyKind k, struct how how) {
  return copy_rows((struct rows){to, n, 0}, (struct rows){(char *)(uintptr_t)from, n, 0},
                   (struct cudaExtent){n, 1, 1}, k, how);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t n, enum cudaMemcpyKind k) {
  return copy(to, from, n, k, HOW(0, 0));
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind k, cudaStream_t s) {
  return copy(to, from, n, k, HOW(s, 1));
}
cudaError_t cudaMemcpyPeer(void *to, int d, const void *from, int s, size_t n) {
  return d || s ? fail(cudaErrorInvalidDevice) : copy(to, from, n, cudaMemcpyDeviceToDevice, HOW(0, 0));
}
cudaError_t cudaMemcpyPeerAsync(void *to, int d, const void *from, int s, size_t n, cudaStream_t stream) {
  return d || s ? fail(cudaErrorInvalidDevice) : copy(to, from, n, cudaMemcpyDeviceToDevice, HOW(stream, 1));
}

static cudaError_t copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                           enum cudaMemcpyKind k, struct how how) {
  return copy_rows((struct rows){to, to_pitch, 0}, (struct rows){(char *)(uintptr_t)from, from_pitch, 0},
                   (struct cudaExtent){width, height, 1}, k, how);
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind k) {
  return copy_2d(to, to_pitch, from, from_pitch, width, height, k, HOW(0, 0));
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind k, cudaStream_t s) {
  return copy_2d(to, to_pitch, from, from_pitch, width, height, k, HOW(s, 1));
}

static struct rows pitched(struct cudaPitchedPtr p, struct cudaPos at) {
  size_t slice = p.pitch * p.ysize;
  return (struct rows){(char *)p.ptr + at.z * slice + at.y * p.pitch + at.x, p.pitch, slice};
}

/* Sets rows to elements of 1, 2 or 4 bytes. */
static cudaError_t set_elements(struct rows to, unsigned value, size_t size, struct cudaExtent e, struct how how) {
  ENTER();
  if (check_stream(how.stream) != cudaSuccess) return fail(cudaErrorInvalidResourceHandle);
  if (!e.width || !e.height || !e.depth) return cudaSuccess;
  size_t span = to.slice * (e.depth - 1) + to.pitch * (e.height - 1) + e.width;
  if (!valid_range(to.p, span, 1)) return fail(cudaErrorInvalidValue);
  if (capturing(how.stream)) return fail(capture_set(to, value, size, e, how));
  if (outside_capture(how.stream) != cudaSuccess) return fail(cudaErrorStreamCaptureImplicit);
  cudaError_t err = finish();
  if (err != cudaSuccess) return fail(err);
  for (size_t z = 0; z < e.depth; z++)
    for (size_t y = 0; y < e.height; y++) {
      char *row = to.p + z * to.slice + y * to.pitch;
      if (size == 1) memset(row, (int)value, e.width);
      else
        for (size_t x = 0; x < e.width; x += size) memcpy(row + x, &value, size);
    }
  note_copy(to, NULL, e, how);
  return cudaSuccess;
}

static cudaError_t set_rows(struct rows to, int value, struct cudaExtent e, struct how how) {
  return set_elements(to, (unsigned char)value, 1, e, how);
}

static cudaError_t set_2d(void *p, size_t pitch, int value, size_t width, size_t height, struct how how) {
  return set_rows((struct rows){p, pitch, 0}, value, (struct cudaExtent){width, height, 1}, how);
}
cudaError_t cudaMemset(void *p, int value, size_t n) { return set_2d(p, n, value, n, 1, HOW(0, 0)); }
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t s) {
  return set_2d(p, n, value, n, 1, HOW(s, 1));
}
cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
  return set_2d(p, pitch, value, width, height, HOW(0, 0));
}
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height, cudaStream_t s) {
  return set_2d(p, pitch, value, width, height, HOW(s, 1));
}
cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent e) {
  return set_rows(pitched(p, (struct cudaPos){0, 0, 0}), value, e, HOW(0, 0));
}
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent e, cudaStream_t s) {
  return set_rows(pitched(p, (struct cudaPos){0, 0, 0}), value, e, HOW(s, 1));
}

/* Hints that change no result. */
static cudaError_t hint(const void *p) {
  ENTER();
  return p ? cudaSuccess : fail(cudaErrorInvalidValue);
}
cudaError_t cudaMemPrefetchAsync(const void *p, size_t n, int device, cudaStream_t s) {
  return (void)n, (void)device, (void)s, hint(p);
}
cudaError_t cudaMemAdvise(const void *p, size_t n, enum cudaMemoryAdvise a, int device) {
  return (void)n, (void)a, (void)device, hint(p);
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t s, void *p, size_t n, unsigned int flags) {
  return (void)s, (void)n, (void)flags, hint(p);
}

/* Symbols: variables of a module, by the address of the host's shadow. */
static cudaError_t symbol(const void *host, struct variable **to) {
  ENTER();
  struct variable *v = find_variable(host);
  if (!v) return fail(cudaErrorInvalidSymbol);
  *to = v;
  struct allocation a;
  if (v->addr && find_allocation((void *)(uintptr_t)v->addr, &a)) return cudaSuccess;
  struct { uint32_t module, zero; } head = {v->module, 0};
  struct part p[2] = {{&head, sizeof head}, {v->name, strlen(v->name)}};
  uint64_t reply[2];
  cudaError_t e = ask(HEDDLE_OP_SYMBOL, p, 2, reply, sizeof reply);
  if (e != cudaSuccess) return fail(e);
  v->addr = reply[0], v->size = reply[1];
  note_allocation(v->addr, v->size, HEDDLE_KIND_VARIABLE);
  return cudaSuccess;
}

cudaError_t cudaGetSymbolAddress(void **p, const void *host) {
  struct variable *v;
  cudaError_t e = symbol(host, &v);
  if (e == cudaSuccess) *p = (void *)(uintptr_t)v->addr;
  return e;
}
cudaError_t cudaGetSymbolSize(size_t *n, const void *host) {
  struct variable *v;
  cudaError_t e = symbol(host, &v);
  if (e == cudaSuccess) *n = v->size;
  return e;
}
static cudaError_t copy_symbol(const void *host, void *to, const void *from, size_t n, size_t offset,
                               enum cudaMemcpyKind k, struct how how) {
  struct variable *v;
  cudaError_t e = symbol(host, &v);
  if (e != cudaSuccess) return e;
  if (offset > v->size || n > v->size - offset) return fail(cudaErrorInvalidValue);
  char *at = (char *)(uintptr_t)v->addr + offset;
  return to ? copy(to, at, n, k, how) : copy(at, from, n, k, how);
}
cudaError_t cudaMemcpyToSymbol(const void *host, const void *from, size_t n, size_t offset, enum cudaMemcpyKind k) {
  return copy_symbol(host, NULL, from, n, offset, k, HOW(0, 0));
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *host, size_t n, size_t offset, enum cudaMemcpyKind k) {
  return copy_symbol(host, to, NULL, n, offset, k, HOW(0, 0));
}
cudaError_t cudaMemcpyToSymbolAsync(const void *host, const void *from, size_t n, size_t offset, enum cudaMemcpyKind k,
                                    cudaStream_t s) {
  return copy_symbol(host, NULL, from, n, offset, k, HOW(s, 1));
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *host, size_t n, size_t offset, enum cudaMemcpyKind k,
                                      cudaStream_t s) {
  return copy_symbol(host, to, NULL, n, offset, k, HOW(s, 1));
}
