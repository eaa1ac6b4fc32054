/* Which module and name a handle of a function stands for, and what heddle says of the kernel. */

static struct owner *owners;
static struct function *functions; /* a hash table by handle; power of two */
static size_t function_room, function_count; /* with places of functions that do not exist any more */
static struct kernel *kernels[1024];
static int capturing_count; /* streams that are captured (launches.c) */
#define GONE ((void *)-1)

static struct owner *find_owner(void *handle, int library) {
  struct owner *o = owners;
  while (o && (o->handle != handle || o->library != library)) o = o->next;
  return o;
}

/* Records a module or library. The caller holds the lock. */
static struct owner *note_owner(void *handle, int library, struct image *image) {
  struct owner *o = find_owner(handle, library);
  if (!o) {
    if (!(o = calloc(1, sizeof *o))) return NULL;
    o->next = owners, owners = o;
  }
  *o = (struct owner){.next = o->next, .handle = handle, .library = library, .image = image};
  return o;
}

static struct function *place_of(void *handle) {
  size_t i = (size_t)(((uintptr_t)handle * 0x9e3779b97f4a7c15u) >> 32) & (function_room - 1);
  while (functions[i].handle && functions[i].handle != handle) i = (i + 1) & (function_room - 1);
  return &functions[i];
}

static int grow_functions(void) {
  if (function_count * 2 < function_room) return 1;
  struct function *old = functions;
  size_t n = function_room, room = n ? 2 * n : 256;
  struct function *fresh = calloc(room, sizeof *fresh);
  if (!fresh) return 0;
  functions = fresh, function_room = room, function_count = 0;
  for (size_t i = 0; i < n; i++)
    if (old[i].handle && old[i].handle != GONE) *place_of(old[i].handle) = old[i], function_count++;
  free(old);
  return 1;
}

/* Records a function. The caller holds the lock. */
static void note_function(struct function f) {
  if (!f.handle || !grow_functions()) return;
  struct function *to = place_of(f.handle);
  if (!to->handle) function_count++;
  *to = f;
}

/* Forgets the functions of a module or library; with neither, all but the kernels of libraries. */
static void forget_functions(void *module, void *library) {
  for (size_t i = 0; i < function_room; i++) {
    struct function *f = &functions[i];
    int of = module ? f->module == module : library ? f->library == library : !f->library || f->module;
    if (f->handle && of) *f = (struct function){.handle = GONE};
  }
}

static void forget_owner(void *handle, int library) {
  lock();
  struct owner **at = &owners, *o;
  while (*at && ((*at)->handle != handle || (*at)->library != library)) at = &(*at)->next;
  if ((o = *at)) {
    *at = o->next;
    free(o);
    forget_functions(library ? NULL : handle, library ? handle : NULL);
  }
  unlock();
}

/* cuModuleGetFunction and cuLibraryGetKernel. */
static void function_found(void *handle, void *module, void *library, const char *name) {
  char *copy = name ? strdup(name) : NULL;
  if (!copy) return;
  lock();
  struct function *old = function_room ? place_of(handle) : NULL;
  struct owner *o = module ? find_owner(module, 0) : find_owner(library, 1);
  struct function f = {handle, module, library, copy, o ? o->image : NULL, NULL};
  if (old && old->handle && old->module == module && old->library == library && !strcmp(old->name, name)) free(copy);
  else note_function(f);
  unlock();
}

/* cuKernelGetFunction: the function of a kernel in the current context. */
static void function_of_kernel(void *handle, void *kernel) {
  void *module = NULL;
  lock();
  struct function *k = function_room ? place_of(kernel) : NULL;
  if (k && k->handle) {
    struct function f = *k;
    f.handle = handle;
    if (f.library && cu.library_module && !cu.library_module(&module, f.library)) f.module = module;
    note_function(f);
  }
  unlock();
}

/* The image of a module whose load was not seen, by the number in it. Nothing may be copied while a stream is captured. */
static void find_image(void *module) {
  deviceptr at = 0;
  size_t size = 0;
  uint32_t number = 0;
  if (!module || capturing_count || !cu.get_global || cu.get_global(&at, &size, module, HEDDLE_WATCH_MODULE) ||
      size != sizeof number || cu.to_host(&number, at, sizeof number))
    return;
  lock();
  struct image *m = images;
  while (m && !(m->replaced && m->number == number)) m = m->next;
  if (m && !find_owner(module, 0)) note_owner(module, 0, m);
  unlock();
}

/* Finds a function that the program launches. Returns 0 if nothing is known of it. */
static int find_function(void *handle, struct function *to) {
  lock();
  struct function *f = function_room ? place_of(handle) : NULL;
  int found = f && f->handle;
  if (found) *to = *f;
  unlock();
  if (found) return 1;
  const char *name = NULL;
  void *module = NULL;
  if (cu.func_module && cu.func_module(&module, handle)) module = NULL;
  if (!cu.func_name || cu.func_name(&name, handle) || !name) return 0;
  find_image(module);
  function_found(handle, module, NULL, name);
  lock();
  if (function_room && (f = place_of(handle))->handle) *to = *f, found = 1;
  unlock();
  return found;
}

