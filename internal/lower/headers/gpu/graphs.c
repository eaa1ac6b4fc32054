/* Graphs. The first launches of an executable graph are made node by node in the stream of the launch, so that its
   kernels are watched. One after the other is an order that the graph allows. What the nodes are is known from a clone
   that is made when the graph is instantiated, since the program may change the graph, or destroy it. The functions are
   those of the driver: they are the same for all versions of the runtime, and know the kernels of several of them. */

enum { NODE_KERNEL, NODE_COPY, NODE_MEMSET, NODE_HOST, NODE_GRAPH, NODE_EMPTY, NODE_WAIT, NODE_RECORD,
       NODE_ALLOC = 10, NODE_FREE };
enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4, ATTRIBUTE_UPDATABLE = 13 };
#define INSTANTIATE_DEVICE_LAUNCH 4
#define EVENT_DISABLE_TIMING 2

struct node { void *handle; int type; };
struct executable {
  struct executable *next;
  void *handle, *clone;
  const char *refused;   /* why it is not launched node by node; NULL */
  struct node *nodes;    /* of the clone and its child graphs, in the order of execution */
  size_t count;
  uint64_t launches;     /* since it was instantiated or changed */
  enum { NEVER, AS_A_GRAPH, BY_NODES } last;
  void *done;            /* an event behind the last launch by nodes */
};
static struct executable *executables;

/* The caller holds the lock. */
static struct executable *find_executable(void *handle) {
  struct executable *x = executables;
  while (x && x->handle != handle) x = x->next;
  return x;
}

/* The attributes of a kernel node that its launch must have. */
static unsigned kernel_attributes(void *node, attribute to[2]) {
  unsigned n = 0;
  memset(to, 0, 2 * sizeof *to);
  if (!cu.kernel_attribute) return 0; /* CUDA 10 */
  if (!cu.kernel_attribute(node, ATTRIBUTE_COOPERATIVE, &to[n].value) && to[n].value.number)
    to[n++].id = ATTRIBUTE_COOPERATIVE;
  memset(&to[n], 0, sizeof to[n]);
  if (!cu.kernel_attribute(node, ATTRIBUTE_CLUSTER, &to[n].value)) {
    dim3 d = to[n].value.dim;
    if (d.x > 1 || d.y > 1 || d.z > 1) to[n++].id = ATTRIBUTE_CLUSTER;
  }
  return n;
}

/* Returns why a node cannot be executed in a stream, or NULL. */
static const char *refusal(void *node, int type) {
  struct kernel_node k = {0};
  struct memset_node m = {0};
  attribute a[2];
  int updatable[16] = {0};
  switch (type) {
  case NODE_KERNEL:
    if (cu.kernel_node(node, &k) || !(k.function || k.kernel)) return "has a kernel with unknown parameters";
    if (kernel_attributes(node, a) && !cu.launch_config) return "has a cooperative kernel";
    if (cu.kernel_attribute && !cu.kernel_attribute(node, ATTRIBUTE_UPDATABLE, updatable) && updatable[0])
      return "has a node that kernels can change";
    return NULL;
  case NODE_MEMSET:
    if (cu.memset_node(node, &m)) return "has a memset with unknown parameters";
    return m.element == 1 || m.element == 2 || m.element == 4 ? NULL : "has a memset of unknown elements";
  case NODE_COPY: case NODE_HOST: case NODE_GRAPH: case NODE_EMPTY: case NODE_WAIT: case NODE_RECORD: return NULL;
  case NODE_ALLOC: case NODE_FREE: return "has nodes that allocate or free memory";
  }
  return "has nodes other than kernels, copies, memsets, host functions, events and child graphs";
}

/* A node of a graph while the nodes are put in order: how many others it waits for, and 1 + the number of the first
   edge from it, or 0. */
struct place { void *node; size_t needs, first; };

static int compare_places(const void *a, const void *b) {
  uintptr_t x = (uintptr_t)((const struct place *)a)->node, y = (uintptr_t)((const struct place *)b)->node;
  return x < y ? -1 : x > y;
}
static struct place *place_in(struct place *all, size_t n, void *node) {
  struct place key = {node, 0, 0};
  return bsearch(&key, all, n, sizeof *all, compare_places);
}

