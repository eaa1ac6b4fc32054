/* Arrays, textures and surfaces. An array is device memory with rows of its own pitch, to which only copies, textures
   and surfaces have access. A texture or surface object is a description that heddle knows by its handle. */

struct cudaArray {
  struct cudaChannelFormatDesc desc;
  struct cudaExtent extent; /* as the program gave it: height or depth 0 if it has no such dimension */
  unsigned int flags;
  int level; /* it belongs to a mipmapped array */
  struct rows rows;
  struct cudaArray *next;
};

static struct cudaArray *arrays;

/* A mipmapped array is an array for each level, each dimension of which has half the size of the one before. */
struct cudaMipmappedArray {
  unsigned int levels;
  cudaArray_t level[HEDDLE_MAX_LEVELS];
  struct cudaMipmappedArray *next;
};

static struct cudaMipmappedArray *mipmaps;

/* The bytes of an element; 0 if the format is none that an array can have (CUDA Runtime API, cudaMallocArray). */
static size_t element_size(const struct cudaChannelFormatDesc *d) {
  int channels = 1 + (d->y > 0) + (d->z > 0) + (d->w > 0), bits = d->x;
  if (bits != 8 && bits != 16 && bits != 32) return 0;
  if ((d->y && d->y != bits) || (d->z && d->z != bits) || (d->w && d->w != bits)) return 0;
  if (channels == 3 || (d->z && !d->y) || (d->w && !d->z)) return 0;
  if (d->f == cudaChannelFormatKindFloat ? bits == 8 : d->f != cudaChannelFormatKindSigned && d->f != cudaChannelFormatKindUnsigned)
    return 0;
  return (size_t)(channels * bits / 8);
}

static int array_exists(cudaArray_const_t a) {
  lock();
  struct cudaArray *p = arrays;
  while (p && p != a) p = p->next;
  unlock();
  return p != NULL;
}

static size_t at_least_one(size_t n) { return n ? n : 1; }

static cudaError_t make_array(cudaArray_t *to, const struct cudaChannelFormatDesc *d, struct cudaExtent e,
                              unsigned int flags, uint64_t caller) {
  ENTER();
  if (!to || !d) return fail(cudaErrorInvalidValue);
  size_t size = element_size(d);
  if (!size) return fail(cudaErrorInvalidChannelDescriptor);
  unsigned int known = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
  int layered = flags & cudaArrayLayered, cube = flags & cudaArrayCubemap;
  if (flags & ~known) return (cudaError_t)heddle_unsupported("cudaMallocArray with these flags");
  if (!e.width || (cube && (e.width != e.height || e.depth % 6 || !e.depth || (!layered && e.depth != 6))) ||
      (layered && !e.depth) || (e.depth && !e.height && !layered) || e.width > 131072 || e.height > 65536 || e.depth > 16384)
    return fail(cudaErrorInvalidValue);
  struct rows r = {NULL, (e.width * size + 31) / 32 * 32, 0};
  r.slice = r.pitch * at_least_one(e.height);
  void *p;
  cudaError_t err = allocate(&p, r.slice * at_least_one(e.depth), HEDDLE_KIND_DEVICE, caller);
  if (err != cudaSuccess) return err;
  r.p = p;
  struct cudaArray *a = need(malloc(sizeof *a));
  lock();
  *a = (struct cudaArray){*d, e, flags, 0, r, arrays};
  *to = arrays = a;
  unlock();
  return cudaSuccess;
}

cudaError_t cudaMallocArray(cudaArray_t *to, const struct cudaChannelFormatDesc *d, size_t width, size_t height,
                            unsigned int flags) {
  if (flags & (cudaArrayLayered | cudaArrayCubemap)) return fail(cudaErrorInvalidValue);
  return make_array(to, d, (struct cudaExtent){width, height, 0}, flags, CALLER);
}
cudaError_t cudaMalloc3DArray(cudaArray_t *to, const struct cudaChannelFormatDesc *d, struct cudaExtent e,
                              unsigned int flags) {
  return make_array(to, d, e, flags, CALLER);
}

