/* The connection to heddle. It is opened by the first image, allocation or launch, so that a program which does not use
   CUDA has none, and a child after fork opens its own. When it breaks, the program goes on unwatched. */

static struct {
  pthread_mutex_t lock; /* recursive: held for one message and its reply, and for the tables of the other parts */
  int fd;               /* -1: not connected */
  int dead;             /* nothing is watched any more */
  int used;             /* this process has allocated or launched */
  int inherited;        /* a parent had, before fork */
  pid_t process;        /* whose connection it is */
  unsigned connection;  /* its number; 0: none yet */
  uint64_t host_bytes, device_bytes;
  uint64_t replays; /* how many launches of each executable graph to make node by node */
  int memory_fd;        /* the host memory; -1: none */
} server = {.fd = -1, .memory_fd = -1};

/* Launches of instrumented modules, of which one at a time logs. It is recursive: held for all nodes of a graph. */
static pthread_mutex_t launching = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* More than 0 in functions that are called from one that was handled already. */
THREAD int depth;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void lock(void) { pthread_mutex_lock(&server.lock); }
static void unlock(void) { pthread_mutex_unlock(&server.lock); }

static void close_queues(void);
static void forget_queues(void);

/* Nothing more is watched. The socket stays open, since a thread waits for its end (queues.c). */
static void stop_watching(const char *why) {
  if (server.dead) return;
  server.dead = 1;
  const char *since = server.connection ? " any more" : "";
  fprintf(stderr, "heddle: process %d is not watched%s: %s\n", (int)getpid(), since, why);
  if (server.fd >= 0) shutdown(server.fd, SHUT_RDWR);
  close_queues();
}

static void lost(void) { stop_watching("the connection to heddle was lost"); }

static int write_all(struct iovec *v, int n) {
  while (n > 0) {
    struct msghdr m = {.msg_iov = v, .msg_iovlen = (size_t)n};
    ssize_t k = sendmsg(server.fd, &m, MSG_NOSIGNAL);
    if (k < 0 && errno == EINTR) continue;
    if (k < 0) return 0;
    for (; n > 0 && (size_t)k >= v->iov_len; v++, n--) k -= (ssize_t)v->iov_len;
    if (n > 0) v->iov_base = (char *)v->iov_base + k, v->iov_len -= (size_t)k;
  }
  return 1;
}

/* Reads n bytes. A file descriptor that comes with them is put where fd points, if that is not NULL. */
static int read_all(void *to, size_t n, int *fd) {
  while (n > 0) {
    struct iovec v = {to, n};
    union { struct cmsghdr align; char bytes[CMSG_SPACE(sizeof(int))]; } control;
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    if (fd) m.msg_control = control.bytes, m.msg_controllen = sizeof control;
    ssize_t k = recvmsg(server.fd, &m, MSG_CMSG_CLOEXEC);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return 0;
    struct cmsghdr *c = fd ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS) memcpy(fd, CMSG_DATA(c), sizeof *fd);
    to = (char *)to + k, n -= (size_t)k;
  }
  return 1;
}

/* Sends a message. The caller holds the lock. */
static int send_parts(uint32_t op, const struct part *parts, int n) {
  uint32_t head[2] = {op, 0};
  uint64_t size = 0;
  struct iovec v[8] = {{head, sizeof head}};
  if (server.dead || server.fd < 0) return 0;
  for (int i = 0; i < n; i++) {
    v[i + 1] = (struct iovec){(void *)(uintptr_t)parts[i].data, parts[i].size};
    size += parts[i].size;
  }
  if (size > UINT32_MAX) return 0;
  head[1] = (uint32_t)size;
  if (write_all(v, n + 1)) return 1;
  lost();
  return 0;
}

/* Sends a message that has no reply. */
static void post(uint32_t op, const struct part *parts, int n) {
  int error = errno;
  lock();
  send_parts(op, parts, n);
  unlock();
  errno = error;
}