/* Puts nodes behind those on which they depend. next has room for a number for each edge. */
static int put_in_order(void **nodes, size_t n, void **from, void **to, size_t edges, struct place *all, size_t *next,
                        void **order) {
  size_t done = 0;
  for (size_t i = 0; i < n; i++) all[i] = (struct place){nodes[i], 0, 0};
  qsort(all, n, sizeof *all, compare_places);
  for (size_t i = edges; i-- > 0;) {
    struct place *a = place_in(all, n, from[i]), *b = place_in(all, n, to[i]);
    if (!a || !b) return 0;
    next[i] = a->first, a->first = i + 1;
    b->needs++;
  }
  for (size_t i = 0; i < n; i++)
    if (!place_in(all, n, nodes[i])->needs) order[done++] = nodes[i];
  for (size_t i = 0; i < done; i++)
    for (size_t k = place_in(all, n, order[i])->first; k; k = next[k - 1])
      if (!--place_in(all, n, to[k - 1])->needs) order[done++] = to[k - 1];
  return done == n;
}

/* The nodes of a graph in an order that it allows, in memory that the caller frees; NULL if there is none that a stream
   has: the driver does not give edges that order only a part of their kernels. */
static void **ordered_nodes(void *graph, size_t *n) {
  size_t edges = 0;
  *n = 0;
  if (cu.graph_nodes(graph, NULL, n) || cu.graph_edges(graph, NULL, NULL, &edges)) return NULL;
  void **nodes = calloc(2 * *n + 2 * edges + 1, sizeof *nodes), **from = nodes + 2 * *n;
  struct place *all = calloc(*n + 1, sizeof *all);
  size_t *next = calloc(edges + 1, sizeof *next);
  int ok = nodes && all && next && (!*n || !cu.graph_nodes(graph, nodes, n)) &&
           (!edges || !cu.graph_edges(graph, from, from + edges, &edges)) &&
           put_in_order(nodes, *n, from, from + edges, edges, all, next, nodes + *n);
  if (ok) memmove(nodes, nodes + *n, *n * sizeof *nodes);
  free(all);
  free(next);
  if (!ok) free(nodes);
  return ok ? nodes : NULL;
}

/* Appends the nodes of a graph to those of an executable one. Returns why a stream cannot execute them, or NULL. */
static const char *list_nodes(struct executable *x, void *graph) {
  size_t n;
  void **nodes = ordered_nodes(graph, &n), *child = NULL;
  const char *why = nodes ? NULL : "has dependencies between parts of kernels";
  struct node *more = nodes ? realloc(x->nodes, (x->count + n + 1) * sizeof *more) : NULL;
  if (more) x->nodes = more;
  else if (!why) why = "is too large";
  for (size_t i = 0; !why && i < n; i++) {
    struct node d = {nodes[i], -1};
    if (cu.node_type(nodes[i], &d.type)) d.type = -1;
    why = refusal(nodes[i], d.type);
    if (why || d.type == NODE_EMPTY) continue;
    if (d.type != NODE_GRAPH) {
      x->nodes[x->count++] = d;
    } else if (cu.child_graph(nodes[i], &child)) {
      why = "has an unknown child graph";
    } else if (!(why = list_nodes(x, child))) {
      more = realloc(x->nodes, (x->count + n - i) * sizeof *more); /* for those behind it */
      if (more) x->nodes = more;
      else why = "is too large";
    }
  }
  free(nodes);
  return why;
}

static void drop_clone(struct executable *x) {
  if (x->clone) cu.graph_destroy(x->clone);
  free(x->nodes);
  x->clone = x->nodes = NULL, x->count = 0;
}

static void refuse(struct executable *x, const char *why) {
  drop_clone(x);
  x->refused = why;
}

/* Keeps a clone of what an executable graph executes. The graph itself is asked first, since one that allocates cannot
   be cloned, and the program is told why. */
static void keep_clone(struct executable *x, void *graph) {
  const char *why = list_nodes(x, graph);
  drop_clone(x);
  if (!why && cu.graph_clone(&x->clone, graph)) x->clone = NULL, why = "cannot be copied";
  if (!why) why = list_nodes(x, x->clone);
  if (why) refuse(x, why);
}