static cudaError_t free_array(cudaArray_t a, int level, uint64_t caller) {
  lock();
  struct cudaArray **p = &arrays;
  while (*p && *p != a) p = &(*p)->next;
  int found = *p && a->level == level;
  if (found) *p = a->next;
  unlock();
  if (!found) return fail(cudaErrorInvalidValue);
  cudaError_t e = release(a->rows.p, 0, caller, NULL);
  free(a);
  return e;
}

cudaError_t cudaFreeArray(cudaArray_t a) {
  ENTER();
  return a ? free_array(a, 0, CALLER) : cudaSuccess;
}

static int mipmap_exists(cudaMipmappedArray_const_t m) {
  lock();
  struct cudaMipmappedArray *p = mipmaps;
  while (p && p != m) p = p->next;
  unlock();
  return p != NULL;
}

static size_t half_of(size_t n) { return n > 1 ? n / 2 : n; }

/* The levels that a program asks for beyond the one of a single element do not exist (CUDA Runtime API,
   cudaMallocMipmappedArray: clamped to [1, 1 + floor(log2(max(width, height, depth)))]). Layers are not halved. */
static cudaError_t make_mipmap(cudaMipmappedArray_t *to, const struct cudaChannelFormatDesc *d, struct cudaExtent e,
                               unsigned int levels, unsigned int flags, uint64_t caller) {
  ENTER();
  if (!to) return fail(cudaErrorInvalidValue);
  int layers = flags & (cudaArrayLayered | cudaArrayCubemap);
  size_t longest = e.width > e.height ? e.width : e.height;
  if (!layers && e.depth > longest) longest = e.depth;
  struct cudaMipmappedArray *m = need(calloc(1, sizeof *m));
  do {
    cudaError_t err = make_array(&m->level[m->levels], d, e, flags, caller);
    if (err != cudaSuccess) {
      for (unsigned int i = 0; i < m->levels; i++) free_array(m->level[i], 1, caller);
      free(m);
      return err;
    }
    m->level[m->levels++]->level = 1;
    e = (struct cudaExtent){half_of(e.width), half_of(e.height), layers ? e.depth : half_of(e.depth)};
    longest /= 2;
  } while (longest && m->levels < levels && m->levels < HEDDLE_MAX_LEVELS);
  lock();
  m->next = mipmaps;
  *to = mipmaps = m;
  unlock();
  return cudaSuccess;
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *to, const struct cudaChannelFormatDesc *d, struct cudaExtent e,
                                     unsigned int levels, unsigned int flags) {
  return make_mipmap(to, d, e, levels, flags, CALLER);
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t m) {
  ENTER();
  if (!m) return cudaSuccess;
  lock();
  struct cudaMipmappedArray **p = &mipmaps;
  while (*p && *p != m) p = &(*p)->next;
  int found = *p != NULL;
  if (found) *p = m->next;
  unlock();
  if (!found) return fail(cudaErrorInvalidValue);
  cudaError_t e = cudaSuccess;
  for (unsigned int i = 0; i < m->levels; i++) {
    cudaError_t one = free_array(m->level[i], 1, CALLER);
    if (e == cudaSuccess) e = one;
  }
  free(m);
  return e;
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *to, cudaMipmappedArray_const_t m, unsigned int level) {
  ENTER();
  if (!to || !mipmap_exists(m) || level >= m->levels) return fail(cudaErrorInvalidValue);
  *to = m->level[level];
  return cudaSuccess;
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *d, struct cudaExtent *e, unsigned int *flags, cudaArray_t a) {
  ENTER();
  if (!array_exists(a)) return fail(cudaErrorInvalidValue);
  if (d) *d = a->desc;
  if (e) *e = a->extent;
  if (flags) *flags = a->flags;
  return cudaSuccess;
}
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *d, cudaArray_const_t a) {
  return cudaArrayGetInfo(d, NULL, NULL, (cudaArray_t)(uintptr_t)a);
}

