/* Streams, events and host functions. Work of all streams is executed in the order of the calls, which is one of the
   orders that the streams allow. */

/* While a stream is captured, what it is asked to do becomes nodes of a graph, behind the last ones (graph.c). */
struct capture;
struct node_list { struct CUgraphNode_st **at; size_t n; };

struct CUstream_st {
  unsigned int flags;
  int priority;
  struct CUstream_st *next;
  struct capture *capture; /* NULL: executed */
  struct node_list last;
  struct CUctx_st *context; /* the one that was current at its creation */
};
static struct CUctx_st *creators_context(void);
struct CUevent_st {
  unsigned int flags;
  struct CUevent_st *next;
  unsigned long long captured; /* the number of the capture in which it was recorded last; 0: none */
  struct node_list last;
};

static cudaError_t capture_host(cudaStream_t s, cudaHostFn_t f, void *data, uint64_t caller);
static cudaError_t capture_work(cudaStream_t s, const void *message, size_t size, uint64_t caller);
static void post_work(const void *message, size_t size);
static cudaError_t capture_record(cudaEvent_t e, cudaStream_t s);
static cudaError_t capture_wait(cudaStream_t s, cudaEvent_t e);
static cudaError_t no_capture(cudaStream_t s);
static cudaError_t no_captured_event(cudaEvent_t e);
static void leave_capture(cudaStream_t s);

static struct CUstream_st *streams;
static struct CUevent_st *events;

/* Whether a stream exists: the default ones, and those that were created and not destroyed. */
static cudaError_t check_stream(cudaStream_t s) {
  if (!s || s == cudaStreamLegacy || s == cudaStreamPerThread) return cudaSuccess;
  lock();
  struct CUstream_st *p = streams;
  while (p && p != s) p = p->next;
  unlock();
  return p ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

static cudaError_t check_event(cudaEvent_t e) {
  lock();
  struct CUevent_st *p = events;
  while (p && p != e) p = p->next;
  unlock();
  return p && e ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

static cudaError_t create_stream(cudaStream_t *to, unsigned int flags, int priority, uint64_t caller) {
  ENTER();
  if (!to || flags > cudaStreamNonBlocking) return fail(cudaErrorInvalidValue);
  struct CUstream_st *s = need(calloc(1, sizeof *s));
  lock();
  s->flags = flags, s->priority = priority, s->next = streams, s->context = creators_context();
  *to = streams = s;
  ordering = 1;
  if (flags & cudaStreamNonBlocking) non_blocking = 1;
  note_order((struct heddle_order){.what = HEDDLE_ORDER_CREATE, .stream = stream_id(s), .caller = caller,
                                   .flags = flags & cudaStreamNonBlocking ? HEDDLE_ORDER_NON_BLOCKING : 0});
  unlock();
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *to, unsigned int flags, int priority) {
  return create_stream(to, flags, priority, CALLER);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *to, unsigned int flags) {
  return create_stream(to, flags, 0, CALLER);
}
cudaError_t cudaStreamCreate(cudaStream_t *to) { return create_stream(to, 0, 0, CALLER); }

cudaError_t cudaStreamDestroy(cudaStream_t s) {
  ENTER();
  lock();
  struct CUstream_st **p = &streams;
  while (*p && *p != s) p = &(*p)->next;
  int found = *p != NULL;
  if (found) {
    *p = s->next;
    note_order((struct heddle_order){.what = HEDDLE_ORDER_DESTROY, .stream = stream_id(s)});
  }
  unlock();
  if (!found) return fail(cudaErrorInvalidResourceHandle);
  leave_capture(s);
  free(s);
  return cudaSuccess;
}

/* Whether an event, or what is in a stream, has ended. Only while a kernel waits for the program, heddle has not done
   all that was sent. */
static cudaError_t ready(uint64_t event, uint64_t stream) {
  uint64_t m[2] = {event, stream};
  struct part p = {m, sizeof m};
  cudaError_t e = server.pending ? ask(HEDDLE_OP_QUERY, &p, 1, NULL, 0) : cudaSuccess;
  return e == cudaSuccess ? server.context : e;
}

/* Waits for a stream, or asks whether it has ended. */
static cudaError_t wait_for(cudaStream_t s, int query) {
  ENTER();
  cudaError_t e = check_stream(s);
  if (e == cudaSuccess) e = no_capture(s);
  if (e != cudaSuccess) return fail(e);
  e = query ? ready(0, stream_id(s)) : finish();
  if (e != cudaErrorNotReady) note_order((struct heddle_order){.what = HEDDLE_ORDER_SYNC_STREAM, .stream = stream_id(s)});
  return fail(e);
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) { return wait_for(s, 0); }
cudaError_t cudaStreamQuery(cudaStream_t s) { return wait_for(s, 1); }

cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned int *to) {
  ENTER();
  if (!to || check_stream(s) != cudaSuccess) return fail(cudaErrorInvalidValue);
  *to = (uintptr_t)s > 2 ? s->flags : 0;
  return cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t s, int *to) {
  ENTER();
  if (!to || check_stream(s) != cudaSuccess) return fail(cudaErrorInvalidValue);
  *to = (uintptr_t)s > 2 ? s->priority : 0;
  return cudaSuccess;
}
cudaError_t cudaStreamGetId(cudaStream_t s, unsigned long long *to) {
  ENTER();
  if (!to || check_stream(s) != cudaSuccess) return fail(cudaErrorInvalidValue);
  *to = stream_id(s);
  return cudaSuccess;
}
cudaError_t cudaStreamGetDevice(cudaStream_t s, int *to) {
  ENTER();
  if (!to || check_stream(s) != cudaSuccess) return fail(cudaErrorInvalidValue);
  *to = 0;
  return cudaSuccess;
}
/* Attributes of streams are hints about caches and scheduling. */
cudaError_t cudaStreamSetAttribute(cudaStream_t s, cudaLaunchAttributeID id, const cudaLaunchAttributeValue *v) {
  ENTER();
  return (void)id, !v || check_stream(s) != cudaSuccess ? fail(cudaErrorInvalidValue) : cudaSuccess;
}
cudaError_t cudaStreamGetAttribute(cudaStream_t s, cudaLaunchAttributeID id, cudaLaunchAttributeValue *v) {
  ENTER();
  if (!v || check_stream(s) != cudaSuccess) return fail(cudaErrorInvalidValue);
  memset(v, 0, sizeof *v);
  if (id == cudaLaunchAttributePriority && (uintptr_t)s > 2) v->priority = s->priority;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned int flags) {
  ENTER();
  (void)flags;
  if (check_stream(s) != cudaSuccess || check_event(e) != cudaSuccess) return fail(cudaErrorInvalidResourceHandle);
  if (capturing(s) || e->captured) return fail(capture_wait(s, e));
  note_order((struct heddle_order){.what = HEDDLE_ORDER_WAIT, .stream = stream_id(s), .event = (uint64_t)(uintptr_t)e});
  return cudaSuccess;
}

/* Host functions run on the thread that enqueues them, after the work before them. They may not call CUDA. What they
   tell other threads of the host cannot be seen: for the order of streams, the host has waited for the stream. */
cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void *data) {
  if (f && check_stream(s) == cudaSuccess && capturing(s)) return fail(capture_host(s, f, data, CALLER));
  cudaError_t e = wait_for(s, 0);
  if (e != cudaSuccess) return e;
  if (!f) return fail(cudaErrorInvalidValue);
  f(data);
  return cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t f, void *data, unsigned int flags) {
  (void)flags;
  cudaError_t e = wait_for(s, 0);
  if (!f) return fail(cudaErrorInvalidValue);
  if (e == cudaErrorStreamCaptureUnsupported) return e;
  f(s, e, data);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *to, unsigned int flags) {
  ENTER();
  if (!to || flags > 7) return fail(cudaErrorInvalidValue);
  struct CUevent_st *e = need(calloc(1, sizeof *e));
  lock();
  e->flags = flags, e->next = events;
  *to = events = e;
  unlock();
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *to) { return cudaEventCreateWithFlags(to, 0); }

