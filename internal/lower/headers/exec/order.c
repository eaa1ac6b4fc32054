/* What orders the work of streams, for heddle's search for races between launches. A program without streams of its own
   has nothing to order and sends nothing, unless heddle wants to know what was written. */

static int ordering;     /* the program has used a stream other than the default one */
static int non_blocking; /* it has created one that does not synchronize with the default stream */

/* The last message was a copy in the default stream, and the host has waited as these flags say; -1: it was not. */
static int last_default = -1;

/* Notes a call. */
static void note_order(struct heddle_order o) {
  if (!ordering && !server.every) return;
  lock();
  last_default = -1;
  if (ordered_count == sizeof ordered / sizeof *ordered) {
    struct part p = {&o, sizeof o};
    send_parts(HEDDLE_OP_ORDER, &p, 1);
  } else {
    ordered[ordered_count++] = o;
  }
  unlock();
}

/* What a stream of 0 means: heddle/runtime.h. */
extern int __heddle_per_thread_default_stream __attribute__((weak)), __heddle_legacy_default_stream __attribute__((weak));
static cudaStream_t default_stream(cudaStream_t s) {
  return !s && &__heddle_per_thread_default_stream ? cudaStreamPerThread : s;
}
static void check_default_stream(void) {
  if (&__heddle_per_thread_default_stream && &__heddle_legacy_default_stream)
    give_up("some files of this program are compiled with --default-stream per-thread and some are not; compile all of "
            "them in one way");
}

/* The number by which heddle knows a stream. Each thread has a per-thread default stream of its own. */
static uint64_t stream_id(cudaStream_t s) {
  static uint64_t threads;
  static _Thread_local uint64_t number;
  s = default_stream(s);
  if (!s || s == cudaStreamLegacy) return 0;
  if (s != cudaStreamPerThread) return (uint64_t)(uintptr_t)s;
  if (!number) number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
  ordering = 1;
  return 4 * number + 2; /* no address of a stream, which is a multiple of 16 */
}

/* How a copy or memset was called. */
struct how { cudaStream_t stream; int async; uint64_t caller; };
#define HOW(STREAM, ASYNC) ((struct how){STREAM, ASYNC, CALLER})

static struct registered *registered_memory;
static struct registered *find_registered(const void *p);
static uint64_t device_address(const struct registered *r, const void *p);
static int in_arena(const void *p);
static int find_allocation(const void *p, struct allocation *to);

/* The address of host or device memory in the arena, if it is there, and what kind of memory it is: -1 pageable. */
static uint64_t arena_address(const void *p, int *kind) {
  struct allocation a;
  struct registered *r = registered_memory ? find_registered(p) : NULL;
  *kind = -1;
  if (r) {
    *kind = HEDDLE_KIND_PINNED;
    return device_address(r, p);
  }
  if (in_arena(p) && find_allocation(p, &a)) *kind = (int)a.kind;
  return (uint64_t)(uintptr_t)p;
}

/* Whether the host waits for a copy (CUDA Runtime API, "API synchronization behavior"). Where the documentation says
   nothing, about managed memory, it does. */
static unsigned copy_waits(int to, int from, int async) {
  int to_host = to == -1 || to == HEDDLE_KIND_PINNED, from_host = from == -1 || from == HEDDLE_KIND_PINNED;
  if (to_host && from_host) return HEDDLE_ORDER_BEFORE | HEDDLE_ORDER_AFTER;
  if (async) return to == -1 ? HEDDLE_ORDER_AFTER : 0; /* to pageable memory: returns when the copy has ended */
  if (to_host || to == HEDDLE_KIND_MANAGED || from == HEDDLE_KIND_MANAGED || from == HEDDLE_KIND_PINNED)
    return HEDDLE_ORDER_AFTER;
  /* From pageable memory: waits for the stream, and returns when the memory has been staged. */
  if (from == -1) return HEDDLE_ORDER_BEFORE | HEDDLE_ORDER_STAGED;
  return 0; /* within the device: not at all */
}

struct rows { char *p; size_t pitch, slice; };

/* Notes a copy of slices of rows; one without a source is a memset. */
static void note_copy(struct rows to, const struct rows *from, struct cudaExtent e, struct how how) {
  if (!ordering && !server.every && default_stream(how.stream) != cudaStreamPerThread) return;
  int to_kind, from_kind = 0;
  struct heddle_order o = {.what = from ? HEDDLE_ORDER_COPY : HEDDLE_ORDER_SET, .stream = stream_id(how.stream),
                           .caller = how.caller, .to_pitch = to.pitch, .width = e.width, .rows = e.height};
  uint64_t at = arena_address(to.p, &to_kind), source = 0;
  if (from) source = arena_address(from->p, &from_kind), o.from_pitch = from->pitch;
  unsigned waits = to_kind == HEDDLE_KIND_PINNED || to_kind == HEDDLE_KIND_MANAGED ? HEDDLE_ORDER_AFTER : 0;
  if (from) waits = copy_waits(to_kind, from_kind, how.async);
  else if (how.async) waits = 0; /* a memset of pinned or managed memory is synchronous, others are not */
  if (!non_blocking && !o.stream && !server.every) {
    /* Nothing races with a command of the default stream, and one after the other orders no more than the first. */
    lock();
    if (last_default < 0 || waits & ~(unsigned)last_default) {
      o.width = 0, o.flags = waits;
      note_order(o);
      last_default = (int)waits;
    }
    unlock();
    return;
  }
  for (size_t z = 0; z < e.depth; z++) {
    o.to = at + z * to.slice;
    if (from) o.from = source + z * from->slice;
    o.flags = waits;
    note_order(o);
  }
}
