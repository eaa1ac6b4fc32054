/* Virtual memory of the driver API: addresses are reserved, physical memory is created, mapped, and made accessible. Here
   there is memory from cuMemSetAccess to cuMemUnmap, as one allocation for each call of the former: an access at another
   time is invalid, as on a GPU. Physical memory can be mapped once. */

#define GRANULARITY ((size_t)2 << 20)

struct physical { size_t size; CUmemAllocationProp properties; int mapped, released; struct physical *next; };
struct virtual_range { uint64_t addr, size; struct physical *physical; uint64_t access; struct virtual_range *next; };
static struct physical *physicals;
static struct virtual_range *reservations, *mappings; /* access: the allocation's address */

static int inside(const struct virtual_range *r, uint64_t addr, uint64_t size) {
  return addr >= r->addr && size <= r->size && addr - r->addr <= r->size - size;
}
static int whole_granules(uint64_t n) { return n && n % GRANULARITY == 0; }
static struct physical *physical_of(CUmemGenericAllocationHandle h) {
  struct physical *p = physicals;
  while (p && ((uint64_t)(uintptr_t)p != h || p->released)) p = p->next;
  return p;
}
static void drop_range(struct virtual_range **list, struct virtual_range *r) {
  while (*list != r) list = &(*list)->next;
  *list = r->next;
  free(r);
}
/* The bytes of a range that mappings cover, or 0 if one of them is not all in it. */
static uint64_t covered(uint64_t addr, uint64_t size) {
  struct virtual_range whole = {.addr = addr, .size = size};
  uint64_t n = 0;
  for (struct virtual_range *m = mappings; m; m = m->next) {
    if (m->addr >= addr + size || m->addr + m->size <= addr) continue;
    if (!inside(&whole, m->addr, m->size)) return 0;
    n += m->size;
  }
  return n;
}

static cudaError_t granularity(size_t *to, const CUmemAllocationProp *p) {
  if (!to || !p || p->type != CU_MEM_ALLOCATION_TYPE_PINNED || p->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return cudaErrorInvalidValue;
  *to = GRANULARITY;
  return device_exists(p->location.id);
}
CUresult cuMemGetAllocationGranularity(size_t *to, const CUmemAllocationProp *p, CUmemAllocationGranularity_flags f) {
  (void)f;
  CONTEXT(granularity(to, p));
}
static cudaError_t reserve_addresses(CUdeviceptr *to, size_t size, size_t align, unsigned long long flags) {
  if (!to || !whole_granules(size) || flags || (align & (align - 1))) return cudaErrorInvalidValue;
  if (align > GRANULARITY) return (cudaError_t)heddle_unsupported("cuMemAddressReserve with an alignment of more than 2 MiB");
  uint64_t addr = 0;
  cudaError_t e = reserve(&addr, size);
  if (e != cudaSuccess) return e;
  struct virtual_range *r = need(malloc(sizeof *r));
  lock();
  *r = (struct virtual_range){.addr = addr, .size = size, .next = reservations};
  reservations = r;
  unlock();
  *to = addr;
  return cudaSuccess;
}
CUresult cuMemAddressReserve(CUdeviceptr *to, size_t size, size_t align, CUdeviceptr wish, unsigned long long flags) {
  (void)wish; /* "not guaranteed" */
  CONTEXT(reserve_addresses(to, size, align, flags));
}
static cudaError_t free_addresses(CUdeviceptr addr, size_t size) {
  cudaError_t e = cudaErrorInvalidValue;
  lock();
  struct virtual_range *r = reservations;
  while (r && (r->addr != addr || r->size != size)) r = r->next;
  int used = 0;
  for (struct virtual_range *m = mappings; r && m; m = m->next) used |= inside(r, m->addr, m->size);
  if (r && !used) drop_range(&reservations, r), e = cudaSuccess;
  unlock();
  return e;
}
CUresult cuMemAddressFree(CUdeviceptr addr, size_t size) { CONTEXT(free_addresses(addr, size)); }

static cudaError_t create_physical(CUmemGenericAllocationHandle *to, size_t size, const CUmemAllocationProp *p, unsigned long long flags) {
  size_t unit, available, total;
  if (!to || !whole_granules(size) || flags) return cudaErrorInvalidValue;
  cudaError_t e = granularity(&unit, p);
  if (e == cudaSuccess) e = cudaMemGetInfo(&available, &total);
  if (e != cudaSuccess) return e;
  if (p->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE)
    return (cudaError_t)heddle_unsupported("cuMemCreate of memory to share with other processes");
  if (size > available) return cudaErrorMemoryAllocation;
  struct physical *q = need(malloc(sizeof *q));
  lock();
  *q = (struct physical){size, *p, 0, 0, physicals}; /* compression changes no result */
  physicals = q;
  unlock();
  *to = (uint64_t)(uintptr_t)q;
  return cudaSuccess;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle *to, size_t size, const CUmemAllocationProp *p, unsigned long long flags) {
  CONTEXT(create_physical(to, size, p, flags));
}
/* Mappings keep the memory. */
static cudaError_t release_physical(CUmemGenericAllocationHandle h) {
  struct physical *p = physical_of(h);
  if (p) p->released = 1;
  return p ? cudaSuccess : cudaErrorInvalidValue;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle h) { CONTEXT(release_physical(h)); }
static cudaError_t properties_of(CUmemAllocationProp *to, CUmemGenericAllocationHandle h) {
  struct physical *p = physical_of(h);
  if (!p || !to) return cudaErrorInvalidValue;
  *to = p->properties;
  return cudaSuccess;
}
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *to, CUmemGenericAllocationHandle h) {
  CONTEXT(properties_of(to, h));
}

