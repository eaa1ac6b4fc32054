/* Graphs: made by the program node by node, or from what a stream that is captured is asked to do. A launch of a graph
   gives each node a stream of its own that waits, by events, for the nodes on which it depends: by the functions that
   programs call for that. */

struct CUgraphNode_st {
  enum cudaGraphNodeType type;
  struct CUgraph_st *graph;
  struct node_list needs;        /* the nodes on which it depends */
  struct CUgraphNode_st *origin; /* in a clone: the node that it copies */
  struct CUgraphNode_st *twin;   /* while a graph is copied: its copy */
  uint64_t caller;
  const void *function; /* of a kernel */
  struct shape shape;
  void *area; /* the parameters of a kernel; the message for work of a library, of extent.width bytes */
  void **args;
  struct rows to, from; /* of a copy or memset; what is allocated or freed */
  struct cudaExtent extent;
  enum cudaMemcpyKind kind;
  unsigned value;
  size_t element;
  cudaHostFn_t host;
  void *data;
  cudaEvent_t event;
  struct CUgraph_st *child;
  int mark, shared;    /* of a search; whether a node of the same stream follows */
  cudaStream_t stream; /* of an executable graph */
  cudaEvent_t done;
};
struct CUgraph_st { struct node_list nodes; struct CUgraph_st *next; };
struct CUgraphExec_st {
  struct CUgraph_st *graph;
  cudaEvent_t start, end;
  int launched, auto_free;
  struct CUgraphExec_st *next;
};

/* The type of a node that is work of a library. Programs see a kernel. */
#define NODE_WORK ((enum cudaGraphNodeType)1000)

static struct CUgraph_st *graphs;
static struct CUgraphExec_st *execs;

/* A capture: the streams that take part, from the one with which it began. */
struct capture {
  struct CUgraph_st *graph;
  cudaStream_t origin;
  enum cudaStreamCaptureMode mode;
  unsigned long long id;
  int invalid;
  pthread_t thread;
  struct capture *next;
};
static struct capture *captures;
static unsigned long long last_capture;
static _Thread_local enum cudaStreamCaptureMode thread_mode;

static void add_to(struct node_list *l, struct CUgraphNode_st *n) {
  for (size_t i = 0; i < l->n; i++)
    if (l->at[i] == n) return;
  l->at = need(realloc(l->at, (l->n + 1) * sizeof *l->at));
  l->at[l->n++] = n;
}
static void add_all(struct node_list *l, const struct node_list *from) {
  for (size_t i = 0; i < from->n; i++) add_to(l, from->at[i]);
}
static void remove_from(struct node_list *l, const struct CUgraphNode_st *n) {
  size_t k = 0;
  for (size_t i = 0; i < l->n; i++)
    if (l->at[i] != n) l->at[k++] = l->at[i];
  l->n = k;
}
static void clear_list(struct node_list *l) {
  free(l->at);
  *l = (struct node_list){0};
}

static int graph_exists(cudaGraph_t g) {
  struct CUgraph_st *p = graphs;
  while (p && p != g) p = p->next;
  return p != NULL;
}
static int exec_exists(cudaGraphExec_t x) {
  struct CUgraphExec_st *p = execs;
  while (p && p != x) p = p->next;
  return p != NULL;
}
static int node_in(cudaGraphNode_t n, cudaGraph_t g) {
  for (size_t i = 0; i < g->nodes.n; i++)
    if (g->nodes.at[i] == n) return 1;
  return 0;
}
static int node_exists(cudaGraphNode_t n) {
  for (struct CUgraph_st *g = graphs; n && g; g = g->next)
    if (node_in(n, g)) return 1;
  return 0;
}

static cudaGraph_t new_graph(void) {
  struct CUgraph_st *g = need(calloc(1, sizeof *g));
  lock();
  g->next = graphs, graphs = g;
  unlock();
  return g;
}
static struct CUgraphNode_st *new_node(cudaGraph_t g, enum cudaGraphNodeType type, uint64_t caller) {
  struct CUgraphNode_st *n = need(calloc(1, sizeof *n));
  n->type = type, n->graph = g, n->caller = caller;
  add_to(&g->nodes, n);
  return n;
}
static void free_graph(struct CUgraph_st *g);
static void free_node(struct CUgraphNode_st *n) {
  clear_list(&n->needs);
  free(n->area);
  free(n->args);
  if (n->child) free_graph(n->child);
  free(n);
}
static void free_graph(struct CUgraph_st *g) {
  for (size_t i = 0; i < g->nodes.n; i++) free_node(g->nodes.at[i]);
  clear_list(&g->nodes);
  lock();
  struct CUgraph_st **p = &graphs;
  while (*p && *p != g) p = &(*p)->next;
  if (*p) *p = g->next;
  unlock();
  free(g);
}

cudaError_t cudaGraphCreate(cudaGraph_t *to, unsigned int flags) {
  ENTER();
  if (!to || flags) return fail(cudaErrorInvalidValue);
  *to = new_graph();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t g) {
  ENTER();
  if (!graph_exists(g)) return fail(cudaErrorInvalidValue);
  free_graph(g);
  return cudaSuccess;
}

/* Capture. */

static int capturing(cudaStream_t s) { return (uintptr_t)s > 2 && s->capture; }

/* Whether a call that waits for the device, or allocates, is forbidden because some stream is captured; such a call ends
   the capture (CUDA C++ Programming Guide, "Prohibited and Unhandled Operations"). */
static cudaError_t forbidden_in_capture(void) {
  cudaError_t e = cudaSuccess;
  for (struct capture *c = captures; c; c = c->next) {
    int mine = pthread_equal(c->thread, pthread_self());
    if (thread_mode == cudaStreamCaptureModeRelaxed || c->mode == cudaStreamCaptureModeRelaxed) continue;
    if (!mine && (c->mode != cudaStreamCaptureModeGlobal || thread_mode != cudaStreamCaptureModeGlobal)) continue;
    c->invalid = 1, e = cudaErrorStreamCaptureUnsupported;
  }
  return e;
}
static cudaError_t no_capture(cudaStream_t s) {
  if (!capturing(s)) return cudaSuccess;
  s->capture->invalid = 1;
  return cudaErrorStreamCaptureUnsupported;
}
static cudaError_t no_captured_event(cudaEvent_t e) {
  if (!e->captured) return cudaSuccess;
  for (struct capture *c = captures; c; c = c->next)
    if (c->id == e->captured) c->invalid = 1;
  return cudaErrorCapturedEvent;
}
/* Whether work may be given to a stream that is not captured: not to the default one while one that waits for it is. */
static cudaError_t outside_capture(cudaStream_t s) {
  if (!captures || (s && s != cudaStreamLegacy)) return cudaSuccess;
  for (struct CUstream_st *p = streams; p; p = p->next)
    if (p->capture && !(p->flags & cudaStreamNonBlocking)) {
      p->capture->invalid = 1;
      return cudaErrorStreamCaptureImplicit;
    }
  return cudaSuccess;
}
/* A stream that is destroyed leaves its capture; whether it was joined shows at the end of that. */
static void leave_capture(cudaStream_t s) {
  if (s->capture && s->capture->origin == s) s->capture->invalid = 1;
  s->capture = NULL;
  clear_list(&s->last);
}

