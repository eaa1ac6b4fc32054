#pragma once
#include "../../../heddle/torch.h"

template <class T> __heddle_fn T gpuAtomicAdd(T *p, T v) { return atomicAdd(p, v); }
template <class T> __heddle_fn void gpuAtomicAddNoReturn(T *p, T v) { atomicAdd(p, v); }
__heddle_fn void gpuAtomicAdd(c10::Half *p, c10::Half v) { atomicAdd((__half *)p, (__half)v); }
__heddle_fn void gpuAtomicAdd(c10::BFloat16 *p, c10::BFloat16 v) { atomicAdd((__nv_bfloat16 *)p, (__nv_bfloat16)v); }