/* An executable graph exists. */
static void instantiated(result e, void **to, void *graph, unsigned long long flags) {
  if (e || depth || !to || !*to || !enter() || !load_driver() || !server.replays || setup_failed) return;
  lock();
  struct executable *x = find_executable(*to);
  if (!x && (x = calloc(1, sizeof *x))) x->handle = *to, x->next = executables, executables = x;
  if (x) {
    drop_clone(x);
    x->refused = NULL, x->launches = 0, x->last = NEVER;
    if (!cu.launch_plain || !cu.kernel_node) x->refused = "cannot be read with this driver";
    else if (flags & INSTANTIATE_DEVICE_LAUNCH) x->refused = "can be launched by kernels";
    else keep_clone(x, graph);
  }
  unlock();
}

/* An executable graph will not exist any more. What the last launch uses may belong to the graph, and the driver does
   not know of a launch by nodes. */
static void end_executable(void *handle) {
  if (depth) return;
  lock();
  struct executable **at = &executables, *x;
  while (*at && (*at)->handle != handle) at = &(*at)->next;
  if ((x = *at)) *at = x->next;
  unlock();
  if (!x) return;
  if (x->last == BY_NODES && x->done) cu.event_synchronize(x->done);
  if (x->done) cu.event_destroy(x->done);
  drop_clone(x);
  free(x);
}

/* The contexts have ended, and the executable graphs with them. */
static void forget_executables(void) {
  for (struct executable *x; (x = executables); free(x)) {
    executables = x->next;
    free(x->nodes);
  }
}

/* An executable graph was changed. Launches of it count anew: its kernels may have other shapes. */
static void changed(void *handle, const char *refused) {
  if (depth) return;
  lock();
  struct executable *x = find_executable(handle);
  if (x && refused && !x->refused) refuse(x, refused);
  if (x) x->launches = 0;
  unlock();
}
#define CHANGED "was changed in a way that heddle cannot follow"

/* All of an executable graph was replaced. After an error it may be the old one, or none. */
static void updated(result e, void *handle, void *graph) {
  if (depth) return;
  lock();
  struct executable *x = find_executable(handle);
  if (x && !x->refused) {
    if (e) refuse(x, CHANGED);
    else keep_clone(x, graph);
    x->launches = 0;
  }
  unlock();
}

/* The node of the clone that stands for a node of which the parameters in an executable graph were changed, or NULL. */
static void *changed_node(result e, void *handle, void *node) {
  void *to = NULL;
  if (e || depth) return NULL;
  lock();
  struct executable *x = find_executable(handle);
  if (x && !x->refused && cu.node_in_clone(&to, node, x->clone)) to = NULL;
  unlock();
  changed(handle, to ? NULL : CHANGED);
  return to;
}

static result launch_kernel_node(void *node, void *stream, uint64_t caller) {
  struct kernel_node k = {0};
  attribute a[2];
  result e = cu.kernel_node(node, &k);
  if (e) return e;
  unsigned n = kernel_attributes(node, a);
  driver_config c = {k.grid, k.block, k.shared, stream, a, n};
  struct launch l = {.form = n ? DRIVER_CONFIG : DRIVER_PLAIN,
                     .real = n ? (void *)cu.launch_config : (void *)cu.launch_plain,
                     .function = k.function ? k.function : k.kernel, .grid = k.grid, .block = k.block,
                     .cluster = {1, 1, 1}, .shared = k.shared, .stream = stream, .args = k.args, .extra = k.extra,
                     .config = &c, .caller = caller};
  attributes_of(&l, a, n);
  return launch(&l);
}

static result launch_memset_node(void *node, void *stream) {
  struct memset_node m = {0};
  result e = cu.memset_node(node, &m);
  if (e) return e;
  if (m.height <= 1) m.pitch = m.width * m.element; /* the node's has no meaning */
  if (m.element == 1) return cu.memset_2d_8(m.to, m.pitch, (unsigned char)m.value, m.width, m.height, stream);
  if (m.element == 2) return cu.memset_2d_16(m.to, m.pitch, (unsigned short)m.value, m.width, m.height, stream);
  return cu.memset_2d_32(m.to, m.pitch, m.value, m.width, m.height, stream);
}