/* Adds a node behind the last ones of a stream. The result is NULL if the capture has failed before. */
static struct CUgraphNode_st *captured_node(cudaStream_t s, enum cudaGraphNodeType type, uint64_t caller) {
  if (s->capture->invalid) return NULL;
  lock();
  struct CUgraphNode_st *n = new_node(s->capture->graph, type, caller);
  add_all(&n->needs, &s->last);
  clear_list(&s->last);
  add_to(&s->last, n);
  unlock();
  return n;
}

static void set_area(struct CUgraphNode_st *n, const struct kernel *k, const void *area) {
  free(n->area);
  free(n->args);
  n->area = need(malloc(k->info.parameter_bytes + 1));
  memcpy(n->area, area, k->info.parameter_bytes);
  n->shape.buffer = n->area, n->shape.buffer_size = k->info.parameter_bytes;
  n->args = need(malloc((k->info.parameters + 1) * sizeof *n->args));
  for (uint32_t i = 0; i < k->info.parameters; i++) n->args[i] = (char *)n->area + k->parameters[2 * i];
}
static cudaError_t capture_kernel(const struct kernel *k, const struct shape *s, const void *area) {
  struct CUgraphNode_st *n = captured_node(s->stream, cudaGraphNodeTypeKernel, s->caller);
  if (!n) return cudaErrorStreamCaptureInvalidated;
  n->function = k->host, n->shape = *s;
  n->shape.stack = NULL; /* it is that of this call */
  n->shape.dependent = 0; /* nodes begin when those on which they depend have ended */
  set_area(n, k, area);
  return cudaSuccess;
}
static cudaError_t capture_work(cudaStream_t s, const void *message, size_t size, uint64_t caller) {
  struct CUgraphNode_st *n = captured_node(s, NODE_WORK, caller);
  if (!n) return cudaErrorStreamCaptureInvalidated;
  n->area = memcpy(need(malloc(size)), message, size);
  n->extent.width = size;
  return cudaSuccess;
}
static cudaError_t execute_work(struct CUgraphNode_st *n) {
  ((struct heddle_work *)n->area)->stream = stream_id(n->stream);
  post_work(n->area, n->extent.width);
  return cudaSuccess;
}
static cudaError_t capture_copy(struct rows to, struct rows from, struct cudaExtent e, enum cudaMemcpyKind k,
                                struct how how) {
  struct CUgraphNode_st *n = captured_node(how.stream, cudaGraphNodeTypeMemcpy, how.caller);
  if (!n) return cudaErrorStreamCaptureInvalidated;
  n->to = to, n->from = from, n->extent = e, n->kind = k;
  return cudaSuccess;
}
static cudaError_t capture_set(struct rows to, unsigned value, size_t size, struct cudaExtent e, struct how how) {
  struct CUgraphNode_st *n = captured_node(how.stream, cudaGraphNodeTypeMemset, how.caller);
  if (!n) return cudaErrorStreamCaptureInvalidated;
  n->to = to, n->value = value, n->element = size, n->extent = e;
  return cudaSuccess;
}
static cudaError_t capture_host(cudaStream_t s, cudaHostFn_t f, void *data, uint64_t caller) {
  struct CUgraphNode_st *n = captured_node(s, cudaGraphNodeTypeHost, caller);
  if (!n) return cudaErrorStreamCaptureInvalidated;
  n->host = f, n->data = data;
  return cudaSuccess;
}
/* Memory of graphs. An allocation node has its address from the beginning; there is memory from each execution of the
   node until something frees it (CUDA C++ Programming Guide, "Graph Memory Nodes"). Used is what the nodes have
   allocated; nothing is kept beyond that. */
struct graph_block { uint64_t addr, size; struct graph_block *next; };
static struct graph_block *graph_blocks;
static uint64_t graph_memory, most_graph_memory;
static cudaError_t device_exists(int device);