cudaError_t cudaEventDestroy(cudaEvent_t e) {
  ENTER();
  lock();
  struct CUevent_st **p = &events;
  while (*p && *p != e) p = &(*p)->next;
  int found = *p != NULL;
  if (found) *p = e->next;
  unlock();
  if (!found) return fail(cudaErrorInvalidResourceHandle);
  /* not freed: heddle knows the event by its address, which must not become that of another */
  return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned int flags) {
  ENTER();
  (void)flags;
  if (check_event(e) != cudaSuccess || check_stream(s) != cudaSuccess) return fail(cudaErrorInvalidResourceHandle);
  if (capturing(s)) return fail(capture_record(e, s));
  e->captured = 0;
  uint64_t m[2] = {(uint64_t)(uintptr_t)e, stream_id(s)};
  struct part p = {m, sizeof m};
  last_default = -1;
  post(HEDDLE_OP_RECORD, &p, 1);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) { return cudaEventRecordWithFlags(e, s, 0); }

/* Waits for an event, or asks whether it has ended. */
static cudaError_t wait_event(cudaEvent_t e, int query) {
  ENTER();
  cudaError_t err = check_event(e);
  if (err == cudaSuccess) err = no_captured_event(e);
  if (err != cudaSuccess) return fail(err);
  err = query ? ready((uint64_t)(uintptr_t)e, 0) : finish();
  if (err != cudaErrorNotReady)
    note_order((struct heddle_order){.what = HEDDLE_ORDER_SYNC_EVENT, .event = (uint64_t)(uintptr_t)e});
  return fail(err);
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) { return wait_event(e, 0); }
cudaError_t cudaEventQuery(cudaEvent_t e) { return wait_event(e, 1); }

/* Milliseconds between two events: the time that heddle took, which says nothing about a GPU. */
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b) {
  ENTER();
  if (!ms) return fail(cudaErrorInvalidValue);
  uint64_t t[2];
  cudaEvent_t e[2] = {a, b};
  for (int i = 0; i < 2; i++) {
    if (check_event(e[i]) != cudaSuccess || e[i]->flags & cudaEventDisableTiming)
      return fail(cudaErrorInvalidResourceHandle);
    uint64_t id = (uint64_t)(uintptr_t)e[i];
    struct part p = {&id, sizeof id};
    cudaError_t err = ask(HEDDLE_OP_TIME, &p, 1, &t[i], sizeof t[i]);
    if (err != cudaSuccess) return fail(err);
  }
  *ms = (float)((double)(int64_t)(t[1] - t[0]) * 1e-6);
  return cudaSuccess;
}