/* Copies. An array is on the device, whatever the kind says of its side. */

/* The rows of an array from byte x of row y on. A null result says that they are not in it. */
static struct rows rows_of(cudaArray_const_t a, size_t x, size_t y, size_t width, size_t height) {
  struct rows r = {0};
  if (!array_exists(a)) return r;
  size_t row = a->extent.width * element_size(&a->desc), rows = at_least_one(a->extent.height);
  if (x > row || width > row - x || y > rows || height > rows - y) return r;
  r = a->rows;
  r.p += y * r.pitch + x;
  return r;
}

/* The sides of a copy between rows; NULL is an invalid one. */
static cudaError_t array_copy(struct rows to, struct rows from, struct cudaExtent e, enum cudaMemcpyKind k,
                              struct how how) {
  if (!e.width || !e.height || !e.depth) return cudaSuccess;
  if (!to.p || !from.p) return fail(cudaErrorInvalidValue);
  return copy_rows(to, from, e, k, how);
}

static cudaError_t to_array(cudaArray_t a, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                            size_t height, enum cudaMemcpyKind k, struct how how) {
  return array_copy(rows_of(a, x, y, width, height), (struct rows){(char *)(uintptr_t)from, pitch, 0},
                    (struct cudaExtent){width, height, 1}, k, how);
}
static cudaError_t from_array(void *to, size_t pitch, cudaArray_const_t a, size_t x, size_t y, size_t width,
                              size_t height, enum cudaMemcpyKind k, struct how how) {
  return array_copy((struct rows){to, pitch, 0}, rows_of(a, x, y, width, height), (struct cudaExtent){width, height, 1},
                    k, how);
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t a, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, enum cudaMemcpyKind k) {
  return to_array(a, x, y, from, pitch, width, height, k, HOW(0, 0));
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t a, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                     size_t height, enum cudaMemcpyKind k, cudaStream_t s) {
  return to_array(a, x, y, from, pitch, width, height, k, HOW(s, 1));
}
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t a, size_t x, size_t y, size_t width,
                                  size_t height, enum cudaMemcpyKind k) {
  return from_array(to, pitch, a, x, y, width, height, k, HOW(0, 0));
}
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t a, size_t x, size_t y, size_t width,
                                       size_t height, enum cudaMemcpyKind k, cudaStream_t s) {
  return from_array(to, pitch, a, x, y, width, height, k, HOW(s, 1));
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t x, size_t y, cudaArray_const_t from, size_t from_x,
                                     size_t from_y, size_t width, size_t height, enum cudaMemcpyKind k) {
  (void)k;
  return array_copy(rows_of(to, x, y, width, height), rows_of(from, from_x, from_y, width, height),
                    (struct cudaExtent){width, height, 1}, cudaMemcpyDeviceToDevice, HOW(0, 0));
}