/* Sends a message and returns the body of its reply, which the caller frees, or NULL. There is a NUL behind it. */
static void *ask_with(uint32_t op, const struct part *parts, int n, size_t *size, int *fd) {
  uint32_t length;
  char *body = NULL;
  int error = errno;
  lock();
  if (send_parts(op, parts, n)) {
    if (!read_all(&length, sizeof length, fd)) lost();
    else if (!(body = malloc((size_t)length + 1))) stop_watching("out of memory");
    else if (!read_all(body, length, fd)) lost();
    if (server.dead) free(body), body = NULL;
    if (body) body[length] = 0, *size = length;
  }
  unlock();
  errno = error;
  return body;
}
static void *ask(uint32_t op, const struct part *parts, int n, size_t *size) {
  return ask_with(op, parts, n, size, NULL);
}

/* In the child the connection is the parent's, and other threads may have held the locks. */
static void child_after_fork(void) {
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&server.lock, &a);
  pthread_mutex_init(&launching, &a);
  if (server.fd >= 0) close(server.fd);
  if (server.memory_fd >= 0) close(server.memory_fd);
  server.fd = server.memory_fd = -1;
  server.inherited |= server.used;
  server.process = 0;
  forget_queues();
}

static void set_up(void) {
  child_after_fork();
  pthread_atfork(NULL, NULL, child_after_fork);
}

static int load_address(struct dl_phdr_info *info, size_t size, void *to) {
  (void)size;
  *(uint64_t *)to = info->dlpi_addr; /* the program itself comes first */
  return 1;
}

static void connect_server(void) {
  const char *path = getenv(HEDDLE_WATCH_SOCKET);
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  server.process = getpid();
  if (server.inherited) {
    stop_watching("it was forked after CUDA was used, so CUDA does not work in it");
    return;
  }
  if (!path || !*path || strlen(path) >= sizeof to.sun_path) {
    stop_watching(HEDDLE_WATCH_SOCKET " has no path of a socket");
    return;
  }
  strcpy(to.sun_path, path);
  server.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (server.fd < 0 || connect(server.fd, (struct sockaddr *)&to, sizeof to) != 0) {
    stop_watching("heddle cannot be reached");
    return;
  }
  int high = fcntl(server.fd, F_DUPFD_CLOEXEC, 960); /* where a program that closes what it inherits hardly looks */
  if (high >= 0) close(server.fd), server.fd = high;
  struct { uint32_t version, process; uint64_t load; } hello = {HEDDLE_WATCH_VERSION, (uint32_t)getpid(), 0};
  dl_iterate_phdr(load_address, &hello.load);
  char self[4096];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self);
  struct part p[2] = {{&hello, sizeof hello}, {self, n > 0 ? (size_t)n : 0}};
  size_t size = 0;
  uint64_t *body = ask_with(HEDDLE_WATCH_HELLO, p, 2, &size, &server.memory_fd);
  if (body && size >= 3 * sizeof *body) {
    server.host_bytes = body[0], server.device_bytes = body[1], server.replays = body[2];
    server.connection++;
  } else {
    stop_watching("this is the library of another version of heddle");
  }
  free(body);
}

/* Returns whether the process is watched, and connects first if that is needed. */
static int enter(void) {
  pthread_once(&once, set_up);
  if (server.process == getpid()) return !server.dead;
  int error = errno;
  lock();
  if (server.process != getpid()) {
    if (server.process) server.fd = server.memory_fd = -1, server.inherited |= server.used; /* clone without fork */
    if (!server.dead) connect_server();
  }
  unlock();
  errno = error;
  return !server.dead;
}

/* Tells heddle once of each thing that is not watched, with a reason. */
static void unwatched(uint32_t why, const char *name) {
  static struct said { struct said *next; uint32_t why; char name[]; } *said;
  static unsigned connection;
  uint32_t head[2] = {why, 0};
  if (!name) name = "";
  struct part p[2] = {{head, sizeof head}, {name, strlen(name)}};
  lock();
  if (connection != server.connection) said = NULL, connection = server.connection;
  struct said *s = said;
  while (s && (s->why != why || strcmp(s->name, name))) s = s->next;
  if (!s && (s = malloc(sizeof *s + strlen(name) + 1))) {
    s->next = said, s->why = why, said = s;
    strcpy(s->name, name);
    post(HEDDLE_WATCH_UNWATCHED, p, 2);
  }
  unlock();
}

__attribute__((destructor)) static void at_exit(void) {
  if (server.fd < 0 || server.dead || server.process != getpid()) return;
  uint32_t regular = 1;
  struct part p = {&regular, sizeof regular};
  post(HEDDLE_WATCH_EXIT, &p, 1);
}