static result launch_node(const struct node *d, void *stream, uint64_t caller) {
  struct copy c = {{0}};
  struct host_node h = {0};
  void *event = NULL;
  result e = 0;
  if (d->type == NODE_KERNEL) return launch_kernel_node(d->handle, stream, caller);
  depth++;
  switch (d->type) {
  case NODE_COPY: e = (e = cu.copy_node(d->handle, &c)) ? e : cu.copy(&c, stream); break;
  case NODE_MEMSET: e = launch_memset_node(d->handle, stream); break;
  case NODE_HOST: e = (e = cu.host_node(d->handle, &h)) ? e : cu.host_function(stream, h.function, h.data); break;
  case NODE_WAIT: e = (e = cu.awaited_event(d->handle, &event)) ? e : cu.stream_wait(stream, event, 0); break;
  case NODE_RECORD: e = (e = cu.recorded_event(d->handle, &event)) ? e : cu.event_record(event, stream); break;
  }
  depth--;
  return e;
}

static result launch_nodes(struct executable *x, void *stream, uint64_t caller) {
  result e = 0;
  for (size_t i = 0; !e && i < x->count; i++) e = launch_node(&x->nodes[i], stream, caller);
  if (!x->done && cu.event_create(&x->done, EVENT_DISABLE_TIMING)) x->done = NULL;
  if (!x->done || cu.event_record(x->done, stream)) cu.ctx_synchronize();
  return e;
}

/* Launches of one executable graph follow each other, whatever their streams (CUDA Runtime API, cudaGraphLaunch). The
   driver sees to that for those of which it knows. */
static void wait_for_last(const struct executable *x, void *stream, int by_nodes) {
  if (x->last == BY_NODES && x->done) cu.stream_wait(stream, x->done, 0);
  if (x->last == AS_A_GRAPH && by_nodes) cu.ctx_synchronize();
}

/* Makes a context current, as the runtime does in a thread that has none. */
static void need_context(void) {
  void *context = NULL;
  result (*release)(void *);
  if (cu.ctx_get_current(&context) || context) return;
  *(void **)&release = find_real("cudaFree", 0);
  depth++;
  if (release) release(NULL);
  depth--;
}

static result forward_graph(void *real, void *graph, void *stream) {
  depth++;
  result e = ((result(*)(void *, void *))real)(graph, stream);
  depth--;
  return e;
}

/* cudaGraphLaunch. Kernels of the graph may log, too, so that it waits for watched launches. */
static result launch_graph(void *real, void *graph, void *stream, int per_thread, uint64_t caller) {
  if (!real) return ERROR_NOT_INITIALIZED;
  if (depth || !enter() || setup_failed || !load_driver()) return forward_graph(real, graph, stream);
  void *at = !stream && per_thread ? PER_THREAD_STREAM : stream;
  pthread_mutex_lock(&launching);
  need_context();
  lock();
  struct executable *x = find_executable(graph);
  unlock();
  uint32_t why = obstacle(at);
  const char *refused = x ? x->refused : "was instantiated in a way that heddle does not see";
  int by_nodes = !why && !refused && x->launches < server.replays;
  if (why && why != HEDDLE_WATCH_WHY_GRAPH) unwatched(why, "");
  else if (!why && refused && server.replays) unwatched(HEDDLE_WATCH_WHY_GRAPH, refused);
  else if (!why && !by_nodes && server.replays) unwatched(HEDDLE_WATCH_WHY_MORE, "");
  if (x && why != HEDDLE_WATCH_WHY_GRAPH) wait_for_last(x, at, by_nodes);
  result e = by_nodes ? launch_nodes(x, at, caller) : forward_graph(real, graph, stream);
  if (x && why != HEDDLE_WATCH_WHY_GRAPH) x->last = by_nodes ? BY_NODES : AS_A_GRAPH;
  if (by_nodes) x->launches++;
  pthread_mutex_unlock(&launching);
  return e;
}

/* cuGraphLaunch, of programs that use the driver, or contain the runtime. */
static result launch_driver_graph(void *real, void *graph, void *stream) {
  if (!real) return ERROR_NOT_INITIALIZED;
  if (depth || !enter()) return forward_graph(real, graph, stream);
  unwatched(HEDDLE_WATCH_WHY_GRAPH, "");
  pthread_mutex_lock(&launching);
  result e = forward_graph(real, graph, stream);
  pthread_mutex_unlock(&launching);
  return e;
}