/* Copies of n bytes that go on in the next row (cudaMemcpyToArray): a part of a row, whole rows, a part of a row. */
static cudaError_t run_of_rows(cudaArray_const_t a, size_t x, size_t y, char *host, size_t n, int to, enum cudaMemcpyKind k,
                               struct how how) {
  ENTER();
  if (!array_exists(a)) return fail(cudaErrorInvalidValue);
  size_t row = a->extent.width * element_size(&a->desc);
  while (n > 0) {
    size_t width = n < row - x ? n : row - x, height = x == 0 && n >= row ? n / row : 1;
    if (x >= row) return fail(cudaErrorInvalidValue);
    cudaError_t e = to ? to_array((cudaArray_t)(uintptr_t)a, x, y, host, width, width, height, k, how)
                       : from_array(host, width, a, x, y, width, height, k, how);
    if (e != cudaSuccess) return e;
    host += width * height, n -= width * height, y += height, x = 0;
  }
  return cudaSuccess;
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t a, size_t x, size_t y, const void *from, size_t n, enum cudaMemcpyKind k,
                                   cudaStream_t s) {
  return run_of_rows(a, x, y, (char *)(uintptr_t)from, n, 1, k, HOW(s, 1));
}
cudaError_t cudaMemcpyToArray(cudaArray_t a, size_t x, size_t y, const void *from, size_t n, enum cudaMemcpyKind k) {
  return run_of_rows(a, x, y, (char *)(uintptr_t)from, n, 1, k, HOW(0, 0));
}
cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t a, size_t x, size_t y, size_t n, enum cudaMemcpyKind k,
                                     cudaStream_t s) {
  return run_of_rows(a, x, y, to, n, 0, k, HOW(s, 1));
}
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t a, size_t x, size_t y, size_t n, enum cudaMemcpyKind k) {
  return run_of_rows(a, x, y, to, n, 0, k, HOW(0, 0));
}
cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t x, size_t y, cudaArray_const_t from, size_t from_x,
                                   size_t from_y, size_t n, enum cudaMemcpyKind k) {
  (void)k;
  if (!array_exists(to) || !array_exists(from)) return fail(cudaErrorInvalidValue);
  if (n > to->extent.width * element_size(&to->desc) - x) return (cudaError_t)heddle_unsupported("cudaMemcpyArrayToArray of several rows");
  return cudaMemcpy2DArrayToArray(to, x, y, from, from_x, from_y, n, 1, k);
}

/* One side of cudaMemcpy3D: an array, in elements, or pitched memory, in bytes. */
static struct rows side(cudaArray_const_t a, struct cudaPitchedPtr p, struct cudaPos at, struct cudaExtent e) {
  if (!a) return pitched(p, at);
  if (!array_exists(a)) return (struct rows){0};
  size_t size = element_size(&a->desc), depth = at_least_one(a->extent.depth);
  struct rows r = rows_of(a, at.x * size, at.y, e.width * size, e.height);
  if (!r.p || at.z > depth || e.depth > depth - at.z) return (struct rows){0};
  r.p += at.z * r.slice;
  return r;
}

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *p, struct how how) {
  ENTER();
  if (!p || !!p->srcArray == !!p->srcPtr.ptr || !!p->dstArray == !!p->dstPtr.ptr) return fail(cudaErrorInvalidValue);
  struct cudaExtent e = p->extent, bytes = e;
  cudaArray_t one = p->srcArray ? p->srcArray : p->dstArray;
  if (one && !array_exists(one)) return fail(cudaErrorInvalidValue);
  if (p->srcArray && p->dstArray && (!array_exists(p->dstArray) ||
                                     element_size(&p->srcArray->desc) != element_size(&p->dstArray->desc)))
    return fail(cudaErrorInvalidValue);
  if (one) bytes.width *= element_size(&one->desc);
  return array_copy(side(p->dstArray, p->dstPtr, p->dstPos, e), side(p->srcArray, p->srcPtr, p->srcPos, e), bytes,
                    p->kind, how);
}
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) { return copy_3d(p, HOW(0, 0)); }
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t s) { return copy_3d(p, HOW(s, 1)); }

/* Objects. A handle is not used again, so that the use of one that was destroyed is seen. */
struct object {
  uint64_t handle;
  int surface;
  struct cudaResourceDesc resource;
  struct cudaTextureDesc texture;
  struct cudaResourceViewDesc view;
  int viewed;
  struct object *next;
};
static struct object *objects;
static uint64_t last_object = 1ull << 40;

