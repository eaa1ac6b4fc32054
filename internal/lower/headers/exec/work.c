/* Work of libraries, which heddle computes in the order of a stream, as it executes launches. */

/* The address of an operand as heddle knows it. */
static uint64_t arena(const void *p) {
  int kind;
  return arena_address(p, &kind);
}

static void post_work(const void *message, size_t size) {
  struct part p = {message, size};
  last_default = -1;
  post(HEDDLE_OP_WORK, &p, 1);
}

/* Has heddle carry out a function, and waits for its result of size bytes if there is one. device says that scalars are
   in device memory. */
static cudaError_t work(uint32_t function, const char *name, int device, cudaStream_t s, uint64_t caller,
                        const uint64_t *args, size_t n, void *result, size_t size) {
  ENTER();
  cudaError_t e = check_stream(s);
  if (e == cudaSuccess && size) e = no_capture(s); /* the host waits */
  if (e != cudaSuccess) return fail(e);
  char message[2048];
  struct heddle_work head = {function, (uint32_t)device, (uint32_t)n, 0, stream_id(s), caller};
  size_t length = sizeof head + n * sizeof *args + strlen(name);
  if (length > sizeof message) give_up("a call of a library is too long");
  memcpy(message, &head, sizeof head);
  memcpy(message + sizeof head, args, n * sizeof *args);
  memcpy(message + sizeof head + n * sizeof *args, name, strlen(name));
  if (capturing(s)) return fail(capture_work(s, message, length, caller));
  if (outside_capture(s) != cudaSuccess) return fail(cudaErrorStreamCaptureImplicit);
  if (!size) {
    post_work(message, length);
    return cudaSuccess;
  }
  struct part p = {message, length};
  last_default = -1;
  e = ask(HEDDLE_OP_WORK_RESULT, &p, 1, result, size);
  note_order((struct heddle_order){.what = HEDDLE_ORDER_SYNC_STREAM, .stream = stream_id(s)});
  return fail(e);
}
