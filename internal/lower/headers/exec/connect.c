/* The connection to heddle: opened by the first call that needs the device, so that a program that only prints its
   usage needs none, and a program may fork before it uses CUDA. */

static struct {
  pthread_mutex_t lock; /* recursive: held for one message and its reply */
  int fd;               /* -1: not connected */
  int forked;           /* this is the child of a process that had a connection */
  int pending;          /* something was sent that heddle may not have done yet */
  cudaError_t context;  /* the error that every call returns */
  uint64_t base, size;  /* the arena */
  uint64_t every;       /* heddle wants to know of each copy and memset, also without streams */
  struct heddle_gpu gpu;
} server = {.fd = -1};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local cudaError_t last_error;

static cudaError_t fail(cudaError_t e) {
  if (e != cudaSuccess) last_error = e;
  return e;
}

static void lock(void) { pthread_mutex_lock(&server.lock); }
static void unlock(void) { pthread_mutex_unlock(&server.lock); }

/* Ends the program with exit code 3, as heddle does for what it could not examine. */
static void give_up(const char *why) {
  fflush(stdout);
  fprintf(stderr, "heddle: %s\n", why);
  _exit(3);
}

static void lost(void) { give_up("the connection to heddle was lost; the program ends"); }

static void write_all(struct iovec *v, int n) {
  while (n > 0) {
    struct msghdr m = {.msg_iov = v, .msg_iovlen = (size_t)n};
    ssize_t k = sendmsg(server.fd, &m, MSG_NOSIGNAL);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) lost();
    for (; n > 0 && (size_t)k >= v->iov_len; v++, n--) k -= (ssize_t)v->iov_len;
    if (n > 0) v->iov_base = (char *)v->iov_base + k, v->iov_len -= (size_t)k;
  }
}

static void read_all(void *to, size_t n) {
  while (n > 0) {
    ssize_t k = recv(server.fd, to, n, 0);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) lost();
    to = (char *)to + k, n -= (size_t)k;
  }
}

/* What orders streams waits here for the next message: a copy must not cost one of its own. */
static struct heddle_order ordered[64];
static uint32_t ordered_count;

/* Sends a message, and before it what has waited. The caller holds the lock. */
static void send_parts(uint32_t op, const struct part *parts, int n) {
  uint32_t first[2] = {HEDDLE_OP_ORDER, ordered_count * (uint32_t)sizeof *ordered}, head[2] = {op, 0};
  struct iovec v[8] = {{first, sizeof first}, {ordered, first[1]}, {head, sizeof head}};
  for (int i = 0; i < n; i++) {
    v[i + 3] = (struct iovec){(void *)(uintptr_t)parts[i].data, parts[i].size};
    head[1] += (uint32_t)parts[i].size;
  }
  int skip = ordered_count ? 0 : 2;
  ordered_count = 0;
  write_all(v + skip, n + 3 - skip);
}

/* Sends a message that has no reply. */
static void post(uint32_t op, const struct part *parts, int n) {
  lock();
  send_parts(op, parts, n);
  server.pending = 1;
  unlock();
}

/* Prints what kernels printed, where the program prints, in the order of CUDA: at the next synchronization. */
static void print_text(size_t n) {
  char text[4096];
  while (n > 0) {
    size_t k = n < sizeof text ? n : sizeof text;
    read_all(text, k);
    fwrite(text, 1, k, stdout);
    n -= k;
  }
}

/* Reads a reply with a body of at most size bytes. The caller holds the lock. */
static cudaError_t read_reply(void *body, size_t size) {
  uint32_t head[5];
  read_all(head, sizeof head);
  print_text(head[2]);
  if (head[3] > size) give_up("heddle and the program do not fit: compile it again with this heddle");
  read_all(body, head[3]);
  server.context = (cudaError_t)head[1];
  if (!head[4]) server.pending = 0;
  return (cudaError_t)head[0];
}

/* Sends a message and waits for its reply. Meanwhile the program prints nothing, and heddle may: the first word of the
   arena, which is part of no allocation, tells it. */
static cudaError_t ask(uint32_t op, const struct part *parts, int n, void *reply, size_t size) {
  lock();
  uint32_t *waiting = (uint32_t *)(uintptr_t)server.base;
  send_parts(op, parts, n);
  __atomic_store_n(waiting, 1, __ATOMIC_RELAXED);
  cudaError_t e = read_reply(reply, size);
  __atomic_store_n(waiting, 0, __ATOMIC_RELAXED);
  unlock();
  return e;
}

/* Waits until heddle has done what was sent. */
static cudaError_t finish(void) {
  if (server.pending) ask(HEDDLE_OP_SYNC, NULL, 0, NULL, 0);
  return server.context;
}