static uint64_t add_object(const struct cudaResourceDesc *r, const struct cudaTextureDesc *t,
                           const struct cudaResourceViewDesc *v, struct heddle_object *o) {
  struct object *n = need(calloc(1, sizeof *n));
  lock();
  n->handle = ++last_object, n->surface = !t, n->resource = *r, n->next = objects;
  if (t) n->texture = *t;
  if (v) n->view = *v, n->viewed = 1;
  objects = n;
  struct part p[2] = {{&n->handle, sizeof n->handle}, {o, sizeof *o}};
  post(HEDDLE_OP_OBJECT, p, 2);
  unlock();
  return n->handle;
}

static struct object *find_object(uint64_t handle, int surface) {
  struct object *o = objects;
  while (o && (o->handle != handle || o->surface != surface)) o = o->next;
  return o;
}

static cudaError_t drop_object(uint64_t handle, int surface) {
  ENTER();
  lock();
  struct object **p = &objects;
  while (*p && ((*p)->handle != handle || (*p)->surface != surface)) p = &(*p)->next;
  struct object *o = *p;
  if (o) {
    *p = o->next;
    struct part part = {&handle, sizeof handle};
    post(HEDDLE_OP_OBJECT_GONE, &part, 1);
  }
  unlock();
  free(o);
  return o ? cudaSuccess : fail(cudaErrorInvalidValue);
}

static cudaError_t set_format(struct heddle_object *o, const struct cudaChannelFormatDesc *d) {
  if (!element_size(d)) return cudaErrorInvalidChannelDescriptor;
  o->channels = 1u + (d->y > 0) + (d->z > 0) + (d->w > 0);
  o->bits = (unsigned)d->x, o->kind = (unsigned)d->f;
  return cudaSuccess;
}

static cudaError_t set_array(struct heddle_object *o, cudaArray_const_t a) {
  if (!array_exists(a)) return cudaErrorInvalidValue;
  o->addr = (uint64_t)(uintptr_t)a->rows.p, o->pitch = a->rows.pitch, o->slice = a->rows.slice;
  o->size[0] = (unsigned)a->extent.width, o->size[1] = (unsigned)a->extent.height;
  if (a->flags & (cudaArrayLayered | cudaArrayCubemap)) o->layers = (unsigned)a->extent.depth;
  else o->size[2] = (unsigned)a->extent.depth;
  o->layered = !!(a->flags & cudaArrayLayered), o->cube = !!(a->flags & cudaArrayCubemap);
  return set_format(o, &a->desc);
}

/* Device memory behind a texture: it starts at a multiple of textureAlignment (CUDA Runtime API, "Texture Object
   Management"), which is 512 on every GPU that heddle knows. */
static cudaError_t set_memory(struct heddle_object *o, const void *p, const struct cudaChannelFormatDesc *d, size_t span) {
  o->addr = (uint64_t)(uintptr_t)p;
  cudaError_t e = set_format(o, d);
  if (e == cudaSuccess && (o->addr % 512 || !valid_range(p, span, 1))) e = cudaErrorInvalidValue;
  return e;
}

/* The levels of a mipmapped array, of which the first one is the array of the object. */
static cudaError_t set_mipmap(struct heddle_object *o, cudaMipmappedArray_const_t m) {
  if (!mipmap_exists(m)) return cudaErrorInvalidValue;
  o->levels = m->levels - 1;
  for (unsigned int i = 1; i < m->levels; i++) {
    struct heddle_object level = {0};
    cudaError_t e = set_array(&level, m->level[i]);
    if (e != cudaSuccess) return e;
    struct heddle_level *l = &o->level[i - 1];
    l->addr = level.addr, l->pitch = level.pitch, l->slice = level.slice;
    memcpy(l->size, level.size, sizeof l->size);
  }
  return set_array(o, m->level[0]);
}

