/* What the parts of heddle's CUDA runtime share. They are one translation unit, shim.c. */
#ifndef HEDDLE_EXEC_SHIM_H
#define HEDDLE_EXEC_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct { unsigned int x, y, z; } dim3;
#include "../heddle/runtime_types.h"
#include "protocol.h"

/* A piece of a message. */
struct part { const void *data; size_t size; };

/* An allocation in the arena, as the server knows it. */
struct allocation { uint64_t addr, size; uint32_t kind; };

/* A kernel that the program registered. The fields after parts are known once heddle has been asked. */
struct kernel {
  const void *host;
  uint32_t module;
  const char *name;
  int asked;
  cudaError_t failure;
  struct heddle_kernel info;
  uint32_t *parameters; /* offset and size of each */
  uint32_t dynamic_shared; /* what cudaFuncSetAttribute allows */
};

/* A variable of a module that the program registered. */
struct variable { void *host; uint32_t module; const char *name; uint64_t size, addr; int managed; void **pointer; /* of nvcc, for managed ones */ };

/* The return addresses of the functions that have called the one that calls a function of the API. */
struct stack { uint32_t n; uint64_t at[24]; };

/* Each function of the API that needs the device starts with this. */
#define ENTER()                          \
  do {                                   \
    cudaError_t enter_ = heddle_enter(); \
    if (enter_ != cudaSuccess) return enter_; \
  } while (0)
/* A function of a library, which a program may bring itself. */
#define WEAK __attribute__((weak))
#define CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0))

static cudaError_t heddle_enter(void);
static cudaError_t fail(cudaError_t e);
static void post(uint32_t op, const struct part *parts, int n);
static cudaError_t ask(uint32_t op, const struct part *parts, int n, void *reply, size_t size);
static cudaError_t finish(void);
static int heddle_unsupported(const char *name);
static struct kernel *find_kernel(const void *host);
static struct variable *find_variable(const void *host);
static void send_modules(void);
static void forget_allocations(void);
static cudaError_t check_stream(cudaStream_t s);

#endif
