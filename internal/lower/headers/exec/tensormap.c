/* Tensor maps (CUDA Driver API, "Tensor Map Object Management"). What their 128 bytes hold is heddle's own choice;
   internal/tensormap reads it. */

struct heddle_tensor_map {
  uint32_t magic;
  uint8_t type, rank, swizzle, nan;
  uint64_t address, stride[4]; /* bytes, of the dimensions from the second on */
  uint32_t last[5];            /* size of each dimension - 1 */
  uint16_t box[5];
  uint8_t step[5];
  uint8_t unused[45];
};
_Static_assert(sizeof(struct heddle_tensor_map) == 128, "CUtensorMap");

CUresult cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *sizes,
                                const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                                int swizzle, int promotion, int fill) {
  static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  static const uint16_t span[] = {256 * 8, 32, 64, 128};
  uint64_t at = (uint64_t)(uintptr_t)address;
  (void)promotion;
  if (!map || (uintptr_t)map % 64 || rank < 1 || rank > 5 || !sizes || (rank > 1 && !strides) || !box || !steps || at % 16 ||
      type < 0 || type > 15 || interleave < 0 || interleave > 2 || swizzle < 0 || swizzle > 6 || fill < 0 || fill > 1)
    return CUDA_ERROR_INVALID_VALUE;
  if (type > 12) return (CUresult)heddle_unsupported("cuTensorMapEncodeTiled of elements of 4 or 6 bits");
  if (interleave) return (CUresult)heddle_unsupported("cuTensorMapEncodeTiled of an interleaved layout");
  if (swizzle > 3) return (CUresult)heddle_unsupported("cuTensorMapEncodeTiled of a swizzle with atoms of 32 or 64 bytes");
  struct registered *r = registered_memory ? find_registered(address) : NULL;
  struct heddle_tensor_map m = {.magic = 0x706d7468, .type = (uint8_t)type, .rank = (uint8_t)rank,
                                .swizzle = (uint8_t)swizzle, .nan = (uint8_t)fill,
                                .address = r ? device_address(r, address) : at};
  for (uint32_t i = 0; i < rank; i++) {
    if (!sizes[i] || sizes[i] > 1ull << 32 || !box[i] || box[i] > 256 || !steps[i] || steps[i] > 8)
      return CUDA_ERROR_INVALID_VALUE;
    if (i && (strides[i - 1] % 16 || strides[i - 1] >= 1ull << 40)) return CUDA_ERROR_INVALID_VALUE;
    m.last[i] = (uint32_t)(sizes[i] - 1), m.box[i] = (uint16_t)box[i], m.step[i] = (uint8_t)steps[i];
    if (i) m.stride[i - 1] = strides[i - 1];
  }
  uint32_t inner = box[0] * bytes[type];
  if (inner % 16 || inner > span[swizzle]) return CUDA_ERROR_INVALID_VALUE;
  memcpy(map, &m, sizeof m);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapReplaceAddress(void *map, void *address) {
  struct heddle_tensor_map m;
  if (!map || (uintptr_t)map % 64 || (uintptr_t)address % 16) return CUDA_ERROR_INVALID_VALUE;
  memcpy(&m, map, sizeof m);
  if (m.magic != 0x706d7468) return CUDA_ERROR_INVALID_VALUE;
  struct registered *r = registered_memory ? find_registered(address) : NULL;
  m.address = r ? device_address(r, address) : (uint64_t)(uintptr_t)address;
  memcpy(map, &m, sizeof m);
  return CUDA_SUCCESS;
}