static cudaError_t describe(struct heddle_object *o, const struct cudaResourceDesc *r) {
  switch ((int)r->resType) {
  case cudaResourceTypeArray: return set_array(o, r->res.array.array);
  case cudaResourceTypeLinear: {
    size_t n = element_size(&r->res.linear.desc);
    o->linear = 1;
    o->size[0] = (unsigned)(n ? r->res.linear.sizeInBytes / n : 0);
    if (n && !o->size[0]) return cudaErrorInvalidValue;
    return set_memory(o, r->res.linear.devPtr, &r->res.linear.desc, r->res.linear.sizeInBytes);
  }
  case cudaResourceTypePitch2D: {
    size_t n = element_size(&r->res.pitch2D.desc), w = r->res.pitch2D.width, h = r->res.pitch2D.height;
    o->pitch = r->res.pitch2D.pitchInBytes, o->size[0] = (unsigned)w, o->size[1] = (unsigned)h;
    if (!w || !h || o->pitch % 32 || o->pitch < w * n) return cudaErrorInvalidValue;
    return set_memory(o, r->res.pitch2D.devPtr, &r->res.pitch2D.desc, o->pitch * (h - 1) + w * n);
  }
  case cudaResourceTypeMipmappedArray: return set_mipmap(o, r->res.mipmap.mipmap);
  }
  return cudaErrorInvalidValue;
}

/* The formats of a view, in the order of cudaResourceViewFormat: eight kinds of channels, each with 1, 2 and 4 of them. */
static struct cudaChannelFormatDesc view_format(unsigned int f) {
  static const struct { int bits; enum cudaChannelFormatKind kind; } kinds[] = {
      {8, cudaChannelFormatKindUnsigned},  {8, cudaChannelFormatKindSigned},  {16, cudaChannelFormatKindUnsigned},
      {16, cudaChannelFormatKindSigned},   {32, cudaChannelFormatKindUnsigned}, {32, cudaChannelFormatKindSigned},
      {16, cudaChannelFormatKindFloat},    {32, cudaChannelFormatKindFloat}};
  int bits = kinds[(f - 1) / 3].bits, n = 1 << (f - 1) % 3;
  return (struct cudaChannelFormatDesc){bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0, kinds[(f - 1) / 3].kind};
}

/* What a texture has of an array: levels and layers, and other channels in the same bytes (CUDA Runtime API,
   cudaResourceViewDesc). */
