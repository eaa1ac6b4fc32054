/* What the parts of the library that watches a program on a GPU share. They are one translation unit, watch.c. */
#ifndef HEDDLE_GPU_WATCH_H
#define HEDDLE_GPU_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

/* The types of CUDA's two interfaces, by their layout: NVIDIA's headers are not needed. Handles are opaque, and errors
   are numbers, of CUresult or cudaError_t. */
typedef int result;
typedef unsigned long long deviceptr;
typedef struct { unsigned x, y, z; } dim3;
typedef struct { unsigned id, pad; union { char size[64]; int number; dim3 dim; } value; } attribute;
typedef struct { dim3 grid, block; unsigned shared; void *stream; attribute *attributes; unsigned n; } driver_config;
typedef struct { dim3 grid, block; size_t shared; void *stream; attribute *attributes; unsigned n; } runtime_config;
_Static_assert(sizeof(attribute) == 72, "CUlaunchAttribute");
_Static_assert(offsetof(driver_config, stream) == 32 && sizeof(driver_config) == 56, "CUlaunchConfig");
_Static_assert(offsetof(runtime_config, stream) == 32 && sizeof(runtime_config) == 56, "cudaLaunchConfig_t");

#define ERROR_INVALID_VALUE 1
#define ERROR_OUT_OF_MEMORY 2
#define ERROR_NOT_INITIALIZED 3 /* both interfaces have these three */
#define ERROR_NOT_FOUND 500
#define PER_THREAD_STREAM ((void *)2)

#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0))
/* The library is loaded with the program, so its variables of threads have their place from the beginning. */
#define THREAD static _Thread_local __attribute__((tls_model("initial-exec")))

/* A piece of a message. */
struct part { const void *data; size_t size; };

/* An image that heddle has seen. Nothing of it is freed: a module may use it. */
struct image {
  struct image *next;
  uint64_t hash;
  const void *original;
  size_t size;
  void *replaced; /* NULL: it is loaded as it is */
  size_t replaced_size;
  uint32_t module, variables;
  uint32_t number; /* in replaced; a child after fork knows the module by another one */
  const char *names; /* of the variables, each with its NUL */
  unsigned connection; /* on which heddle was asked */
};

/* What heddle says of a kernel. */
struct kernel {
  struct kernel *next;
  const char *name;
  uint32_t asked_module, id, module, n, area;
  uint32_t *parameters; /* offset and size of each */
  unsigned connection;
};

/* A CUfunction, or a CUkernel of a library, which is a CUfunction in each context. */
struct function {
  void *handle, *module, *library; /* one of the last two, or none is known */
  const char *name;
  struct image *image; /* NULL: not known */
  struct kernel *kernel;
};

/* A CUmodule or CUlibrary. The addresses are those of the variables with the queues, 0 if it has none. */
struct owner {
  struct owner *next;
  void *handle;
  int library, prepared;
  struct image *image;
  unsigned connection; /* on which the places of its variables were sent */
  deviceptr device, host, all; /* 0: there is none */
};

/* The parameters of nodes of graphs. Older drivers leave out the last two of a kernel. */
struct kernel_node { void *function; dim3 grid, block; unsigned shared; void **args, **extra; void *kernel, *context; };
struct memset_node { deviceptr to; size_t pitch; unsigned value, element; size_t width, height; };
struct host_node { void *function, *data; };
struct copy { uint64_t opaque[32]; };
_Static_assert(offsetof(struct kernel_node, args) == 40 && sizeof(struct kernel_node) == 72, "CUDA_KERNEL_NODE_PARAMS_v2");
_Static_assert(sizeof(struct memset_node) == 40, "CUDA_MEMSET_NODE_PARAMS");
_Static_assert(sizeof(struct copy) >= 200, "CUDA_MEMCPY3D");

struct stack { uint32_t n; uint64_t at[24]; };

/* A launch: the arguments of one of the functions that launch kernels. */
enum form { DRIVER_PLAIN, DRIVER_COOPERATIVE, DRIVER_CONFIG, RUNTIME_PLAIN, RUNTIME_CONFIG };
struct launch {
  enum form form;
  void *real; /* the function of the driver or runtime */
  void *function; /* a handle, or of the runtime the address of the stub */
  dim3 grid, block, cluster;
  size_t shared;
  void *stream;
  int per_thread; /* stream 0 is that of the thread */
  uint32_t flags;
  void **args, **extra;
  const void *config;
  uint64_t caller;
  const struct stack *stack;
};

static void *real_dlsym(void *handle, const char *name);

#endif