static void graph_freed(uint64_t addr) {
  if (!graph_blocks) return;
  lock();
  struct graph_block **at = &graph_blocks, *b;
  while (*at && (*at)->addr != addr) at = &(*at)->next;
  if ((b = *at)) *at = b->next, graph_memory -= b->size;
  unlock();
  free(b);
}
static cudaError_t graph_alloc(struct CUgraphNode_st *n, struct how how) {
  uint64_t addr = (uint64_t)(uintptr_t)n->to.p, size = n->extent.width;
  cudaError_t e = map(addr, size, n->caller, 1);
  if (e != cudaSuccess) return e;
  struct graph_block *b = need(malloc(sizeof *b));
  lock();
  *b = (struct graph_block){addr, size, graph_blocks};
  graph_blocks = b;
  graph_memory += size;
  if (graph_memory > most_graph_memory) most_graph_memory = graph_memory;
  unlock();
  note_order((struct heddle_order){.what = HEDDLE_ORDER_ALLOC, .stream = stream_id(how.stream), .caller = how.caller,
                                   .to = addr, .to_pitch = size, .width = size, .rows = 1});
  return cudaSuccess;
}
static cudaError_t set_range(struct CUgraphNode_st *n, void **p, size_t size) {
  uint64_t addr = 0;
  if (!size) return cudaErrorInvalidValue;
  cudaError_t e = reserve(&addr, size);
  *p = n->to.p = (void *)(uintptr_t)addr;
  n->extent = (struct cudaExtent){size, 1, 1};
  return e;
}
static cudaError_t capture_alloc(void **p, size_t n, cudaStream_t s, uint64_t caller) {
  if (!p || !n) return cudaErrorInvalidValue;
  struct CUgraphNode_st *node = captured_node(s, cudaGraphNodeTypeMemAlloc, caller);
  return node ? set_range(node, p, n) : cudaErrorStreamCaptureInvalidated;
}
static cudaError_t capture_free(void *p, cudaStream_t s, uint64_t caller) {
  if (!p) return cudaErrorInvalidValue;
  struct CUgraphNode_st *node = captured_node(s, cudaGraphNodeTypeMemFree, caller);
  if (!node) return cudaErrorStreamCaptureInvalidated;
  node->to.p = p;
  return cudaSuccess;
}
/* Graphs with such nodes cannot be copied. */
static int allocates(cudaGraph_t g) {
  for (size_t i = 0; i < g->nodes.n; i++)
    if (g->nodes.at[i]->type == cudaGraphNodeTypeMemAlloc || g->nodes.at[i]->type == cudaGraphNodeTypeMemFree) return 1;
  return 0;
}
cudaError_t cudaDeviceGraphMemTrim(int device) { return device_exists(device); }
cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType a, void *to) {
  cudaError_t e = device_exists(device);
  if (e == cudaSuccess && ((unsigned)a > cudaGraphMemAttrReservedMemHigh || !to)) e = fail(cudaErrorInvalidValue);
  if (e != cudaSuccess) return e;
  int most = a == cudaGraphMemAttrUsedMemHigh || a == cudaGraphMemAttrReservedMemHigh;
  *(uint64_t *)to = most ? most_graph_memory : graph_memory;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType a, void *from) {
  cudaError_t e = device_exists(device);
  int most = a == cudaGraphMemAttrUsedMemHigh || a == cudaGraphMemAttrReservedMemHigh;
  if (e == cudaSuccess && (!most || !from || *(uint64_t *)from)) e = fail(cudaErrorInvalidValue);
  if (e == cudaSuccess) most_graph_memory = graph_memory;
  return e;
}

/* An event that is recorded in a capture stands for the last nodes of the stream. */
static cudaError_t capture_record(cudaEvent_t e, cudaStream_t s) {
  if (s->capture->invalid) return cudaErrorStreamCaptureInvalidated;
  lock();
  e->captured = s->capture->id;
  clear_list(&e->last);
  add_all(&e->last, &s->last);
  unlock();
  return cudaSuccess;
}
static cudaError_t capture_wait(cudaStream_t s, cudaEvent_t e) {
  struct capture *c = captures;
  while (c && c->id != e->captured) c = c->next;
  if (!c && !capturing(s)) return cudaErrorCapturedEvent; /* of a capture that has ended */
  if (!c) { /* the stream would wait for what is not captured */
    s->capture->invalid = 1;
    return cudaErrorStreamCaptureIsolation;
  }
  if (s && (uintptr_t)s <= 2) return cudaErrorStreamCaptureUnsupported;
  if (!s) {
    c->invalid = 1;
    return cudaErrorStreamCaptureImplicit;
  }
  if (capturing(s) && s->capture != c) {
    s->capture->invalid = c->invalid = 1;
    return cudaErrorStreamCaptureMerge;
  }
  if (c->invalid) return cudaErrorStreamCaptureInvalidated;
  lock();
  s->capture = c;
  add_all(&s->last, &e->last);
  unlock();
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode) {
  ENTER();
  if (check_stream(s) != cudaSuccess) return fail(cudaErrorInvalidResourceHandle);
  if ((unsigned)mode > cudaStreamCaptureModeRelaxed) return fail(cudaErrorInvalidValue);
  if (s == cudaStreamPerThread) return (cudaError_t)heddle_unsupported("cudaStreamBeginCapture of cudaStreamPerThread");
  if ((uintptr_t)s <= 2) return fail(cudaErrorStreamCaptureUnsupported);
  if (s->capture) return fail(cudaErrorIllegalState);
  struct capture *c = need(calloc(1, sizeof *c));
  c->graph = new_graph(), c->origin = s, c->mode = mode, c->thread = pthread_self();
  lock();
  c->id = ++last_capture, c->next = captures, captures = c;
  s->capture = c;
  unlock();
  return cudaSuccess;
}

/* Marks a node and all on which it depends. */
static void mark_needs(struct CUgraphNode_st *n) {
  if (n->mark) return;
  n->mark = 1;
  for (size_t i = 0; i < n->needs.n; i++) mark_needs(n->needs.at[i]);
}

cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *to) {
  ENTER();
  if (check_stream(s) != cudaSuccess) return fail(cudaErrorInvalidResourceHandle);
  if (!to) return fail(cudaErrorInvalidValue);
  *to = NULL;
  if (!capturing(s)) return fail(cudaErrorIllegalState);
  struct capture *c = s->capture;
  cudaError_t e = c->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  if (c->origin != s) e = cudaErrorStreamCaptureUnmatched;
  else if (c->mode != cudaStreamCaptureModeRelaxed && !pthread_equal(c->thread, pthread_self()))
    return fail(cudaErrorStreamCaptureWrongThread);
  lock();
  for (size_t i = 0; i < c->graph->nodes.n; i++) c->graph->nodes.at[i]->mark = 0;
  for (size_t i = 0; i < s->last.n; i++) mark_needs(s->last.at[i]);
  for (size_t i = 0; i < c->graph->nodes.n; i++)
    if (e == cudaSuccess && !c->graph->nodes.at[i]->mark) e = cudaErrorStreamCaptureUnjoined;
  for (struct CUstream_st *p = streams; p; p = p->next)
    if (p->capture == c) {
      p->capture = NULL;
      clear_list(&p->last);
    }
  struct capture **at = &captures;
  while (*at != c) at = &(*at)->next;
  *at = c->next;
  unlock();
  if (e == cudaSuccess) *to = c->graph;
  else free_graph(c->graph);
  free(c);
  return fail(e);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t s, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **nodes, size_t *n) {
  ENTER();
  if (!status || check_stream(s) != cudaSuccess) return fail(cudaErrorInvalidValue);
  *status = cudaStreamCaptureStatusNone;
  if (n) *n = 0;
  if (!capturing(s)) return cudaSuccess;
  *status = s->capture->invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
  if (s->capture->invalid) return cudaSuccess;
  if (id) *id = s->capture->id;
  if (graph) *graph = s->capture->graph;
  if (nodes) *nodes = s->last.at;
  if (n) *n = s->last.n;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *to) {
  return cudaStreamGetCaptureInfo(s, to, NULL, NULL, NULL, NULL);
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t s, cudaGraphNode_t *nodes, size_t n, unsigned int flags) {
  ENTER();
  if (check_stream(s) != cudaSuccess || flags > cudaStreamSetCaptureDependencies || (n && !nodes))
    return fail(cudaErrorInvalidValue);
  if (!capturing(s)) return fail(cudaErrorIllegalState);
  for (size_t i = 0; i < n; i++)
    if (!node_in(nodes[i], s->capture->graph)) return fail(cudaErrorInvalidValue);
  lock();
  if (flags == cudaStreamSetCaptureDependencies) clear_list(&s->last);
  for (size_t i = 0; i < n; i++) add_to(&s->last, nodes[i]);
  unlock();
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
  if (!mode || (unsigned)*mode > cudaStreamCaptureModeRelaxed) return fail(cudaErrorInvalidValue);
  enum cudaStreamCaptureMode old = thread_mode;
  thread_mode = *mode, *mode = old;
  return cudaSuccess;
}

