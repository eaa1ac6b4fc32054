#pragma once
#include "../../../heddle/torch.h"

/* Operations of a warp: all lanes, unless a mask is given. */
__heddle_fn unsigned int WARP_BALLOT(int p, unsigned int mask = 0xffffffff) { return __ballot_sync(mask, p); }
__heddle_fn void WARP_SYNC(unsigned int mask = 0xffffffff) { __syncwarp(mask); }
__heddle_fn unsigned int ACTIVE_MASK() { return __activemask(); }
template <class T> __heddle_fn T WARP_SHFL(T v, int lane, int width = 32, unsigned int mask = 0xffffffff) { return __shfl_sync(mask, v, lane, width); }
template <class T> __heddle_fn T WARP_SHFL_XOR(T v, int lanes, int width = 32, unsigned int mask = 0xffffffff) { return __shfl_xor_sync(mask, v, lanes, width); }
template <class T> __heddle_fn T WARP_SHFL_UP(T v, unsigned int by, int width = 32, unsigned int mask = 0xffffffff) { return __shfl_up_sync(mask, v, by, width); }
template <class T> __heddle_fn T WARP_SHFL_DOWN(T v, unsigned int by, int width = 32, unsigned int mask = 0xffffffff) { return __shfl_down_sync(mask, v, by, width); }
