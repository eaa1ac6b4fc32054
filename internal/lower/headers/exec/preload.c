/* The runtime as a shared library, for programs that heddle has not built. For one that is linked with libcudart.so the
   dynamic linker does the rest. One with NVIDIA's static runtime has the functions of the API in itself: before its
   constructors run, which register its kernels, each of them is made a jump to that of this library. */
#ifdef HEDDLE_SHARED
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

/* A file that is mapped, and its sections. */
struct image { const char *at; size_t size; const Elf64_Shdr *sections; size_t count; const char *names; };

static const Elf64_Shdr *section(const struct image *m, const char *name) {
  for (size_t i = 0; i < m->count; i++)
    if (!strcmp(m->names + m->sections[i].sh_name, name)) return &m->sections[i];
  return NULL;
}

static int map_program(struct image *m) {
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  struct stat s;
  if (fd < 0) return 0;
  m->at = fstat(fd, &s) ? MAP_FAILED : mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (m->at == MAP_FAILED) return 0;
  m->size = (size_t)s.st_size;
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)m->at;
  if (m->size < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 ||
      !h->e_shoff || h->e_shoff > m->size || h->e_shnum * sizeof(Elf64_Shdr) > m->size - h->e_shoff ||
      h->e_shstrndx >= h->e_shnum)
    return 0;
  m->sections = (const Elf64_Shdr *)(m->at + h->e_shoff), m->count = h->e_shnum;
  m->names = m->at + m->sections[h->e_shstrndx].sh_offset;
  return 1;
}

/* Replaces the start of a function of size bytes by: movabs $to, %rax; jmp *%rax. No argument is in rax. */
#define JUMP 12
static void redirect(void *from, size_t size, void *to, const char *name) {
  static char why[256];
  unsigned char code[JUMP] = {0x48, 0xb8, [10] = 0xff, [11] = 0xe0};
  memcpy(code + 2, &to, sizeof to);
  uintptr_t first = (uintptr_t)from & ~(uintptr_t)4095, end = ((uintptr_t)from + JUMP + 4095) & ~(uintptr_t)4095;
  if (size < JUMP || mprotect((void *)first, end - first, PROT_READ | PROT_WRITE | PROT_EXEC)) {
    snprintf(why, sizeof why, "%s of the program cannot be replaced; link the program with --cudart shared", name);
    give_up(why);
  }
  memcpy(from, code, JUMP);
  mprotect((void *)first, end - first, PROT_READ | PROT_EXEC);
}

__attribute__((constructor)) static void redirect_program(void) {
  const char *names;
  struct image m;
  const Elf64_Shdr *table;
  Dl_info own;
  uint64_t load = 0;
  if (!map_program(&m)) return;
  if (!section(&m, ".nv_fatbin") || !(table = section(&m, ".symtab")) || table->sh_link >= m.count) return;
  names = m.at + m.sections[table->sh_link].sh_offset;
  dl_iterate_phdr(load_address, &load);
  void *self = dladdr((void *)redirect_program, &own) ? dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (!self) return;
  const Elf64_Sym *s = (const Elf64_Sym *)(m.at + table->sh_offset);
  size_t n = table->sh_size / sizeof *s;
  for (size_t i = 0; i < n; i++) /* heddle has built it */
    if (s[i].st_shndx != SHN_UNDEF && !strcmp(names + s[i].st_name, "__heddle_cuda_block_size")) return;
  int old_properties = 0, new_properties = 0;
  for (size_t i = 0; i < n; i++) {
    const char *name = names + s[i].st_name;
    if (ELF64_ST_TYPE(s[i].st_info) != STT_FUNC || s[i].st_shndx == SHN_UNDEF ||
        (strncmp(name, "cuda", 4) && strncmp(name, "__cuda", 6)))
      continue;
    old_properties |= !strcmp(name, "cudaGetDeviceProperties");
    new_properties |= !strcmp(name, "cudaGetDeviceProperties_v2");
    void *to = dlsym(self, name);
    if (to) redirect((void *)(uintptr_t)(s[i].st_value + load), s[i].st_size, to, name);
  }
  properties_unknown = old_properties && !new_properties; /* CUDA 12 has both */
  munmap((void *)(uintptr_t)m.at, m.size);
}
#endif