/* Nodes that the program adds. */

static cudaError_t check_place(cudaGraphNode_t *to, cudaGraph_t g, const cudaGraphNode_t *needs, size_t n) {
  if (!to || !graph_exists(g) || (n && !needs)) return cudaErrorInvalidValue;
  for (size_t i = 0; i < n; i++)
    if (!node_in(needs[i], g)) return cudaErrorInvalidValue;
  return cudaSuccess;
}
static struct CUgraphNode_st *place_node(cudaGraphNode_t *to, cudaGraph_t g, const cudaGraphNode_t *needs, size_t n,
                                         enum cudaGraphNodeType type, uint64_t caller) {
  struct CUgraphNode_st *node = new_node(g, type, caller);
  for (size_t i = 0; i < n; i++) add_to(&node->needs, needs[i]);
  return *to = node;
}
/* Adds a node and gives it its parameters by SET, an expression of type cudaError_t. */
#define ADD_NODE(TYPE, SET)                                                          \
  do {                                                                               \
    ENTER();                                                                         \
    cudaError_t e_ = check_place(to, g, needs, n);                                   \
    if (e_ != cudaSuccess) return fail(e_);                                          \
    struct CUgraphNode_st *node = place_node(to, g, needs, n, TYPE, CALLER);         \
    if ((e_ = (SET)) != cudaSuccess) {                                               \
      remove_from(&g->nodes, node);                                                  \
      free_node(node);                                                               \
    }                                                                                \
    return fail(e_);                                                                 \
  } while (0)

static cudaError_t set_kernel(struct CUgraphNode_st *n, const struct cudaKernelNodeParams *p) {
  struct kernel *k;
  if (!p || !p->func) return cudaErrorInvalidValue;
  cudaError_t e = get_kernel(p->func, &k);
  if (e != cudaSuccess) return e;
  if ((e = check_shape(k, p->gridDim, p->blockDim, p->sharedMemBytes)) != cudaSuccess) return e;
  unsigned char area[4096 + 8] = {0};
  if (k->info.parameter_bytes > 4096 || (k->info.parameters && !p->kernelParams && !p->extra)) return cudaErrorInvalidValue;
  if (p->kernelParams) {
    for (uint32_t i = 0; i < k->info.parameters; i++)
      memcpy(area + k->parameters[2 * i], p->kernelParams[i], k->parameters[2 * i + 1]);
  } else if (k->info.parameters) {
    return (cudaError_t)heddle_unsupported("a kernel node with its parameters in extra");
  }
  n->function = p->func;
  n->shape = (struct shape){p->gridDim, p->blockDim, {1, 1, 1}, p->sharedMemBytes, 0, n->shape.cooperative, n->caller, NULL, 0, NULL};
  set_area(n, k, area);
  return cudaSuccess;
}
static cudaError_t set_copy_1d(struct CUgraphNode_st *n, void *to, const void *from, size_t bytes,
                               enum cudaMemcpyKind k) {
  if (!to || !from || (unsigned)k > cudaMemcpyDefault) return cudaErrorInvalidValue;
  n->to = (struct rows){to, bytes, 0}, n->from = (struct rows){(char *)(uintptr_t)from, bytes, 0};
  n->extent = (struct cudaExtent){bytes, 1, 1}, n->kind = k;
  return cudaSuccess;
}
static cudaError_t set_copy(struct CUgraphNode_st *n, const struct cudaMemcpy3DParms *p) {
  if (!p || !!p->srcArray == !!p->srcPtr.ptr || !!p->dstArray == !!p->dstPtr.ptr) return cudaErrorInvalidValue;
  cudaArray_t one = p->srcArray ? p->srcArray : p->dstArray;
  if (one && !array_exists(one)) return cudaErrorInvalidValue;
  n->to = side(p->dstArray, p->dstPtr, p->dstPos, p->extent);
  n->from = side(p->srcArray, p->srcPtr, p->srcPos, p->extent);
  n->extent = p->extent, n->kind = p->kind;
  if (one) n->extent.width *= element_size(&one->desc);
  return n->to.p && n->from.p ? cudaSuccess : cudaErrorInvalidValue;
}
static cudaError_t set_memset(struct CUgraphNode_st *n, const struct cudaMemsetParams *p) {
  if (!p || !p->dst || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)) return cudaErrorInvalidValue;
  size_t width = p->width * p->elementSize;
  n->to = (struct rows){p->dst, p->height > 1 ? p->pitch : width, 0}, n->value = p->value, n->element = p->elementSize;
  n->extent = (struct cudaExtent){width, p->height, 1};
  return width && p->height ? cudaSuccess : cudaErrorInvalidValue;
}
static cudaError_t set_host(struct CUgraphNode_st *n, const struct cudaHostNodeParams *p) {
  if (!p || !p->fn) return cudaErrorInvalidValue;
  n->host = p->fn, n->data = p->userData;
  return cudaSuccess;
}
static cudaError_t set_alloc(struct CUgraphNode_st *n, struct cudaMemAllocNodeParams *p) {
  if (!p || p->poolProps.allocType != cudaMemAllocationTypePinned || p->poolProps.location.type != cudaMemLocationTypeDevice)
    return cudaErrorInvalidValue;
  if (p->poolProps.location.id) return cudaErrorInvalidDevice;
  return set_range(n, &p->dptr, p->bytesize);
}
static cudaError_t set_free(struct CUgraphNode_st *n, void *p) {
  for (size_t i = 0; i < n->graph->nodes.n; i++) {
    struct CUgraphNode_st *other = n->graph->nodes.at[i];
    if (other != n && other->type == cudaGraphNodeTypeMemFree && other->to.p == p) return cudaErrorInvalidValue;
  }
  n->to.p = p;
  return p ? cudaSuccess : cudaErrorInvalidValue;
}
static cudaError_t set_event(struct CUgraphNode_st *n, cudaEvent_t e) {
  n->event = e;
  return check_event(e);
}
static cudaGraph_t copy_graph(cudaGraph_t g);
static cudaError_t set_child(struct CUgraphNode_st *n, cudaGraph_t g) {
  if (!graph_exists(g) || g == n->graph) return cudaErrorInvalidValue;
  if (allocates(g)) return cudaErrorNotSupported;
  n->child = copy_graph(g);
  return cudaSuccess;
}