static cudaError_t map_physical(CUdeviceptr addr, size_t size, size_t offset, CUmemGenericAllocationHandle h, unsigned long long flags) {
  struct physical *p = physical_of(h);
  struct virtual_range *r = reservations;
  while (r && !inside(r, addr, size)) r = r->next;
  if (!p || !r || flags || offset || !whole_granules(size) || addr % GRANULARITY || size > p->size) return cudaErrorInvalidValue;
  for (struct virtual_range *m = mappings; m; m = m->next)
    if (m->addr < addr + size && addr < m->addr + m->size) return cudaErrorInvalidValue;
  if (p->mapped) return (cudaError_t)heddle_unsupported("cuMemMap of memory that has been mapped before");
  struct virtual_range *m = need(malloc(sizeof *m));
  lock();
  p->mapped = 1;
  *m = (struct virtual_range){addr, size, p, 0, mappings};
  mappings = m;
  unlock();
  return cudaSuccess;
}
CUresult cuMemMap(CUdeviceptr addr, size_t size, size_t offset, CUmemGenericAllocationHandle h, unsigned long long flags) {
  CONTEXT(map_physical(addr, size, offset, h, flags));
}
static cudaError_t set_access(CUdeviceptr addr, size_t size, const CUmemAccessDesc *d, size_t n, uint64_t caller) {
  if (!size || !d || n != 1 || covered(addr, size) != size) return cudaErrorInvalidValue;
  if (d->location.type != CU_MEM_LOCATION_TYPE_DEVICE || d->location.id) return cudaErrorInvalidDevice;
  if (d->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
    return (cudaError_t)heddle_unsupported("cuMemSetAccess with other flags than CU_MEM_ACCESS_FLAGS_PROT_READWRITE");
  uint64_t given = 0;
  for (struct virtual_range *m = mappings; m; m = m->next)
    if (m->addr >= addr && m->addr < addr + size && m->access) given += m->size;
  if (given == size) return cudaSuccess;
  if (given) return (cudaError_t)heddle_unsupported("cuMemSetAccess of memory that is accessible in part");
  cudaError_t e = map(addr, size, caller, 0);
  if (e != cudaSuccess) return e;
  for (struct virtual_range *m = mappings; m; m = m->next)
    if (m->addr >= addr && m->addr < addr + size) m->access = addr;
  return cudaSuccess;
}
CUresult cuMemSetAccess(CUdeviceptr addr, size_t size, const CUmemAccessDesc *d, size_t n) {
  CONTEXT(set_access(addr, size, d, n, CALLER));
}
static cudaError_t get_access(unsigned long long *to, const CUmemLocation *l, CUdeviceptr addr) {
  if (!to || !l || l->type != CU_MEM_LOCATION_TYPE_DEVICE || l->id) return cudaErrorInvalidValue;
  for (struct virtual_range *m = mappings; m; m = m->next)
    if (inside(m, addr, 1)) {
      *to = m->access ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
      return cudaSuccess;
    }
  return cudaErrorInvalidValue;
}
CUresult cuMemGetAccess(unsigned long long *to, const CUmemLocation *l, CUdeviceptr addr) { CONTEXT(get_access(to, l, addr)); }

static cudaError_t unmap(CUdeviceptr addr, size_t size, uint64_t caller) {
  struct virtual_range whole = {.addr = addr, .size = size};
  struct allocation a;
  if (!size || covered(addr, size) != size) return cudaErrorInvalidValue;
  for (struct virtual_range *m = mappings; m; m = m->next)
    if (inside(&whole, m->addr, m->size) && m->access && find_allocation(POINTER(m->addr), &a) && !inside(&whole, a.addr, a.size))
      return (cudaError_t)heddle_unsupported("cuMemUnmap of a part of what cuMemSetAccess has made accessible");
  cudaError_t e = cudaSuccess;
  for (struct virtual_range *m = mappings, *next; m; m = next) {
    next = m->next;
    if (!inside(&whole, m->addr, m->size)) continue;
    if (m->access == m->addr && e == cudaSuccess) e = release(POINTER(m->addr), 0, caller, NULL);
    lock();
    drop_range(&mappings, m);
    unlock();
  }
  return e;
}
CUresult cuMemUnmap(CUdeviceptr addr, size_t size) { CONTEXT(unmap(addr, size, CALLER)); }