static void child_after_fork(void) {
  if (server.fd < 0) return;
  close(server.fd);
  server.fd = -1;
  server.forked = 1;
}

static void at_exit(void) {
  if (server.fd < 0 || server.forked) return;
  finish();
  uint32_t status = 0;
  struct part p = {&status, sizeof status};
  post(HEDDLE_OP_EXIT, &p, 1);
}

static void set_up(void) {
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&server.lock, &a);
  pthread_atfork(NULL, NULL, child_after_fork);
}

/* Receives the reply to HELLO with the file descriptor of the arena, or -1. */
static int receive_arena(struct heddle_gpu *gpu) {
  uint32_t head[5];
  uint64_t place[3];
  struct iovec v = {head, sizeof head};
  union { struct cmsghdr align; char bytes[CMSG_SPACE(sizeof(int))]; } control;
  struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control};
  if (recvmsg(server.fd, &m, MSG_WAITALL | MSG_CMSG_CLOEXEC) != sizeof head || head[0] != cudaSuccess) return -1;
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  if (!c || c->cmsg_type != SCM_RIGHTS) return -1;
  int fd;
  memcpy(&fd, CMSG_DATA(c), sizeof fd);
  read_all(place, sizeof place);
  read_all(gpu, sizeof *gpu);
  server.base = place[0], server.size = place[1], server.every = place[2];
  return fd;
}

static int load_address(struct dl_phdr_info *info, size_t size, void *to) {
  (void)size;
  *(uint64_t *)to = info->dlpi_addr; /* the program itself comes first */
  return 1;
}

static int arena_fd = -1;

static void check_default_stream(void);

/* Connects to heddle. The caller holds the lock. */
static void connect_server(void) {
  check_default_stream();
  const char *path = getenv(HEDDLE_PROTOCOL_SOCKET);
  if (!path || !*path)
    give_up("this program was built by heddle to run without a GPU; start it with: heddle exec PROGRAM ARGUMENTS");
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof to.sun_path) give_up("the path in " HEDDLE_PROTOCOL_SOCKET " is too long");
  strcpy(to.sun_path, path);
  server.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (server.fd < 0 || connect(server.fd, (struct sockaddr *)&to, sizeof to) != 0)
    give_up("the heddle that should run this program's kernels is not there; start it with: heddle exec PROGRAM");
  struct { uint32_t version, process; uint64_t load; } hello = {HEDDLE_PROTOCOL_VERSION, (uint32_t)getpid(), 0};
  dl_iterate_phdr(load_address, &hello.load);
  char self[4096];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self);
  struct part p[2] = {{&hello, sizeof hello}, {self, n > 0 ? (size_t)n : 0}};
  send_parts(HEDDLE_OP_HELLO, p, 2);
  arena_fd = receive_arena(&server.gpu);
  if (arena_fd < 0) give_up("heddle and the program do not fit: compile it again with this heddle");
  void *at = (void *)(uintptr_t)server.base;
  if (mmap(at, server.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, arena_fd, 0) != at)
    give_up("the memory of the device cannot be mapped (address 0x200040000000 is in use, or ulimit -v is set)");
  atexit(at_exit);
  send_modules();
}

/* The thread has called a function of the runtime API, which makes the primary context current (driver.c), and not from
   within one of the driver API. */
static _Thread_local int primary_current, in_driver;

/* Connects if needed, and returns the error that the context is in. */
static cudaError_t heddle_enter(void) {
  if (!in_driver) primary_current = 1;
  pthread_once(&once, set_up);
  if (server.forked) {
    static int said;
    if (!said++)
      fprintf(stderr, "heddle: process %d was forked after CUDA was used, so CUDA does not work in it\n", (int)getpid());
    return fail(cudaErrorInitializationError);
  }
  if (server.fd < 0) {
    lock();
    if (server.fd < 0) connect_server();
    unlock();
  }
  return server.context == cudaSuccess ? cudaSuccess : fail(server.context);
}

/* Says once that a function is not supported, here and in heddle's summary. */
static int heddle_unsupported(const char *name) {
  static const char *said[256];
  static int n;
  cudaError_t e = heddle_enter();
  if (e != cudaSuccess) return e;
  lock();
  int known = 0;
  for (int i = 0; i < n; i++) known |= !strcmp(said[i], name);
  if (!known && n < 256) {
    said[n++] = name;
    fprintf(stderr, "heddle: %s is not supported\n", name);
    struct part p = {name, strlen(name)};
    post(HEDDLE_OP_UNSUPPORTED, &p, 1);
  }
  unlock();
  return fail(cudaErrorNotSupported);
}