#define PLACE cudaGraphNode_t *to, cudaGraph_t g, const cudaGraphNode_t *needs, size_t n
cudaError_t cudaGraphAddKernelNode(PLACE, const struct cudaKernelNodeParams *p) {
  ADD_NODE(cudaGraphNodeTypeKernel, set_kernel(node, p));
}
cudaError_t cudaGraphAddMemcpyNode(PLACE, const struct cudaMemcpy3DParms *p) {
  ADD_NODE(cudaGraphNodeTypeMemcpy, set_copy(node, p));
}
cudaError_t cudaGraphAddMemcpyNode1D(PLACE, void *dst, const void *src, size_t bytes, enum cudaMemcpyKind k) {
  ADD_NODE(cudaGraphNodeTypeMemcpy, set_copy_1d(node, dst, src, bytes, k));
}
cudaError_t cudaGraphAddMemsetNode(PLACE, const struct cudaMemsetParams *p) {
  ADD_NODE(cudaGraphNodeTypeMemset, set_memset(node, p));
}
cudaError_t cudaGraphAddHostNode(PLACE, const struct cudaHostNodeParams *p) {
  ADD_NODE(cudaGraphNodeTypeHost, set_host(node, p));
}
cudaError_t cudaGraphAddChildGraphNode(PLACE, cudaGraph_t child) {
  ADD_NODE(cudaGraphNodeTypeGraph, set_child(node, child));
}
cudaError_t cudaGraphAddMemAllocNode(PLACE, struct cudaMemAllocNodeParams *p) {
  ADD_NODE(cudaGraphNodeTypeMemAlloc, set_alloc(node, p));
}
cudaError_t cudaGraphAddMemFreeNode(PLACE, void *p) { ADD_NODE(cudaGraphNodeTypeMemFree, set_free(node, p)); }
cudaError_t cudaGraphAddEmptyNode(PLACE) { ADD_NODE(cudaGraphNodeTypeEmpty, cudaSuccess); }
cudaError_t cudaGraphAddEventRecordNode(PLACE, cudaEvent_t e) { ADD_NODE(cudaGraphNodeTypeEventRecord, set_event(node, e)); }
cudaError_t cudaGraphAddEventWaitNode(PLACE, cudaEvent_t e) { ADD_NODE(cudaGraphNodeTypeWaitEvent, set_event(node, e)); }

/* A node of any type. */
static cudaError_t set_any(struct CUgraphNode_st *n, cudaGraphNodeParams *p) {
  switch (p->type) {
    case cudaGraphNodeTypeKernel: return set_kernel(n, &p->kernel);
    case cudaGraphNodeTypeMemcpy: return set_copy(n, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return set_memset(n, &p->memset);
    case cudaGraphNodeTypeHost: return set_host(n, &p->host);
    case cudaGraphNodeTypeGraph: return set_child(n, p->graph.graph);
    case cudaGraphNodeTypeEmpty: return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent: return set_event(n, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord: return set_event(n, p->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: return set_alloc(n, &p->alloc);
    case cudaGraphNodeTypeMemFree: return set_free(n, p->free.dptr);
    case cudaGraphNodeTypeConditional:
      return (cudaError_t)heddle_unsupported("cudaGraphAddNode of a conditional node");
    default: return cudaErrorInvalidValue;
  }
}
cudaError_t cudaGraphAddNode(PLACE, cudaGraphNodeParams *p) {
  if (!p) return fail(cudaErrorInvalidValue);
  ADD_NODE(p->type, set_any(node, p));
}
cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *to, cudaGraph_t g, const cudaGraphNode_t *needs,
                                const cudaGraphEdgeData *edges, size_t n, cudaGraphNodeParams *p) {
  if (!p) return fail(cudaErrorInvalidValue);
  for (size_t i = 0; edges && i < n; i++)
    if (edges[i].from_port || edges[i].to_port || edges[i].type)
      return (cudaError_t)heddle_unsupported("cudaGraphAddNode_v2 with data of an edge");
  ADD_NODE(p->type, set_any(node, p));
}

/* Changes of a node of a type. */
#define CHANGE(NODE, TYPE, SET)                                                          \
  do {                                                                                   \
    ENTER();                                                                             \
    if (!node_exists(NODE) || (NODE)->type != (TYPE)) return fail(cudaErrorInvalidValue); \
    return fail(SET);                                                                    \
  } while (0)
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t n, const struct cudaKernelNodeParams *p) {
  CHANGE(n, cudaGraphNodeTypeKernel, set_kernel(n, p));
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t n, const struct cudaMemcpy3DParms *p) {
  CHANGE(n, cudaGraphNodeTypeMemcpy, set_copy(n, p));
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t n, void *to, const void *from, size_t bytes,
                                           enum cudaMemcpyKind k) {
  CHANGE(n, cudaGraphNodeTypeMemcpy, set_copy_1d(n, to, from, bytes, k));
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t n, const struct cudaMemsetParams *p) {
  CHANGE(n, cudaGraphNodeTypeMemset, set_memset(n, p));
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t n, const struct cudaHostNodeParams *p) {
  CHANGE(n, cudaGraphNodeTypeHost, set_host(n, p));
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t n, struct cudaKernelNodeParams *p) {
  ENTER();
  if (!node_exists(n) || n->type != cudaGraphNodeTypeKernel || !p) return fail(cudaErrorInvalidValue);
  *p = (struct cudaKernelNodeParams){(void *)(uintptr_t)n->function, n->shape.grid, n->shape.block,
                                     (unsigned)n->shape.shared, n->args, NULL};
  return cudaSuccess;
}
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t n, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue *v) {
  ENTER();
  if (!node_exists(n) || n->type != cudaGraphNodeTypeKernel || !v) return fail(cudaErrorInvalidValue);
  cudaLaunchAttribute a = {.id = id, .val = *v};
  return launch_attributes(&n->shape, &a, 1);
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t n, cudaGraph_t *to) {
  ENTER();
  if (!node_exists(n) || n->type != cudaGraphNodeTypeGraph || !to) return fail(cudaErrorInvalidValue);
  *to = n->child;
  return cudaSuccess;
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t g, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n) {
  ENTER();
  if (!graph_exists(g)) return fail(cudaErrorInvalidValue);
  for (size_t i = 0; i < n; i++)
    if (!node_in(from[i], g) || !node_in(to[i], g) || from[i] == to[i]) return fail(cudaErrorInvalidValue);
  for (size_t i = 0; i < n; i++) add_to(&to[i]->needs, from[i]);
  return cudaSuccess;
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t g, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n) {
  ENTER();
  if (!graph_exists(g)) return fail(cudaErrorInvalidValue);
  for (size_t i = 0; i < n; i++) {
    if (!node_in(from[i], g) || !node_in(to[i], g)) return fail(cudaErrorInvalidValue);
    remove_from(&to[i]->needs, from[i]);
  }
  return cudaSuccess;
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t n) {
  ENTER();
  if (!node_exists(n)) return fail(cudaErrorInvalidValue);
  cudaGraph_t g = n->graph;
  for (size_t i = 0; i < g->nodes.n; i++) remove_from(&g->nodes.at[i]->needs, n);
  remove_from(&g->nodes, n);
  free_node(n);
  return cudaSuccess;
}

