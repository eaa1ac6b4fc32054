/* Launches. Those of instrumented modules are made one at a time, since the variables with the queues are the
   module's. */

/* The configuration between <<<...>>> and the stub that it calls. The return address of the push is in the line of the
   launch; that of cudaLaunchKernel is in the stub. */
struct pushed { uint64_t caller; struct stack stack; };
THREAD struct pushed pushed[8];
THREAD int pushed_count, popped; /* popped: pushed[pushed_count] is that of the next cudaLaunchKernel */

/* A launch of the runtime whose function could not be found, and that the driver's will be. */
THREAD const struct launch *outer;
THREAD int outer_seen;

/* The streams that are captured. */
static void *capturing[64];
static int first_device = -1;

/* The callers of a function of CUDA that caller has called. Programs have no frame pointers, in general, and the tables
   for exceptions that this reads are there nearly always. */
static void walk(struct stack *to, uint64_t caller) {
  void *at[64];
  int n = backtrace(at, 64), i = 0;
  to->n = 0;
  while (i < n && (uint64_t)(uintptr_t)at[i] != caller) i++;
  for (i++; i < n && to->n < sizeof to->at / sizeof *to->at; i++) to->at[to->n++] = (uint64_t)(uintptr_t)at[i];
}

static void push_configuration(uint64_t caller) {
  if (pushed_count < 0 || pushed_count >= 8) return;
  popped = 0;
  struct pushed *p = &pushed[pushed_count++];
  p->caller = caller, p->stack.n = 0;
  if (instrumented && !server.dead) walk(&p->stack, caller);
}
static void pop_configuration(void) {
  if (pushed_count > 0) pushed_count--, popped = 1;
}

/* Who launches: the line of the launch, if this is the call in a stub. */
static void find_caller(struct launch *l, int in_stub, struct stack *own) {
  if (outer) {
    l->caller = outer->caller, l->stack = outer->stack;
  } else if (in_stub && l->form == RUNTIME_PLAIN) {
    l->caller = pushed[pushed_count].caller, l->stack = &pushed[pushed_count].stack;
  } else {
    walk(own, l->caller);
    l->stack = own;
  }
}

static result call(const struct launch *l) {
#define DIMENSIONS l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y, l->block.z, (unsigned)l->shared, l->stream
#define UNSIGNED unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned
  switch (l->form) {
  case DRIVER_PLAIN:
    return ((result(*)(void *, UNSIGNED, void *, void **, void **))l->real)(l->function, DIMENSIONS, l->args, l->extra);
  case DRIVER_COOPERATIVE:
    return ((result(*)(void *, UNSIGNED, void *, void **))l->real)(l->function, DIMENSIONS, l->args);
  case DRIVER_CONFIG:
    return ((result(*)(const void *, void *, void **, void **))l->real)(l->config, l->function, l->args, l->extra);
  case RUNTIME_PLAIN:
    return ((result(*)(void *, dim3, dim3, void **, size_t, void *))l->real)(l->function, l->grid, l->block, l->args,
                                                                            l->shared, l->stream);
  case RUNTIME_CONFIG:
    return ((result(*)(const void *, void *, void **))l->real)(l->config, l->function, l->args);
  }
  return ERROR_INVALID_VALUE;
#undef DIMENSIONS
#undef UNSIGNED
}

static result forward(const struct launch *l) {
  depth++;
  result e = call(l);
  depth--;
  return e;
}

/* Finds the function that is launched. */
static int resolve(const struct launch *l, struct function *f) {
  static result (*by_symbol)(void **, const void *);
  static result (*last)(void), (*peek)(void);
  if (l->form != RUNTIME_PLAIN && l->form != RUNTIME_CONFIG) return l->function && find_function(l->function, f);
  if (!by_symbol) {
    *(void **)&last = find_real("cudaGetLastError", 0);
    *(void **)&peek = find_real("cudaPeekAtLastError", 0);
    *(void **)&by_symbol = find_real("cudaGetFuncBySymbol", 0); /* CUDA 11.0 and newer */
    if (!by_symbol) return 0;
  }
  void *handle = NULL;
  depth++; /* it may load the module, and with it the program's code */
  result before = peek ? peek() : 1, e = by_symbol(&handle, l->function);
  if (e && !before && last) last(); /* the program must not see this error */
  depth--;
  return !e && handle && find_function(handle, f);
}

/* The runtime calls the driver's function, which may be known. */
static result launch_unknown(struct launch *l) {
  int driver = l->form != RUNTIME_PLAIN && l->form != RUNTIME_CONFIG;
  outer = driver ? NULL : l, outer_seen = 0;
  result e = driver ? forward(l) : call(l);
  outer = NULL;
  if (!e && !outer_seen) unwatched(HEDDLE_WATCH_WHY_UNKNOWN, "");
  return e;
}