/* Asks heddle about a kernel, once for each connection. The caller holds the lock. */
static void ask_kernel(struct kernel *k) {
  uint32_t head[2] = {k->asked_module, 0}, reply[4];
  struct part p[2] = {{head, sizeof head}, {k->name, strlen(k->name)}};
  size_t size = 0;
  k->connection = server.connection;
  k->id = k->n = k->area = 0;
  char *body = ask(HEDDLE_WATCH_KERNEL, p, 2, &size);
  if (body && size >= sizeof reply) {
    memcpy(reply, body, sizeof reply);
    if (reply[2] <= (size - sizeof reply) / 8 && (k->parameters = malloc(8 * (size_t)reply[2] + 1))) {
      k->id = reply[0], k->module = reply[1], k->n = reply[2];
      memcpy(k->parameters, body + sizeof reply, 8 * (size_t)k->n);
    }
  }
  for (uint32_t i = 0; i < k->n; i++) {
    uint64_t end = (uint64_t)k->parameters[2 * i] + k->parameters[2 * i + 1];
    if (end > 1 << 16) k->id = 0; /* no kernel has so many */
    else if (end > k->area) k->area = (uint32_t)end;
  }
  free(body);
}

/* A child after fork has the images of its parent, and another connection. It sends again the one that is used, or if
   that is not known all. The caller holds the lock. */
static void send_again(struct image *image) {
  for (struct image *m = images; m; m = m->next)
    if ((!image || m == image) && m->connection != server.connection && m->original) ask_image(m);
}

/* Returns the kernel of a function, or NULL. */
static struct kernel *kernel_of(const struct function *f) {
  lock();
  send_again(f->image);
  uint32_t module = f->image && f->image->connection == server.connection ? f->image->module : 0;
  struct kernel **list = &kernels[(hash_of(f->name, strlen(f->name)) + module) % 1024], *k = *list;
  while (k && (k->asked_module != module || strcmp(k->name, f->name))) k = k->next;
  if (!k && (k = calloc(1, sizeof *k))) {
    k->name = f->name, k->asked_module = module;
    k->next = *list, *list = k;
  }
  if (k && k->connection != server.connection) ask_kernel(k);
  unlock();
  return k;
}

/* The image with the number of a kernel's module. */
static struct image *image_of(const struct function *f, const struct kernel *k) {
  if (f->image) return f->image;
  lock();
  struct image *m = images;
  while (m && (m->module != k->module || m->connection != server.connection)) m = m->next;
  unlock();
  return m;
}

/* The module of a function in the current context, or NULL. */
static void *module_of(const struct function *f) {
  void *module = NULL;
  if (f->module) return f->module;
  if (f->library && cu.library_module && !cu.library_module(&module, f->library)) return module;
  if (cu.func_module && !cu.func_module(&module, f->handle)) return module;
  return NULL;
}

static void send_variables(void *module, const struct image *image) {
  const char *name = image->names;
  for (uint32_t i = 0; i < image->variables; i++, name += strlen(name) + 1) {
    struct { uint32_t module, zero; uint64_t address, size; } head = {image->module, 0, 0, 0};
    deviceptr address = 0;
    size_t size = 0;
    if (cu.get_global(&address, &size, module, name)) continue;
    head.address = address, head.size = size;
    struct part p[2] = {{&head, sizeof head}, {name, strlen(name)}};
    post(HEDDLE_WATCH_VARIABLE, p, 2);
  }
}

/* Finds the variables of a module before its first launch. Returns NULL if it is not known. */
static struct owner *prepare(const struct function *f, struct image *image) {
  void *module = module_of(f);
  if (!module) return NULL;
  lock();
  struct owner *o = find_owner(module, 0);
  if (!o) o = note_owner(module, 0, image);
  if (o && (!o->prepared || o->connection != server.connection)) {
    size_t size;
    o->prepared = 1, o->connection = server.connection;
    if (cu.get_global(&o->device, &size, module, HEDDLE_WATCH_DEVICE)) o->device = 0;
    if (cu.get_global(&o->host, &size, module, HEDDLE_WATCH_HOST)) o->host = 0;
    if (cu.get_global(&o->all, &size, module, HEDDLE_WATCH_ALL)) o->all = 0;
    if (image) send_variables(module, image);
  }
  unlock();
  return o;
}

/* The primary context, or all, ended: handles and addresses are void. */
static void forget_contexts(int handles) {
  lock();
  for (struct owner *o = owners; o; o = o->next) o->prepared = 0;
  if (handles) forget_functions(NULL, NULL);
  unlock();
}