/* Questions. With a null array only the number is returned. */
static cudaError_t give_nodes(const struct node_list *l, cudaGraphNode_t *to, size_t *n) {
  if (!n) return cudaErrorInvalidValue;
  if (to)
    for (size_t i = 0; i < *n; i++) to[i] = i < l->n ? l->at[i] : NULL;
  if (!to || *n > l->n) *n = l->n;
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t *to, size_t *n) {
  ENTER();
  return fail(graph_exists(g) ? give_nodes(&g->nodes, to, n) : cudaErrorInvalidValue);
}
static cudaError_t give_and_free(struct node_list *l, cudaGraphNode_t *to, size_t *n) {
  cudaError_t e = give_nodes(l, to, n);
  clear_list(l);
  return fail(e);
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t g, cudaGraphNode_t *to, size_t *n) {
  ENTER();
  struct node_list l = {0};
  if (!graph_exists(g)) return fail(cudaErrorInvalidValue);
  for (size_t i = 0; i < g->nodes.n; i++)
    if (!g->nodes.at[i]->needs.n) add_to(&l, g->nodes.at[i]);
  return give_and_free(&l, to, n);
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *to, size_t *n) {
  ENTER();
  return fail(node_exists(node) ? give_nodes(&node->needs, to, n) : cudaErrorInvalidValue);
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *to, size_t *n) {
  ENTER();
  struct node_list l = {0};
  if (!node_exists(node)) return fail(cudaErrorInvalidValue);
  for (size_t i = 0; i < node->graph->nodes.n; i++)
    for (size_t k = 0; k < node->graph->nodes.at[i]->needs.n; k++)
      if (node->graph->nodes.at[i]->needs.at[k] == node) add_to(&l, node->graph->nodes.at[i]);
  return give_and_free(&l, to, n);
}
cudaError_t cudaGraphGetEdges(cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *n) {
  ENTER();
  if (!graph_exists(g) || !n) return fail(cudaErrorInvalidValue);
  size_t count = 0;
  for (size_t i = 0; i < g->nodes.n; i++)
    for (size_t k = 0; k < g->nodes.at[i]->needs.n; k++, count++)
      if (from && to && count < *n) from[count] = g->nodes.at[i]->needs.at[k], to[count] = g->nodes.at[i];
  if (!from || *n > count) *n = count;
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t n, enum cudaGraphNodeType *to) {
  ENTER();
  if (!node_exists(n) || !to) return fail(cudaErrorInvalidValue);
  *to = n->type == NODE_WORK ? cudaGraphNodeTypeKernel : n->type;
  return cudaSuccess;
}

/* Copies. */
static struct CUgraphNode_st *copy_node(struct CUgraphNode_st *n, cudaGraph_t to) {
  struct CUgraphNode_st *c = new_node(to, n->type, n->caller), fresh = *c;
  *c = *n;
  c->graph = to, c->needs = fresh.needs, c->origin = n, c->twin = NULL, c->child = NULL, c->stream = NULL, c->done = NULL;
  c->mark = c->shared = 0, c->area = c->args = NULL;
  if (n->type == cudaGraphNodeTypeKernel) {
    struct kernel *k;
    if (get_kernel(n->function, &k) == cudaSuccess) set_area(c, k, n->area);
  }
  if (n->type == NODE_WORK) c->area = memcpy(need(malloc(n->extent.width)), n->area, n->extent.width);
  return n->twin = c;
}
static cudaGraph_t copy_graph(cudaGraph_t g) {
  cudaGraph_t to = new_graph();
  for (size_t i = 0; i < g->nodes.n; i++) {
    struct CUgraphNode_st *c = copy_node(g->nodes.at[i], to);
    if (g->nodes.at[i]->child) c->child = copy_graph(g->nodes.at[i]->child);
  }
  for (size_t i = 0; i < g->nodes.n; i++)
    for (size_t k = 0; k < g->nodes.at[i]->needs.n; k++)
      add_to(&g->nodes.at[i]->twin->needs, g->nodes.at[i]->needs.at[k]->twin);
  return to;
}
cudaError_t cudaGraphClone(cudaGraph_t *to, cudaGraph_t g) {
  ENTER();
  if (!to || !graph_exists(g)) return fail(cudaErrorInvalidValue);
  if (allocates(g)) return fail(cudaErrorNotSupported);
  *to = copy_graph(g);
  return cudaSuccess;
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *to, cudaGraphNode_t n, cudaGraph_t g) {
  ENTER();
  if (!to || !graph_exists(g)) return fail(cudaErrorInvalidValue);
  for (size_t i = 0; i < g->nodes.n; i++)
    if (g->nodes.at[i]->origin == n) return *to = g->nodes.at[i], cudaSuccess;
  return fail(cudaErrorInvalidValue);
}

