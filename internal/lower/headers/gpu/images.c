/* Images: the code that modules are made of. Each is sent to heddle, and what comes back is loaded in its place. */

#define WRAPPER 0x466243b1u   /* of the structure that points to a fat binary */
#define CONTAINER 0xba55ed50u /* of a fat binary */

struct wrapper { uint32_t magic, version; const void *data; void *more; };

static struct image *images;
static int instrumented; /* the number of those that are replaced */

static uint32_t magic_of(const void *p) {
  uint32_t m;
  memcpy(&m, p, sizeof m);
  return m;
}

/* The size of machine code: to the end of what its headers name. */
static size_t elf_size(const unsigned char *p) {
  Elf64_Ehdr h;
  memcpy(&h, p, sizeof h);
  if (h.e_ident[EI_CLASS] != ELFCLASS64) return 0;
  size_t size = sizeof h, end;
#define TO(END) if ((end = (END)) > size) size = end
  TO(h.e_phoff + (size_t)h.e_phnum * sizeof(Elf64_Phdr));
  TO(h.e_shoff + (size_t)h.e_shnum * sizeof(Elf64_Shdr));
  for (unsigned i = 0; i < h.e_shnum; i++) {
    Elf64_Shdr s;
    memcpy(&s, p + h.e_shoff + i * sizeof s, sizeof s);
    if (s.sh_type != SHT_NOBITS) TO(s.sh_offset + s.sh_size);
  }
  for (unsigned i = 0; i < h.e_phnum; i++) {
    Elf64_Phdr s;
    memcpy(&s, p + h.e_phoff + i * sizeof s, sizeof s);
    TO(s.p_offset + s.p_filesz);
  }
#undef TO
  return size;
}

/* The size of an image, or 0 if it is none of those that are known. Text begins with a directive or a comment. */
static size_t image_size(const void *data) {
  const unsigned char *p = data;
  if (p[0] == '.' || p[0] == '/' || p[0] == '\n' || p[0] == '\r' || p[0] == ' ' || p[0] == '\t')
    return strlen(data) + 1;
  if (!p[0] || !p[1] || !p[2]) return 0;
  if (magic_of(p) == CONTAINER) {
    uint16_t head;
    uint64_t body;
    memcpy(&head, p + 6, sizeof head);
    memcpy(&body, p + 8, sizeof body);
    return head + body;
  }
  return memcmp(p, ELFMAG, SELFMAG) ? 0 : elf_size(p);
}

static uint64_t hash_of(const void *data, size_t n) {
  const unsigned char *p = data;
  uint64_t h = n * 0x9e3779b97f4a7c15u, w;
  for (; n >= sizeof w; p += sizeof w, n -= sizeof w) {
    memcpy(&w, p, sizeof w);
    h = (h ^ w) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  for (; n > 0; n--) h = (h ^ *p++) * 0x100000001b3u;
  return h ^ h >> 29;
}

/* Asks heddle about an image. The caller holds the lock. */
static void ask_image(struct image *m) {
  struct part p = {m->original, m->size};
  size_t size = 0;
  m->connection = server.connection;
  m->module = m->variables = 0;
  char *body = ask(HEDDLE_WATCH_IMAGE, &p, 1, &size);
  if (!body || size < 8) {
    free(body);
    return;
  }
  uint32_t head[2];
  memcpy(head, body, sizeof head);
  char *at = body + sizeof head, *end = body + size;
  m->module = head[0], m->names = at;
  for (; m->variables < head[1] && at < end; m->variables++) at += strlen(at) + 1;
  if (m->replaced || at >= end) return; /* a child after fork has it from its parent */
  m->replaced_size = (size_t)(end - at);
  if ((m->replaced = malloc(m->replaced_size + 1))) { /* with a NUL, if it is text */
    memcpy(m->replaced, at, m->replaced_size);
    ((char *)m->replaced)[m->replaced_size] = 0;
    m->number = m->module;
    instrumented++;
  }
}

/* Finds an image that the program loads, by its address if it is a replaced one, or by its contents. */
static struct image *known_image(const void *data, size_t size, uint64_t hash) {
  struct image *m = images;
  while (m && m->replaced != data && !(m->size == size && m->hash == hash) &&
         !(m->replaced && m->replaced_size == size && !memcmp(m->replaced, data, size)))
    m = m->next;
  return m;
}

/* Returns what heddle knows of an image, or NULL. stays: its memory is never freed. */
static struct image *watch_image(const void *data, int stays) {
  if (!data || !enter()) return NULL;
  size_t size = image_size(data);
  if (!size || size > UINT32_MAX - 64) return NULL;
  uint64_t hash = hash_of(data, size);
  lock();
  struct image *m = known_image(data, size, hash);
  if (!m && (m = calloc(1, sizeof *m))) {
    void *copy = stays ? NULL : malloc(size);
    if (copy) memcpy(copy, data, size);
    *m = (struct image){.next = images, .hash = hash, .original = copy ? copy : data, .size = size};
    images = m;
    ask_image(m);
    if (!m->replaced && copy) free(copy), m->original = NULL;
  } else if (m && m->connection != server.connection && m->original) {
    ask_image(m);
  }
  unlock();
  return m;
}

/* An image that is loaded: what to load, what to load if that fails, and what is known of it. */
struct loading { const void *now, *original; struct image *image; struct wrapper wrapper; };

static struct loading loading_of(const void *code, int stays) {
  struct loading l = {code, code, NULL, {0}};
  if (!code) return l;
  int wrapped = magic_of(code) == WRAPPER;
  if (wrapped) memcpy(&l.wrapper, code, sizeof l.wrapper);
  l.image = watch_image(wrapped ? l.wrapper.data : code, stays);
  if (!l.image || !l.image->replaced) return l;
  if (!wrapped) {
    l.now = l.image->replaced;
  } else if (l.wrapper.data != l.image->replaced) {
    struct wrapper *w = malloc(sizeof *w);
    if (!w) return l;
    *w = l.wrapper, w->data = l.image->replaced;
    l.now = w;
  }
  if (l.now == code && l.image->original) l.original = l.image->original;
  return l;
}

/* Reads a file with an image, or returns NULL. */
static void *read_image(const char *name) {
  struct stat s;
  int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
  char *text = NULL;
  if (fd < 0) return NULL;
  if (!fstat(fd, &s) && S_ISREG(s.st_mode) && s.st_size >= 4 && (text = malloc((size_t)s.st_size + 1))) {
    ssize_t n = 0, k = 1;
    while (n < s.st_size && (k = read(fd, text + n, (size_t)(s.st_size - n))) > 0) n += k;
    text[n] = 0;
    if (n < s.st_size) free(text), text = NULL;
  }
  close(fd);
  return text;
}
