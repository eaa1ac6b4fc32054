/* What the code that clang generates calls: it registers fat binaries, kernels and variables before main. */

struct module { const void *data; size_t size; int sent; };
struct fat_binary { int magic, version; const void *data; void *file; };

static struct module *modules;
static struct kernel **kernels; /* a hash table by address of the stub; power of two */
static struct variable **variables;
static uint32_t module_count, kernel_count, kernel_room, variable_count;

static void *need(void *p) {
  if (!p) give_up("out of host memory");
  return p;
}

/* The size of what a fat binary wrapper points to: PTX text that ends with NUL, or the container of nvcc (magic
   number, version, header size, size of the rest). */
static size_t image_size(const void *data) {
  const unsigned char *p = data;
  if (p[0] == 0x50 && p[1] == 0xed && p[2] == 0x55 && p[3] == 0xba) {
    uint16_t head;
    uint64_t body;
    memcpy(&head, p + 6, sizeof head);
    memcpy(&body, p + 8, sizeof body);
    return head + body;
  }
  return strlen(data);
}

void **__cudaRegisterFatBinary(const struct fat_binary *f) {
  modules = need(realloc(modules, (module_count + 1) * sizeof *modules));
  modules[module_count] = (struct module){f->data, image_size(f->data), 0};
  return (void **)(uintptr_t)++module_count;
}

static void send_module(uint32_t i) {
  struct part p[2] = {{&i, sizeof i}, {modules[i].data, modules[i].size}};
  post(HEDDLE_OP_MODULE, p, 2);
  modules[i].sent = 1;
}

/* Makes the host's variable the memory of the device's: its pages, which hold nothing else but perhaps what follows
   the last one of its section, become pages of the arena. */
static void share(struct variable *v) {
  uint64_t reply[2];
  struct { uint32_t module, zero; } head = {v->module, 0};
  struct part p[2] = {{&head, sizeof head}, {v->name, strlen(v->name)}};
  if (ask(HEDDLE_OP_SYMBOL, p, 2, reply, sizeof reply) != cudaSuccess) return;
  v->addr = reply[0];
  if (v->pointer) {
    *v->pointer = (void *)(uintptr_t)v->addr;
    return;
  }
  size_t page = 4096, whole = (v->size + page - 1) / page * page;
  memcpy((char *)(uintptr_t)v->addr + v->size, (char *)v->host + v->size, whole - v->size);
  if (mmap(v->host, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, arena_fd, (off_t)(v->addr - server.base)) ==
      MAP_FAILED)
    give_up("a __managed__ variable cannot be mapped");
}

static void send_modules(void) {
  for (uint32_t i = 0; i < variable_count; i++) {
    struct variable *v = variables[i];
    if (modules[v->module].sent) continue;
    struct { uint32_t module, managed; } head = {v->module, (uint32_t)v->managed};
    struct part p[2] = {{&head, sizeof head}, {v->name, strlen(v->name)}};
    post(HEDDLE_OP_VARIABLE, p, 2);
  }
  for (uint32_t i = 0; i < module_count; i++)
    if (!modules[i].sent) send_module(i);
  for (uint32_t i = 0; i < variable_count; i++)
    if (variables[i]->managed && !variables[i]->addr) share(variables[i]);
}

void __cudaRegisterFatBinaryEnd(void **handle) {
  (void)handle;
  int managed = 0;
  for (uint32_t i = 0; i < variable_count; i++) managed |= variables[i]->managed && !variables[i]->addr;
  if (server.fd >= 0) { /* a library that was loaded later */
    lock();
    send_modules();
    unlock();
  } else if (managed) {
    heddle_enter();
  }
}

void __cudaUnregisterFatBinary(void **handle) { (void)handle; }

static uint32_t slot_of(const void *host) {
  return (uint32_t)(((uintptr_t)host * 0x9e3779b97f4a7c15u) >> 32) & (kernel_room - 1);
}

static void insert_kernel(struct kernel *k) {
  uint32_t i = slot_of(k->host);
  while (kernels[i]) i = (i + 1) & (kernel_room - 1);
  kernels[i] = k;
}

static struct kernel *find_kernel(const void *host) {
  if (!kernel_room) return NULL;
  uint32_t i = slot_of(host);
  while (kernels[i] && kernels[i]->host != host) i = (i + 1) & (kernel_room - 1);
  return kernels[i];
}

static void add_kernel(struct kernel *k) {
  if (kernel_count * 2 >= kernel_room) {
    struct kernel **old = kernels;
    uint32_t n = kernel_room;
    kernel_room = n ? 2 * n : 64;
    kernels = need(calloc(kernel_room, sizeof *kernels));
    for (uint32_t i = 0; i < n; i++)
      if (old[i]) insert_kernel(old[i]);
    free(old);
  }
  insert_kernel(k);
  kernel_count++;
}

int __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, void *tid,
                           void *bid, void *block, void *grid, int *size) {
  (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)size;
  if (find_kernel(host)) return 0; /* an instance of a template that another file registered */
  struct kernel *k = need(calloc(1, sizeof *k));
  k->host = host, k->module = (uint32_t)(uintptr_t)handle - 1, k->name = name;
  k->dynamic_shared = 48 << 10;
  add_kernel(k);
  return 0;
}

/* Managed variables are in a section of their own, which the linker marks. */
extern char __start_heddle_managed[] __attribute__((weak)), __stop_heddle_managed[] __attribute__((weak));

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size,
                       int constant, int global) {
  (void)device, (void)external, (void)constant, (void)global;
  struct variable *v = need(calloc(1, sizeof *v));
  v->host = host, v->module = (uint32_t)(uintptr_t)handle - 1, v->name = name, v->size = size;
  v->managed = host >= __start_heddle_managed && host < __stop_heddle_managed;
  variables = need(realloc(variables, (variable_count + 1) * sizeof *variables));
  variables[variable_count++] = v;
}

/* What nvcc generates for a managed variable: the host's is a pointer, which is set before its first use. */
void __cudaRegisterManagedVar(void **handle, void **pointer, char *device, const char *name, int external, size_t size,
                              int constant, int global) {
  __cudaRegisterVar(handle, device, device, name, external, size, constant, global);
  variables[variable_count - 1]->managed = 1;
  variables[variable_count - 1]->pointer = pointer;
}
char __cudaInitModule(void **handle) { return (void)handle, heddle_enter() == cudaSuccess; }

/* Texture and surface references were removed from CUDA 12; a program with one fails at its first use. */
void __cudaRegisterTexture(void **h, const void *host, const void **d, const char *n, int dim, int norm, int ext) {
  (void)h, (void)host, (void)d, (void)n, (void)dim, (void)norm, (void)ext;
}
void __cudaRegisterSurface(void **h, const void *host, const void **d, const char *n, int dim, int ext) {
  (void)h, (void)host, (void)d, (void)n, (void)dim, (void)ext;
}

static struct variable *find_variable(const void *host) {
  for (uint32_t i = 0; i < variable_count; i++)
    if (variables[i]->host == host) return variables[i];
  return NULL;
}