/* Executable graphs: a copy whose child graphs are in place and whose nodes are in an order in which they can be
   executed. */

/* Appends a node behind those on which it depends. It returns 0 if they form a circle. */
static int visit(struct CUgraphNode_st *n, struct node_list *sorted) {
  if (n->mark) return n->mark == 2;
  n->mark = 1;
  for (size_t i = 0; i < n->needs.n; i++)
    if (!visit(n->needs.at[i], sorted)) return 0;
  n->mark = 2;
  add_to(sorted, n);
  return 1;
}
static int sorted_nodes(cudaGraph_t g, struct node_list *sorted) {
  for (size_t i = 0; i < g->nodes.n; i++) g->nodes.at[i]->mark = 0;
  for (size_t i = 0; i < g->nodes.n; i++)
    if (!visit(g->nodes.at[i], sorted)) return 0;
  return 1;
}
/* Copies the nodes of g to an executable graph, all of them behind before, and adds to last those that nothing
   follows. */
static int flatten(cudaGraph_t g, cudaGraph_t to, struct CUgraphNode_st *before, struct node_list *last) {
  struct node_list sorted = {0};
  int ok = sorted_nodes(g, &sorted);
  for (size_t i = 0; ok && i < sorted.n; i++) {
    struct CUgraphNode_st *n = sorted.at[i], *c = copy_node(n, to);
    for (size_t k = 0; k < n->needs.n; k++) {
      add_to(&c->needs, n->needs.at[k]->twin);
      remove_from(last, n->needs.at[k]->twin);
    }
    if (!n->needs.n && before) add_to(&c->needs, before);
    add_to(last, c);
    if (n->type != cudaGraphNodeTypeGraph) continue;
    struct node_list inner = {0};
    c->type = cudaGraphNodeTypeEmpty;
    ok = flatten(n->child, to, c, &inner);
    struct CUgraphNode_st *end = new_node(to, cudaGraphNodeTypeEmpty, n->caller);
    add_to(&end->needs, c);
    add_all(&end->needs, &inner);
    clear_list(&inner);
    remove_from(last, c);
    add_to(last, end);
    n->twin = end;
  }
  clear_list(&sorted);
  return ok;
}

static cudaError_t give_streams(cudaGraphExec_t x, uint64_t caller) {
  cudaError_t e = cudaEventCreateWithFlags(&x->start, cudaEventDisableTiming);
  if (e == cudaSuccess) e = cudaEventCreateWithFlags(&x->end, cudaEventDisableTiming);
  for (size_t i = 0; e == cudaSuccess && i < x->graph->nodes.n; i++) {
    struct CUgraphNode_st *n = x->graph->nodes.at[i];
    /* The first node behind another one goes on in its stream. */
    for (size_t k = 0; !n->stream && k < n->needs.n; k++)
      if (!n->needs.at[k]->shared) n->stream = n->needs.at[k]->stream, n->needs.at[k]->shared = 1;
    if (!n->stream) e = create_stream(&n->stream, cudaStreamNonBlocking, 0, caller);
    if (e == cudaSuccess) e = cudaEventCreateWithFlags(&n->done, cudaEventDisableTiming);
  }
  return e;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *to, cudaGraph_t g, unsigned long long flags) {
  ENTER();
  if (!to || !graph_exists(g)) return fail(cudaErrorInvalidValue);
  if (flags & cudaGraphInstantiateFlagDeviceLaunch) return (cudaError_t)heddle_unsupported("cudaGraphInstantiateFlagDeviceLaunch");
  struct node_list last = {0};
  cudaGraph_t copy = new_graph();
  int ok = flatten(g, copy, NULL, &last);
  clear_list(&last);
  if (!ok) {
    free_graph(copy);
    return fail(cudaErrorInvalidValue);
  }
  struct CUgraphExec_st *x = need(calloc(1, sizeof *x));
  x->graph = copy, x->auto_free = !!(flags & cudaGraphInstantiateFlagAutoFreeOnLaunch);
  cudaError_t e = give_streams(x, CALLER);
  lock();
  x->next = execs, execs = x;
  unlock();
  if (e == cudaSuccess) *to = x;
  return fail(e);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x) {
  ENTER();
  if (!exec_exists(x)) return fail(cudaErrorInvalidValue);
  lock();
  struct CUgraphExec_st **p = &execs;
  while (*p != x) p = &(*p)->next;
  *p = x->next;
  unlock();
  for (size_t i = 0; i < x->graph->nodes.n; i++) {
    struct CUgraphNode_st *n = x->graph->nodes.at[i];
    if (n->done) cudaEventDestroy(n->done);
    if (n->stream && !n->shared) cudaStreamDestroy(n->stream); /* the last one of its stream */
  }
  cudaEventDestroy(x->start);
  cudaEventDestroy(x->end);
  free_graph(x->graph);
  free(x);
  return cudaSuccess;
}

static cudaError_t execute(struct CUgraphNode_st *n) {
  struct how how = {n->stream, 1, n->caller};
  switch ((int)n->type) {
  case cudaGraphNodeTypeKernel:
    n->shape.stream = n->stream;
    return launch(n->function, &n->shape, NULL);
  case NODE_WORK: return execute_work(n);
  case cudaGraphNodeTypeMemcpy: return copy_rows(n->to, n->from, n->extent, n->kind, how);
  case cudaGraphNodeTypeMemset: return set_elements(n->to, n->value, n->element, n->extent, how);
  case cudaGraphNodeTypeHost: return cudaLaunchHostFunc(n->stream, n->host, n->data);
  case cudaGraphNodeTypeMemAlloc: return graph_alloc(n, how);
  case cudaGraphNodeTypeMemFree: return release(n->to.p, 0, n->caller, &how);
  case cudaGraphNodeTypeWaitEvent: return cudaStreamWaitEvent(n->stream, n->event, 0);
  case cudaGraphNodeTypeEventRecord: return cudaEventRecord(n->event, n->stream);
  }
  return cudaSuccess;
}

