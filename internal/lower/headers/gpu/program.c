/* Programs that contain NVIDIA's runtime (nvcc's default): nothing can take their __cudaRegisterFatBinary. Before their
   constructors run, which call it, the pointers to their fat binaries are replaced where they are. */

struct file { const char *at; size_t size; const Elf64_Shdr *sections; size_t count; };

static int within(const struct file *f, uint64_t at, uint64_t size) { return at <= f->size && size <= f->size - at; }

static int map_program(struct file *f) {
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  struct stat s;
  if (fd < 0) return 0;
  f->size = fstat(fd, &s) || s.st_size < (off_t)sizeof(Elf64_Ehdr) ? 0 : (size_t)s.st_size;
  f->at = f->size ? mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  close(fd);
  if (f->at == MAP_FAILED) return 0;
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)f->at;
  f->sections = (const Elf64_Shdr *)(f->at + h->e_shoff), f->count = h->e_shnum;
  if (memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 || !h->e_shoff || h->e_shoff % 8 ||
      h->e_shentsize != sizeof(Elf64_Shdr) || !within(f, h->e_shoff, f->count * sizeof(Elf64_Shdr)) ||
      h->e_shstrndx >= f->count) {
    munmap((void *)(uintptr_t)f->at, f->size);
    return 0;
  }
  return 1;
}

/* A string in a section of strings, or "". */
static const char *text_in(const struct file *f, size_t strings, uint64_t at) {
  const Elf64_Shdr *s = strings < f->count ? &f->sections[strings] : NULL;
  if (!s || !within(f, s->sh_offset, s->sh_size) || at >= s->sh_size || f->at[s->sh_offset + s->sh_size - 1]) return "";
  return f->at + s->sh_offset + at;
}

static const Elf64_Shdr *section(const struct file *f, const char *name) {
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)f->at;
  for (size_t i = 0; i < f->count; i++)
    if (!strcmp(text_in(f, h->e_shstrndx, f->sections[i].sh_name), name)) return &f->sections[i];
  return NULL;
}

/* Whether the program takes the function that registers fat binaries from a library. */
static int imports_registration(const struct file *f) {
  const Elf64_Shdr *s = section(f, ".dynsym");
  if (!s || !within(f, s->sh_offset, s->sh_size) || s->sh_offset % 8) return 0;
  const Elf64_Sym *symbol = (const Elf64_Sym *)(f->at + s->sh_offset);
  for (size_t i = 0; i < s->sh_size / sizeof *symbol; i++)
    if (symbol[i].st_shndx == SHN_UNDEF &&
        !strcmp(text_in(f, s->sh_link, symbol[i].st_name), "__cudaRegisterFatBinary"))
      return 1;
  return 0;
}

/* The protection of the pages of a range of the program. */
struct range { uintptr_t first, end; int protection; };
static int protection_of(struct dl_phdr_info *info, size_t size, void *to) {
  struct range *r = to;
  (void)size;
  r->protection = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uintptr_t first = info->dlpi_addr + p->p_vaddr;
    if (r->first < first || r->end > first + p->p_memsz) continue;
    if (p->p_type == PT_LOAD)
      r->protection |= (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_W ? PROT_WRITE : 0) |
                       (p->p_flags & PF_X ? PROT_EXEC : 0);
    if (p->p_type == PT_GNU_RELRO) r->protection = PROT_READ;
  }
  return 1; /* the program itself comes first */
}

static void replace_binaries(struct wrapper *w, size_t n) {
  struct range r = {(uintptr_t)w, (uintptr_t)(w + n), 0};
  dl_iterate_phdr(protection_of, &r);
  if (!(r.protection & PROT_READ)) return; /* the file is not what runs */
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t first = r.first & ~(page - 1), end = (r.end + page - 1) & ~(page - 1);
  int writable = r.protection & PROT_WRITE;
  if (!writable && mprotect((void *)first, end - first, r.protection | PROT_WRITE)) return;
  for (size_t i = 0; i < n; i++) {
    if (w[i].magic != WRAPPER) continue;
    struct image *m = watch_image(w[i].data, 1);
    if (m && m->replaced) w[i].data = m->replaced;
  }
  if (!writable) mprotect((void *)first, end - first, r.protection);
}

__attribute__((constructor)) static void watch_program(void) {
  struct file f;
  uint64_t load = 0;
  if (!map_program(&f)) return;
  const Elf64_Shdr *s = section(&f, ".nvFatBinSegment");
  if (s && !imports_registration(&f)) {
    dl_iterate_phdr(load_address, &load);
    replace_binaries((struct wrapper *)(uintptr_t)(load + s->sh_addr), s->sh_size / sizeof(struct wrapper));
  }
  munmap((void *)(uintptr_t)f.at, f.size);
}
