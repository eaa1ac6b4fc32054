/* Memory pools. A pool counts what was allocated from it; the memory itself is that of cudaMalloc, and nothing is kept
   for later allocations, whatever the threshold is. */

struct CUmemPoolHandle_st {
  int reuse[3];
  uint64_t threshold, used, most;
  struct CUmemPoolHandle_st *next;
};
static struct CUmemPoolHandle_st default_pool = {.reuse = {1, 1, 1}};
static struct CUmemPoolHandle_st *pools, *current_pool = &default_pool;

static int pool_exists(cudaMemPool_t p) {
  struct CUmemPoolHandle_st *q = pools;
  while (q && q != p) q = q->next;
  return q || p == &default_pool;
}

/* Counts an allocation of a pool, and its end. */
struct pooled { uint64_t addr, size; cudaMemPool_t pool; struct pooled *next; };
static struct pooled *pooled;

static void pool_took(cudaMemPool_t pool, void *p, size_t n) {
  struct pooled *a = need(malloc(sizeof *a));
  lock();
  *a = (struct pooled){(uint64_t)(uintptr_t)p, n, pool, pooled};
  pooled = a;
  pool->used += n;
  if (pool->used > pool->most) pool->most = pool->used;
  unlock();
}
static void pool_freed(uint64_t addr) {
  graph_freed(addr);
  if (!pooled) return;
  lock();
  struct pooled **at = &pooled;
  while (*at && (*at)->addr != addr) at = &(*at)->next;
  struct pooled *a = *at;
  if (a) {
    *at = a->next;
    if (pool_exists(a->pool)) a->pool->used -= a->size;
  }
  unlock();
  free(a);
}

static cudaError_t allocate_from(cudaMemPool_t pool, void **p, size_t n, cudaStream_t s, uint64_t caller) {
  ENTER();
  if (!pool_exists(pool)) return fail(cudaErrorInvalidValue);
  cudaError_t e = allocate_async(p, n, s, caller);
  if (e == cudaSuccess && n) pool_took(pool, *p, n);
  return e;
}
cudaError_t cudaMallocAsync(void **p, size_t n, cudaStream_t s) { return allocate_from(current_pool, p, n, s, CALLER); }
cudaError_t cudaMallocFromPoolAsync(void **p, size_t n, cudaMemPool_t pool, cudaStream_t s) {
  return allocate_from(pool, p, n, s, CALLER);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *to, const struct cudaMemPoolProps *p) {
  ENTER();
  if (!to || !p || p->allocType != cudaMemAllocationTypePinned || p->location.type != cudaMemLocationTypeDevice)
    return fail(cudaErrorInvalidValue);
  if (p->location.id) return fail(cudaErrorInvalidDevice);
  if (p->handleTypes != cudaMemHandleTypeNone) return (cudaError_t)heddle_unsupported("cudaMemPoolCreate of a pool to share with other processes");
  struct CUmemPoolHandle_st *q = need(calloc(1, sizeof *q));
  lock();
  *q = (struct CUmemPoolHandle_st){.reuse = {1, 1, 1}, .next = pools};
  *to = pools = q;
  unlock();
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t p) {
  ENTER();
  lock();
  struct CUmemPoolHandle_st **at = &pools;
  while (*at && *at != p) at = &(*at)->next;
  int found = *at != NULL;
  if (found) *at = p->next;
  if (current_pool == p) current_pool = &default_pool;
  unlock(); /* not freed: allocations from it may remain */
  return found ? cudaSuccess : fail(cudaErrorInvalidValue);
}
static cudaError_t give_pool(cudaMemPool_t *to, int device, cudaMemPool_t pool) {
  cudaError_t e = device_exists(device);
  if (e == cudaSuccess && !to) e = fail(cudaErrorInvalidValue);
  if (e == cudaSuccess) *to = pool;
  return e;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *to, int device) { return give_pool(to, device, &default_pool); }
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *to, int device) { return give_pool(to, device, current_pool); }
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t p) {
  cudaError_t e = device_exists(device);
  if (e == cudaSuccess && !pool_exists(p)) e = fail(cudaErrorInvalidValue);
  if (e == cudaSuccess) current_pool = p;
  return e;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t p, enum cudaMemPoolAttr a, void *to) {
  ENTER();
  if (!pool_exists(p) || !to) return fail(cudaErrorInvalidValue);
  switch ((int)a) {
  case cudaMemPoolReuseFollowEventDependencies: case cudaMemPoolReuseAllowOpportunistic:
  case cudaMemPoolReuseAllowInternalDependencies: *(int *)to = p->reuse[a - 1]; break;
  case cudaMemPoolAttrReleaseThreshold: *(uint64_t *)to = p->threshold; break;
  case cudaMemPoolAttrReservedMemCurrent: case cudaMemPoolAttrUsedMemCurrent: *(uint64_t *)to = p->used; break;
  case cudaMemPoolAttrReservedMemHigh: case cudaMemPoolAttrUsedMemHigh: *(uint64_t *)to = p->most; break;
  default: return fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t p, enum cudaMemPoolAttr a, void *from) {
  ENTER();
  if (!pool_exists(p) || !from) return fail(cudaErrorInvalidValue);
  switch ((int)a) {
  case cudaMemPoolReuseFollowEventDependencies: case cudaMemPoolReuseAllowOpportunistic:
  case cudaMemPoolReuseAllowInternalDependencies: p->reuse[a - 1] = *(int *)from; break;
  case cudaMemPoolAttrReleaseThreshold: p->threshold = *(uint64_t *)from; break;
  case cudaMemPoolAttrReservedMemHigh: case cudaMemPoolAttrUsedMemHigh:
    if (*(uint64_t *)from) return fail(cudaErrorInvalidValue);
    p->most = p->used;
    break;
  default: return fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t p, size_t keep) {
  ENTER();
  return (void)keep, pool_exists(p) ? cudaSuccess : fail(cudaErrorInvalidValue);
}
/* The device that a pool is on can always access it; there is no other. */
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t p, const struct cudaMemAccessDesc *d, size_t n) {
  ENTER();
  if (!pool_exists(p) || (n && !d)) return fail(cudaErrorInvalidValue);
  for (size_t i = 0; i < n; i++) {
    if (d[i].location.type != cudaMemLocationTypeDevice || d[i].location.id) return fail(cudaErrorInvalidDevice);
    if (d[i].flags != cudaMemAccessFlagsProtReadWrite) return fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *to, cudaMemPool_t p, struct cudaMemLocation *l) {
  ENTER();
  if (!pool_exists(p) || !to || !l) return fail(cudaErrorInvalidValue);
  if (l->type != cudaMemLocationTypeDevice || l->id) return fail(cudaErrorInvalidDevice);
  *to = cudaMemAccessFlagsProtReadWrite;
  return cudaSuccess;
}

/* A device is not its own peer. */
cudaError_t cudaDeviceGetP2PAttribute(int *to, enum cudaDeviceP2PAttr a, int device, int peer) {
  cudaError_t e = device_exists(device);
  if (e == cudaSuccess) e = device_exists(peer);
  return (void)to, (void)a, e != cudaSuccess ? e : fail(cudaErrorInvalidDevice);
}