static cudaError_t apply_view(struct heddle_object *o, const struct cudaResourceDesc *r,
                              const struct cudaResourceViewDesc *v) {
  if (r->resType != cudaResourceTypeArray && r->resType != cudaResourceTypeMipmappedArray) return cudaErrorInvalidValue;
  if (v->format >= cudaResViewFormatUnsignedBlockCompressed1)
    return (cudaError_t)heddle_unsupported("a cudaResourceViewDesc with a block-compressed format");
  unsigned int layers = o->layers ? o->layers : 1;
  if (v->width != o->size[0] || v->height != o->size[1] || v->depth != (o->layers ? o->layers : o->size[2]) ||
      v->firstMipmapLevel > v->lastMipmapLevel || v->lastMipmapLevel > o->levels || v->firstLayer > v->lastLayer ||
      v->lastLayer >= layers || (o->cube && (v->lastLayer + 1 - v->firstLayer) % 6))
    return cudaErrorInvalidValue;
  if (v->format != cudaResViewFormatNone) {
    struct cudaChannelFormatDesc d = view_format(v->format);
    if (element_size(&d) != (size_t)o->channels * o->bits / 8) return cudaErrorInvalidValue;
    set_format(o, &d);
  }
  if (v->firstMipmapLevel) {
    struct heddle_level *l = &o->level[v->firstMipmapLevel - 1];
    o->addr = l->addr, o->pitch = l->pitch, o->slice = l->slice;
    memcpy(o->size, l->size, sizeof o->size);
    memmove(o->level, l + 1, (HEDDLE_MAX_LEVELS - 1 - v->firstMipmapLevel) * sizeof *l);
  }
  o->levels = v->lastMipmapLevel - v->firstMipmapLevel;
  if (o->layers) o->layers = v->lastLayer + 1 - v->firstLayer;
  o->addr += v->firstLayer * o->slice;
  for (unsigned int i = 0; i < o->levels; i++) o->level[i].addr += v->firstLayer * o->level[i].slice;
  return cudaSuccess;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *to, const struct cudaResourceDesc *r,
                                    const struct cudaTextureDesc *t, const struct cudaResourceViewDesc *v) {
  ENTER();
  struct heddle_object o = {0};
  if (!to || !r || !t) return fail(cudaErrorInvalidValue);
  cudaError_t e = describe(&o, r);
  if (e == cudaSuccess && v) e = apply_view(&o, r, v);
  if (e != cudaSuccess) return fail(e);
  o.fraction = t->readMode == cudaReadModeNormalizedFloat && o.kind != cudaChannelFormatKindFloat;
  o.filter = t->filterMode == cudaFilterModeLinear && !o.linear, o.unit = t->normalizedCoords != 0;
  o.srgb = t->sRGB && o.fraction && o.bits == 8 && o.kind == cudaChannelFormatKindUnsigned;
  if (o.fraction && o.bits == 32) return fail(cudaErrorInvalidNormSetting);
  if (o.filter && !o.fraction && o.kind != cudaChannelFormatKindFloat) return fail(cudaErrorInvalidFilterSetting);
  for (int i = 0; i < 3; i++) {
    if ((unsigned)t->addressMode[i] > cudaAddressModeBorder) return fail(cudaErrorInvalidValue);
    o.address[i] = t->addressMode[i];
  }
  memcpy(o.color, t->borderColor, sizeof o.color);
  if (r->resType == cudaResourceTypeMipmappedArray) {
    if (!o.unit) return fail(cudaErrorInvalidValue);
    o.blend = t->mipmapFilterMode == cudaFilterModeLinear;
    if (o.blend && !o.fraction && o.kind != cudaChannelFormatKindFloat) return fail(cudaErrorInvalidFilterSetting);
    if (t->maxAnisotropy > 1) return (cudaError_t)heddle_unsupported("a mipmapped texture with maxAnisotropy");
    o.bias = t->mipmapLevelBias, o.min_level = t->minMipmapLevelClamp, o.max_level = t->maxMipmapLevelClamp;
  }
  *to = add_object(r, t, v, &o);
  return cudaSuccess;
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *to, const struct cudaResourceDesc *r) {
  ENTER();
  struct heddle_object o = {.surface = 1};
  if (!to || !r || r->resType != cudaResourceTypeArray) return fail(cudaErrorInvalidValue);
  cudaError_t e = set_array(&o, r->res.array.array);
  if (e != cudaSuccess) return fail(e);
  if (!(r->res.array.array->flags & cudaArraySurfaceLoadStore)) return fail(cudaErrorInvalidValue);
  *to = add_object(r, NULL, NULL, &o);
  return cudaSuccess;
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t t) { return drop_object(t, 0); }
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t s) { return drop_object(s, 1); }

static cudaError_t resource_of(struct cudaResourceDesc *to, uint64_t handle, int surface) {
  ENTER();
  struct object *o = find_object(handle, surface);
  if (!o || !to) return fail(cudaErrorInvalidValue);
  *to = o->resource;
  return cudaSuccess;
}
cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *to, cudaTextureObject_t t) {
  return resource_of(to, t, 0);
}
cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *to, cudaSurfaceObject_t s) {
  return resource_of(to, s, 1);
}
cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *to, cudaTextureObject_t t) {
  ENTER();
  struct object *o = find_object(t, 0);
  if (!o || !to) return fail(cudaErrorInvalidValue);
  *to = o->texture;
  return cudaSuccess;
}
cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *to, cudaTextureObject_t t) {
  ENTER();
  struct object *o = find_object(t, 0);
  if (!o || !to || !o->viewed) return fail(cudaErrorInvalidValue);
  *to = o->view;
  return cudaSuccess;
}
