/* Tensor maps (CUDA Driver API, "Tensor Map Object Management"). What their 128 bytes hold is heddle's own choice;
   internal/tensormap reads it. */

struct heddle_tensor_map {
  uint32_t magic;
  uint8_t type, rank, swizzle, nan;
  uint64_t address, stride[4]; /* bytes, of the dimensions from the second on */
  uint32_t last[5];            /* size of each dimension - 1 */
  uint16_t box[5];             /* 0 of a map for im2col */
  uint8_t step[5], im2col; /* 1, or 2 and 3 of the wide modes W and W128 */
  int16_t lower[3], upper[3]; /* corners of the bounding box for im2col: W, H, D */
  uint16_t channels, pixels;
  uint8_t interleave, atoms, empty; /* interleave and empty: 0, but for what tensormap.replace puts there */
  uint8_t unused[25];
};
_Static_assert(sizeof(struct heddle_tensor_map) == 128, "CUtensorMap");

static const uint8_t tensor_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
enum { PACKED4 = 13, PADDED4, PADDED6 }; /* 16U4_ALIGN8B, 16U4_ALIGN16B, 16U6_ALIGN16B */

/* The bytes of elements in a row of a box. */
static uint32_t row_bytes(int type, uint32_t elements) {
  if (type < PACKED4) return elements * tensor_bytes[type];
  return type == PADDED6 ? elements / 16 * 12 : elements / 2;
}

/* Whether a row of a box is one that a swizzle has room for, of as many elements as its type demands. */
static int row_fits(int type, uint32_t elements, int swizzle) {
  static const uint16_t bytes_of_row[] = {256 * 8, 32, 64, 128, 128, 128, 128};
  if (type == PACKED4 && elements % 2) return 0;
  if (type > PACKED4 && elements != 128) return 0;
  return row_bytes(type, elements) <= bytes_of_row[swizzle];
}

/* What maps of both kinds have. */
static CUresult tensor_map(struct heddle_tensor_map *m, const char *const *unsupported, void *map, int type, uint32_t rank,
                           void *address, const uint64_t *sizes, const uint64_t *strides, const uint32_t *steps,
                           int interleave, int swizzle, int fill) {
  uint64_t at = (uint64_t)(uintptr_t)address;
  if (!map || (uintptr_t)map % 64 || rank < 1 || rank > 5 || !sizes || (rank > 1 && !strides) || !steps || at % 16 ||
      type < 0 || type > 15 || interleave < 0 || interleave > 2 || swizzle < 0 || swizzle > 6 || fill < 0 || fill > 1)
    return CUDA_ERROR_INVALID_VALUE;
  if (fill && (type < 6 || type > 12)) return CUDA_ERROR_INVALID_VALUE; /* NaN is for floating point only */
  int padded = type == PADDED4 || type == PADDED6;
  if (padded && (at % 32 || swizzle == 1 || swizzle == 2 || swizzle == 5)) return CUDA_ERROR_INVALID_VALUE;
  if (interleave) return (CUresult)heddle_unsupported(unsupported[0]);
  if (swizzle == 5) return (CUresult)heddle_unsupported(unsupported[1]);
  struct registered *r = registered_memory ? find_registered(address) : NULL;
  *m = (struct heddle_tensor_map){.magic = 0x706d7468, .type = (uint8_t)type, .rank = (uint8_t)rank,
                                  .swizzle = (uint8_t)(swizzle > 3 ? 3 : swizzle), .nan = (uint8_t)fill,
                                  .atoms = (uint8_t)(swizzle > 3 ? swizzle - 3 : 0),
                                  .address = r ? device_address(r, address) : at};
  for (uint32_t i = 0; i < rank; i++) {
    if (!sizes[i] || sizes[i] > 1ull << 32 || !steps[i] || steps[i] > 8) return CUDA_ERROR_INVALID_VALUE;
    if (!i && sizes[0] % (padded ? 128 : type == PACKED4 ? 2 : 1)) return CUDA_ERROR_INVALID_VALUE;
    if (i && (strides[i - 1] % (padded ? 32 : 16) || strides[i - 1] >= 1ull << 40)) return CUDA_ERROR_INVALID_VALUE;
    m->last[i] = (uint32_t)(sizes[i] - 1);
    m->step[i] = i ? (uint8_t)steps[i] : 1; /* the first one is ignored without an interleaved layout */
    if (i) m->stride[i - 1] = strides[i - 1];
  }
  return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *sizes,
                                const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                                int swizzle, int promotion, int fill) {
  static const char *const unsupported[] = {"cuTensorMapEncodeTiled of an interleaved layout",
                                            "cuTensorMapEncodeTiled of a swizzle with flipped halves of atoms"};
  struct heddle_tensor_map m;
  (void)promotion;
  if (!box) return CUDA_ERROR_INVALID_VALUE;
  CUresult e = tensor_map(&m, unsupported, map, type, rank, address, sizes, strides, steps, interleave, swizzle, fill);
  if (e != CUDA_SUCCESS) return e;
  for (uint32_t i = 0; i < rank; i++) {
    if (!box[i] || box[i] > 256) return CUDA_ERROR_INVALID_VALUE;
    m.box[i] = (uint16_t)box[i];
  }
  if (row_bytes(type, box[0]) % 16 || !row_fits(type, box[0], swizzle)) return CUDA_ERROR_INVALID_VALUE;
  memcpy(map, &m, sizeof m);
  return CUDA_SUCCESS;
}

