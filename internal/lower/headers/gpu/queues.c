/* The memory into which instrumented kernels log, for each context in which one is launched. */

#define CLOSED_AT 8         /* instrument.ClosedAt, in the host memory */
#define REGISTER_PORTABLE 1 /* CU_MEMHOSTREGISTER_, and CU_MEMHOSTALLOC_ of the same values */
#define REGISTER_DEVICEMAP 2
#define ALREADY_REGISTERED 712

struct queues { void *context; deviceptr device, host; };
static struct queues queues[8];
static int queue_count;
static char *host_memory; /* in this process */
static int host_registered, host_pinned;
static int setup_failed; /* nothing is watched */

/* Nobody reads the queues any more: a kernel that waits for space drops what it logs, and reaches its end. */
static void close_queues(void) {
  char *host = __atomic_load_n(&host_memory, __ATOMIC_ACQUIRE);
  if (host) __atomic_store_n((uint32_t *)(void *)(host + CLOSED_AT), 1, __ATOMIC_RELEASE);
}

/* In a child they are the parent's. */
static void forget_queues(void) { host_memory = NULL, host_registered = host_pinned = queue_count = 0; }

/* Waits for the end of the connection, while the threads of the program wait for kernels. */
static void *wait_for_end(void *fd) {
  struct pollfd p = {(int)(intptr_t)fd, POLLRDHUP, 0};
  while (poll(&p, 1, -1) < 0 && errno == EINTR) {}
  close_queues();
  return NULL;
}

static void start_waiting(void) {
  static unsigned connection;
  sigset_t all, old;
  pthread_t thread;
  if (connection == server.connection) return;
  connection = server.connection;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  if (!pthread_create(&thread, NULL, wait_for_end, (void *)(intptr_t)server.fd)) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Makes the host memory, if there is none yet. */
static result make_host(const char **what) {
  result e = 0;
  if (!host_memory) {
    void *p = NULL;
    if (server.memory_fd >= 0) {
      *what = "mmap";
      p = mmap(NULL, server.host_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, server.memory_fd, 0);
      if (p == MAP_FAILED) return ERROR_OUT_OF_MEMORY;
    } else {
      *what = "cuMemHostAlloc";
      if ((e = cu.host_alloc(&p, server.host_bytes, REGISTER_PORTABLE | REGISTER_DEVICEMAP))) return e;
      memset(p, 0, server.host_bytes);
      host_pinned = 1;
    }
    __atomic_store_n(&host_memory, p, __ATOMIC_RELEASE);
    start_waiting();
  }
  if (!host_pinned && !host_registered) {
    *what = "cuMemHostRegister";
    if (!cu.host_register) return ERROR_NOT_FOUND;
    e = cu.host_register(host_memory, server.host_bytes, REGISTER_PORTABLE | REGISTER_DEVICEMAP);
    if (e && e != ALREADY_REGISTERED) return e;
    host_registered = 1;
  }
  return 0;
}

/* Tells heddle where the pinned memory is; 0: nowhere any more. */
static void tell_queues(uint64_t address) {
  struct part p = {&address, sizeof address};
  size_t size;
  free(ask(HEDDLE_WATCH_QUEUES, &p, 1, &size));
}

/* Finds or makes the queues of the current context. */
static result queues_here(struct queues **to, const char **what) {
  void *context = NULL;
  *what = "cuCtxGetCurrent";
  result e = cu.ctx_get_current(&context);
  if (e) return e;
  for (int i = 0; i < queue_count; i++)
    if (queues[i].context == context) return *to = &queues[i], 0;
  struct queues q = {context, 0, 0};
  *what = "the number of contexts";
  if (queue_count == sizeof queues / sizeof *queues) return ERROR_OUT_OF_MEMORY;
  *what = "cuMemAlloc";
  if ((e = cu.mem_alloc(&q.device, server.device_bytes))) return e;
  int sent = host_memory != NULL;
  if ((e = make_host(what))) return e;
  *what = "cuMemHostGetDevicePointer";
  if ((e = cu.host_pointer(&q.host, host_memory, 0))) return e;
  if (host_pinned && !sent) tell_queues((uint64_t)(uintptr_t)host_memory);
  queues[queue_count] = q;
  *to = &queues[queue_count++];
  return 0;
}

/* A context ends, or with NULL all of them: its queues end too. before: the context still exists. */
static void drop_queues(const void *context, int before) {
  for (int i = 0; i < queue_count; i++)
    if (!context || queues[i].context == context) queues[i--] = queues[--queue_count];
  if (context && queue_count) return;
  if (before && host_registered && cu.host_unregister) cu.host_unregister(host_memory);
  host_registered = queue_count = 0;
  if (host_pinned) {
    host_pinned = 0, __atomic_store_n(&host_memory, NULL, __ATOMIC_RELEASE);
    tell_queues(0);
  }
}

/* all: also log what is proved. */
static result set_variables(const struct owner *o, deviceptr device, deviceptr host, uint32_t all) {
  result e = cu.to_device(o->device, &device, sizeof device), e2 = cu.to_device(o->host, &host, sizeof host);
  result e3 = o->all ? cu.to_device(o->all, &all, sizeof all) : 0;
  return e ? e : e2 ? e2 : e3;
}

/* Makes kernels of a module log. The copies to the device may still run when they return (API synchronization behavior,
   CUDA Driver API), and streams that do not wait for the default stream must not launch before they have ended. */
static result start_log(const struct owner *o, struct queues **q, uint32_t all, const char **what) {
  result e = queues_here(q, what);
  if (e) return e;
  *what = "cuMemsetD8";
  if ((e = cu.memset8((*q)->device, 0, server.device_bytes))) return e;
  *what = "cuMemcpyHtoD";
  if (!(e = set_variables(o, (*q)->device, (*q)->host, all))) {
    *what = "cuCtxSynchronize";
    if (!(e = cu.ctx_synchronize())) return 0;
  }
  set_variables(o, 0, 0, 1);
  return e;
}

/* Makes them log no more, and returns the device memory, or NULL. */
static void *stop_log(const struct owner *o, const struct queues *q) {
  result e = set_variables(o, 0, 0, 1);
  void *memory = e ? NULL : malloc(server.device_bytes);
  if (memory && cu.to_host(memory, q->device, server.device_bytes)) free(memory), memory = NULL;
  return memory;
}
