/* What the fake driver and runtime and the programs of TestWatch declare, as NVIDIA's headers do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long long deviceptr;
typedef struct { unsigned x, y, z; } dim3;
typedef struct { unsigned id, pad; union { char size[64]; int number; dim3 dim; } value; } attribute;
typedef struct { unsigned grid[3], block[3], shared; void *stream; attribute *attributes; unsigned n; } driver_config;
struct wrapper { uint32_t magic, version; const void *data; void *more; };
#ifndef API
#define API __attribute__((visibility("default")))
#endif
