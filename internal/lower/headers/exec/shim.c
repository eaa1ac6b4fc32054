/* Heddle's CUDA runtime: the functions that a program built by heddle calls instead of NVIDIA's libcudart. It keeps
   little state; kernels are executed by heddle, in another process (protocol.h). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <ucontext.h>
#include <unistd.h>

#include "shim.h"

#include "connect.c"
#include "register.c"
#include "order.c"
#include "memory.c"
#include "texture.c"
#include "stream.c"
#include "launch.c"
#include "graph.c"
#include "device.c"
#include "pool.c"
#include "driver.c"
#include "virtual.c"
#include "nvrtc.c"
#include "tensormap.c"
#include "unsupported.c"
#include "aliases.c"
#include "work.c"
#include "cublas.c"
#include "cufft.c"
#include "curand.c"
#include "library.c"
#include "preload.c"
