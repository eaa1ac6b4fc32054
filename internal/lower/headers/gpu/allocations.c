/* Allocations, as the program makes them: what the runtime allocates by the driver is the runtime's. */

static void allocated(result e, const void *address, uint64_t size, uint32_t kind, uint64_t caller) {
  if (e || !address || !enter()) return;
  struct { uint64_t address, size; uint32_t kind, zero; uint64_t caller; } m = {
      (uint64_t)(uintptr_t)address, size, kind, 0, caller};
  struct part p = {&m, sizeof m};
  server.used = 1;
  post(HEDDLE_WATCH_ALLOC, &p, 1);
}

static void freed(const void *address, uint64_t caller) {
  if (!address || !enter()) return;
  uint64_t m[2] = {(uint64_t)(uintptr_t)address, caller};
  struct part p = {m, sizeof m};
  post(HEDDLE_WATCH_FREE, &p, 1);
}

/* A context ends; with NULL the primary one of a device. The kernels in it have ended when it has. */
static result end_context(void *real, void *context, int device, int primary) {
  void *to = real;
  if (!to) return ERROR_NOT_INITIALIZED;
  int watching = !depth && server.connection && !server.dead && load_driver();
  if (watching) {
    pthread_mutex_lock(&launching);
    drop_queues(context, 1);
    forget_contexts(primary);
    if (primary) forget_executables();
  }
  depth++;
  result e = context ? ((result(*)(void *))to)(context) : device < 0 ? ((result(*)(void))to)()
                                                                     : ((result(*)(int))to)(device);
  depth--;
  if (watching) pthread_mutex_unlock(&launching);
  return e;
}

/* cuDevicePrimaryCtxRelease ends the context if nobody else has retained it. */
static result release_primary(result (*to)(int), int device) {
  if (!to) return ERROR_NOT_INITIALIZED;
  int watching = server.connection && !server.dead && queue_count && load_driver() && cu.primary_state;
  if (watching && !depth) pthread_mutex_lock(&launching);
  depth++;
  result e = to(device);
  depth--;
  unsigned flags = 0;
  int active = 1;
  if (watching && !cu.primary_state(device, &flags, &active) && !active) {
    drop_queues(NULL, 0);
    forget_contexts(1);
    forget_executables();
  }
  if (watching && !depth) pthread_mutex_unlock(&launching);
  return e;
}