/* The parameter area of a launch, which the caller frees, or NULL if the arguments are not there. */
static unsigned char *area_of(const struct launch *l, const struct kernel *k) {
  const void *buffer = NULL;
  size_t size = 0;
  for (void **x = l->extra; x && *x; x += 2) { /* CU_LAUNCH_PARAM_END is 0 */
    if (*x == (void *)1) buffer = x[1];
    else if (*x == (void *)2 && x[1]) size = *(size_t *)x[1];
    else return NULL;
  }
  if (k->n && !l->args && !buffer) return NULL;
  unsigned char *area = calloc(1, (size_t)k->area + 1);
  if (!area) return NULL;
  if (l->args) {
    for (uint32_t i = 0; i < k->n; i++) {
      if (!l->args[i]) {
        free(area);
        return NULL;
      }
      memcpy(area + k->parameters[2 * i], l->args[i], k->parameters[2 * i + 1]);
    }
  } else if (buffer) {
    memcpy(area, buffer, size < k->area ? size : k->area);
  }
  return area;
}

/* Asks heddle what to do for a launch. */
static uint32_t ask_launch(const struct launch *l, const struct kernel *k, const void *area, const void *stream) {
  struct { uint32_t kernel, flags; dim3 grid, block, cluster; uint32_t n; uint64_t shared, stream, caller; } m = {
      k->id, l->flags, l->grid, l->block, l->cluster, l->stack->n, l->shared, (uint64_t)(uintptr_t)stream, l->caller};
  _Static_assert(sizeof m == 72, "the body of HEDDLE_WATCH_LAUNCH");
  struct part p[3] = {{&m, sizeof m}, {l->stack->at, l->stack->n * sizeof *l->stack->at}, {area, k->area}};
  size_t size = 0;
  uint32_t what = HEDDLE_WATCH_DO_NOTHING;
  char *body = ask(HEDDLE_WATCH_LAUNCH, p, 3, &size);
  if (body && size >= sizeof what) memcpy(&what, body, sizeof what);
  free(body);
  return what;
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Makes a launch of a kernel with a name and waits for its end. An error of the kernel itself stays in the context, and
   the program gets it from its next call, as from a GPU. */
static result launch_and_wait(const struct launch *l, const struct owner *o, uint32_t wanted, const char *name) {
  struct { uint32_t result, refused; uint64_t nanoseconds; } ended = {0, 0, 0};
  struct queues *q = NULL;
  const char *what = "";
  void *memory = NULL;
  int log = wanted != HEDDLE_WATCH_DO_TIME, logging = 0;
  result e = cu.ctx_synchronize(); /* earlier kernels must not log */
  if (!e && log && !(o && o->device && o->host)) {
    unwatched(HEDDLE_WATCH_WHY_VARIABLE, name);
    e = ERROR_NOT_FOUND;
  } else if (!e && log) {
    e = start_log(o, &q, wanted != HEDDLE_WATCH_DO_LESS, &what);
    logging = !e;
    if (e) {
      char text[128];
      snprintf(text, sizeof text, "%s: error %d", what, e);
      unwatched(HEDDLE_WATCH_WHY_SETUP, text);
      setup_failed = 1;
    }
  }
  uint64_t start = now();
  result launched = forward(l);
  if (!e) e = launched ? launched : cu.ctx_synchronize();
  if (!e) ended.nanoseconds = now() - start;
  if (logging) memory = stop_log(o, q);
  ended.result = (uint32_t)e, ended.refused = launched != 0;
  struct part p[2] = {{&ended, sizeof ended}, {memory, memory ? server.device_bytes : 0}};
  size_t size;
  free(ask(HEDDLE_WATCH_ENDED, p, 2, &size));
  free(memory);
  return launched;
}

/* Returns why a launch cannot be watched, or 0. HEDDLE_WATCH_WHY_GRAPH: its stream is captured. */
static uint32_t obstacle(void *stream) {
  int device = 0, state = 0;
  if (!cu.ctx_get_device(&device)) { /* otherwise the launch will fail, too */
    if (first_device < 0) first_device = device;
    if (device != first_device) return HEDDLE_WATCH_WHY_DEVICE;
  }
  result e = cu.is_capturing ? cu.is_capturing(stream, &state) : 0;
  if (!e && state) return HEDDLE_WATCH_WHY_GRAPH;
  if (capturing_count || (e >= 900 && e < 910)) return HEDDLE_WATCH_WHY_CAPTURE; /* CUDA_ERROR_STREAM_CAPTURE_ */
  return 0;
}

/* A launch of a kernel that heddle watches. The caller holds the mutex of launches. */
static result watched(struct launch *l, const struct function *f, const struct kernel *k, struct image *image) {
  void *stream = !l->stream && l->per_thread ? PER_THREAD_STREAM : l->stream;
  uint32_t why = obstacle(stream);
  struct owner *o = why ? NULL : prepare(f, image);
  if (!why && image && image->replaced && (!o || !o->device || !o->host)) why = HEDDLE_WATCH_WHY_VARIABLE;
  if (why) {
    if (why != HEDDLE_WATCH_WHY_GRAPH) unwatched(why, f->name); /* a launch that is captured executes nothing */
    return forward(l);
  }
  unsigned char *area = area_of(l, k);
  if (!area) return forward(l); /* the driver says what is wrong with it */
  uint32_t what = ask_launch(l, k, area, stream);
  free(area);
  if (what < HEDDLE_WATCH_DO_LOG || what > HEDDLE_WATCH_DO_LESS) return forward(l);
  return launch_and_wait(l, o, what, f->name);
}

static result launch(struct launch *l) {
  if (!l->real) return ERROR_NOT_INITIALIZED;
  int in_stub = popped;
  outer_seen = 1, popped = 0;
  if (depth || !enter() || setup_failed) return call(l);
  if (!load_driver()) {
    unwatched(HEDDLE_WATCH_WHY_SETUP, "libcuda.so.1 cannot be loaded");
    setup_failed = 1;
    return call(l);
  }
  server.used = 1;
  struct stack own;
  struct function f;
  if (!resolve(l, &f)) {
    find_caller(l, in_stub, &own);
    return launch_unknown(l);
  }
  struct kernel *k = kernel_of(&f);
  if (!k) return forward(l);
  struct image *image = image_of(&f, k);
  if (!k->id && !image) unwatched(HEDDLE_WATCH_WHY_UNKNOWN, f.name);
  if (!k->id && !(image && image->replaced)) return forward(l);
  if (k->id) find_caller(l, in_stub, &own);
  pthread_mutex_lock(&launching);
  result e = k->id ? watched(l, &f, k, image) : forward(l);
  pthread_mutex_unlock(&launching);
  return e;
}

/* Puts the attributes of a launch into it. */
static void attributes_of(struct launch *l, const attribute *a, unsigned n) {
  for (unsigned i = 0; a && i < n; i++) {
    if (a[i].id == 2 && a[i].value.number) l->flags |= 1; /* COOPERATIVE */
    if (a[i].id == 4) l->cluster = a[i].value.dim;        /* CLUSTER_DIMENSION */
    if (a[i].id == 6 && a[i].value.number) l->flags |= 2; /* PROGRAMMATIC_STREAM_SERIALIZATION */
  }
}

static result launch_driver_config(void *real, const driver_config *c, void *f, void **args, void **extra,
                                   int per_thread, uint64_t caller) {
  struct launch l = {.form = DRIVER_CONFIG, .real = real, .function = f, .cluster = {1, 1, 1}, .args = args,
                     .extra = extra, .config = c, .per_thread = per_thread, .caller = caller};
  if (c) {
    l.grid = c->grid, l.block = c->block, l.shared = c->shared, l.stream = c->stream;
    attributes_of(&l, c->attributes, c->n);
  }
  return c || !real ? launch(&l) : call(&l);
}
static result launch_runtime_config(void *real, const runtime_config *c, void *f, void **args, int per_thread,
                                    uint64_t caller) {
  struct launch l = {.form = RUNTIME_CONFIG, .real = real, .function = f, .cluster = {1, 1, 1}, .args = args,
                     .config = c, .per_thread = per_thread, .caller = caller};
  if (c) {
    l.grid = c->grid, l.block = c->block, l.shared = c->shared, l.stream = c->stream;
    attributes_of(&l, c->attributes, c->n);
  }
  return c || !real ? launch(&l) : call(&l);
}

/* Captures. */
static void capture_began(void *stream) {
  lock();
  if (capturing_count < (int)(sizeof capturing / sizeof *capturing)) capturing[capturing_count++] = stream;
  unlock();
}
static void capture_ended(void *stream, int per_thread) {
  int state = 0;
  if (!stream && per_thread) stream = PER_THREAD_STREAM;
  if (load_driver() && cu.is_capturing && !cu.is_capturing(stream, &state) && state) return; /* of another thread */
  lock();
  for (int i = 0; i < capturing_count; i++)
    if (capturing[i] == stream) {
      capturing[i] = capturing[--capturing_count];
      break;
    }
  unlock();
}