/* The corners are those of W, then H, then D, as all arrays of this interface begin with the innermost dimension
   and CUTLASS passes them, though the documentation writes {D, H, W}. */
CUresult cuTensorMapEncodeIm2col(void *map, int type, uint32_t rank, void *address, const uint64_t *sizes,
                                 const uint64_t *strides, const int *lower, const int *upper, uint32_t channels,
                                 uint32_t pixels, const uint32_t *steps, int interleave, int swizzle, int promotion,
                                 int fill) {
  static const char *const unsupported[] = {"cuTensorMapEncodeIm2col of an interleaved layout",
                                            "cuTensorMapEncodeIm2col of a swizzle with flipped halves of atoms"};
  struct heddle_tensor_map m;
  (void)promotion;
  if (rank < 3 || !lower || !upper || !channels || channels > 256 || !pixels || pixels > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult e = tensor_map(&m, unsupported, map, type, rank, address, sizes, strides, steps, interleave, swizzle, fill);
  if (e != CUDA_SUCCESS) return e;
  int most = (1 << (rank == 3 ? 15 : rank == 4 ? 7 : 4)) - 1, least = -most - 1;
  for (uint32_t i = 0; i < rank - 2; i++) {
    if (lower[i] < least || lower[i] > most || upper[i] < least || upper[i] > most ||
        (int64_t)sizes[i + 1] + upper[i] <= lower[i]) /* the box has no position */
      return CUDA_ERROR_INVALID_VALUE;
    m.lower[i] = (int16_t)lower[i], m.upper[i] = (int16_t)upper[i];
  }
  if (!row_fits(type, channels, swizzle)) return CUDA_ERROR_INVALID_VALUE;
  m.im2col = 1, m.channels = (uint16_t)channels, m.pixels = (uint16_t)pixels;
  memcpy(map, &m, sizeof m);
  return CUDA_SUCCESS;
}

/* Maps for im2col::w (mode 0) and im2col::w::128 (mode 1), which have corners in W alone. Only swizzles of 64 and 128
   bytes are allowed, the latter also with atoms of 32 bytes. */
CUresult cuTensorMapEncodeIm2colWide(void *map, int type, uint32_t rank, void *address, const uint64_t *sizes,
                                     const uint64_t *strides, int lower, int upper, uint32_t channels,
                                     uint32_t pixels, const uint32_t *steps, int interleave, int mode, int swizzle,
                                     int promotion, int fill) {
  static const char *const unsupported[] = {"cuTensorMapEncodeIm2colWide of an interleaved layout",
                                            "cuTensorMapEncodeIm2colWide of a swizzle with flipped halves of atoms"};
  struct heddle_tensor_map m;
  (void)promotion;
  if (rank < 3 || !channels || channels > 256 || mode < 0 || mode > 1 || (!mode && (!pixels || pixels > 1024)) ||
      swizzle < 2 || swizzle > 4)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult e = tensor_map(&m, unsupported, map, type, rank, address, sizes, strides, steps, interleave, swizzle, fill);
  if (e != CUDA_SUCCESS) return e;
  if (lower < -32768 || lower > 32767 || upper < -32768 || upper > 32767 || (int64_t)sizes[1] + upper <= lower ||
      !row_fits(type, channels, swizzle))
    return CUDA_ERROR_INVALID_VALUE;
  m.lower[0] = (int16_t)lower, m.upper[0] = (int16_t)upper;
  m.im2col = (uint8_t)(2 + mode), m.channels = (uint16_t)channels, m.pixels = mode ? 128 : (uint16_t)pixels;
  memcpy(map, &m, sizeof m);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapReplaceAddress(void *map, void *address) {
  struct heddle_tensor_map m;
  if (!map || (uintptr_t)map % 64 || (uintptr_t)address % 16) return CUDA_ERROR_INVALID_VALUE;
  memcpy(&m, map, sizeof m);
  if (m.magic != 0x706d7468 || (m.type > PACKED4 && (uintptr_t)address % 32)) return CUDA_ERROR_INVALID_VALUE;
  struct registered *r = registered_memory ? find_registered(address) : NULL;
  m.address = r ? device_address(r, address) : (uint64_t)(uintptr_t)address;
  memcpy(map, &m, sizeof m);
  return CUDA_SUCCESS;
}
