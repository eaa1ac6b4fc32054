#pragma once
#include "../../../heddle/torch.h"
#include <mutex>
#include <utility>

/* The state of PyTorch's generator as a kernel gets it: a seed and an offset, which host code advances. */
namespace at {
struct PhiloxCudaState {
  uint64_t seed_, offset_;
};
struct CUDAGeneratorImpl {
  std::mutex mutex_;
  PhiloxCudaState philox_cuda_state(uint64_t) { return PhiloxCudaState(); }
  std::pair<uint64_t, uint64_t> philox_engine_inputs(uint64_t) { return {}; }
};
struct Generator {};
template <class T> T *get_generator_or_default(...) { return nullptr; }
namespace cuda {
namespace detail { inline Generator getDefaultCUDAGenerator(int = -1) { return Generator(); } }
namespace philox {
__heddle_hd std::pair<uint64_t, uint64_t> unpack(at::PhiloxCudaState s) { return std::pair<uint64_t, uint64_t>(s.seed_, s.offset_); }
}
}
}