static cudaError_t capture_child(cudaGraphExec_t x, cudaStream_t s, uint64_t caller) {
  struct CUgraphNode_st *n = captured_node(s, cudaGraphNodeTypeGraph, caller);
  if (!n) return cudaErrorStreamCaptureInvalidated;
  n->child = copy_graph(x->graph);
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s) {
  ENTER();
  if (!exec_exists(x) || check_stream(s) != cudaSuccess) return fail(cudaErrorInvalidValue);
  if (capturing(s)) return fail(allocates(x->graph) ? cudaErrorNotSupported : capture_child(x, s, CALLER));
  if (outside_capture(s) != cudaSuccess) return fail(cudaErrorStreamCaptureImplicit);
  cudaError_t e = cudaSuccess;
  /* Launches of one executable graph follow each other (CUDA Runtime API, cudaGraphLaunch). */
  if (x->launched) e = cudaStreamWaitEvent(s, x->end, 0);
  /* What the last launch has allocated and nothing has freed is freed, or this launch fails. */
  for (size_t i = 0; e == cudaSuccess && i < x->graph->nodes.n; i++) {
    struct CUgraphNode_st *n = x->graph->nodes.at[i];
    struct allocation a;
    if (n->type != cudaGraphNodeTypeMemAlloc || !find_allocation(n->to.p, &a)) continue;
    e = x->auto_free ? release(n->to.p, 0, CALLER, &(struct how){s, 1, CALLER}) : cudaErrorInvalidValue;
  }
  if (e == cudaSuccess) e = cudaEventRecord(x->start, s);
  for (size_t i = 0; i < x->graph->nodes.n; i++) x->graph->nodes.at[i]->mark = 0;
  for (size_t i = 0; e == cudaSuccess && i < x->graph->nodes.n; i++) {
    struct CUgraphNode_st *n = x->graph->nodes.at[i];
    if (!n->needs.n) e = cudaStreamWaitEvent(n->stream, x->start, 0);
    for (size_t k = 0; e == cudaSuccess && k < n->needs.n; k++) {
      n->needs.at[k]->mark = 1;
      if (n->needs.at[k]->stream != n->stream) e = cudaStreamWaitEvent(n->stream, n->needs.at[k]->done, 0);
    }
    if (e == cudaSuccess) e = execute(n);
    if (e == cudaSuccess) e = cudaEventRecord(n->done, n->stream);
  }
  for (size_t i = 0; e == cudaSuccess && i < x->graph->nodes.n; i++)
    if (!x->graph->nodes.at[i]->mark) e = cudaStreamWaitEvent(s, x->graph->nodes.at[i]->done, 0);
  if (e == cudaSuccess) e = cudaEventRecord(x->end, s);
  x->launched = 1;
  return fail(e);
}
cudaError_t cudaGraphUpload(cudaGraphExec_t x, cudaStream_t s) {
  ENTER();
  return exec_exists(x) && check_stream(s) == cudaSuccess ? cudaSuccess : fail(cudaErrorInvalidValue);
}

/* The node of an executable graph that was made from a node. */
static struct CUgraphNode_st *node_of(cudaGraphExec_t x, cudaGraphNode_t n) {
  for (size_t i = 0; exec_exists(x) && i < x->graph->nodes.n; i++)
    if (x->graph->nodes.at[i]->origin == n) return x->graph->nodes.at[i];
  return NULL;
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n, const struct cudaKernelNodeParams *p) {
  CHANGE(node_of(x, n), cudaGraphNodeTypeKernel, set_kernel(node_of(x, n), p));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n, const struct cudaMemcpy3DParms *p) {
  CHANGE(node_of(x, n), cudaGraphNodeTypeMemcpy, set_copy(node_of(x, n), p));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t x, cudaGraphNode_t n, void *to, const void *from,
                                               size_t bytes, enum cudaMemcpyKind k) {
  CHANGE(node_of(x, n), cudaGraphNodeTypeMemcpy, set_copy_1d(node_of(x, n), to, from, bytes, k));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n, const struct cudaMemsetParams *p) {
  CHANGE(node_of(x, n), cudaGraphNodeTypeMemset, set_memset(node_of(x, n), p));
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n, const struct cudaHostNodeParams *p) {
  CHANGE(node_of(x, n), cudaGraphNodeTypeHost, set_host(node_of(x, n), p));
}

/* Gives the nodes of an executable graph the parameters of another graph of the same shape. */
static enum cudaGraphExecUpdateResult update(cudaGraph_t old, cudaGraph_t new, cudaGraphNode_t *bad) {
  if (old->nodes.n != new->nodes.n) return cudaGraphExecUpdateErrorTopologyChanged;
  for (size_t i = 0; i < old->nodes.n; i++) old->nodes.at[i]->twin = new->nodes.at[i];
  for (size_t i = 0; i < old->nodes.n; i++) {
    struct CUgraphNode_st *a = old->nodes.at[i], *b = new->nodes.at[i];
    *bad = b->origin;
    if (a->type != b->type) return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (a->needs.n != b->needs.n) return cudaGraphExecUpdateErrorTopologyChanged;
    for (size_t k = 0; k < a->needs.n; k++)
      if (a->needs.at[k]->twin != b->needs.at[k]) return cudaGraphExecUpdateErrorTopologyChanged;
  }
  for (size_t i = 0; i < old->nodes.n; i++) {
    struct CUgraphNode_st *a = old->nodes.at[i], *b = new->nodes.at[i], keep = *a;
    *a = *b; /* with the parameters, whose memory changes hands */
    a->graph = keep.graph, a->needs = keep.needs, a->stream = keep.stream, a->done = keep.done, a->shared = keep.shared;
    b->area = keep.area, b->args = keep.args;
  }
  return cudaGraphExecUpdateSuccess;
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t x, cudaGraph_t g, cudaGraphExecUpdateResultInfo *info) {
  ENTER();
  if (!exec_exists(x) || !graph_exists(g)) return fail(cudaErrorInvalidValue);
  struct node_list last = {0};
  cudaGraph_t copy = new_graph();
  cudaGraphNode_t bad = NULL;
  enum cudaGraphExecUpdateResult r =
      flatten(g, copy, NULL, &last) ? update(x->graph, copy, &bad) : cudaGraphExecUpdateErrorTopologyChanged;
  clear_list(&last);
  free_graph(copy);
  if (info) *info = (cudaGraphExecUpdateResultInfo){r, r == cudaGraphExecUpdateSuccess ? NULL : bad, NULL};
  return r == cudaGraphExecUpdateSuccess ? cudaSuccess : fail(cudaErrorGraphExecUpdateFailure);
}
