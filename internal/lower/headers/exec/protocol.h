/* The messages between a program and heddle, over a Unix stream socket. Numbers are little endian.

     request   u32 operation, u32 length of the body, the body
     reply     u32 result (a cudaError), u32 error of the context (a cudaError that every later call returns),
               u32 bytes that kernels printed, u32 length of the body, u32 1 if a launch is still being executed; the
               printed text; the body

   The reply to HELLO carries the file descriptor of the arena. Operations below HEDDLE_OP_REPLIES have no reply:
   the program does not wait for them. While it waits for a reply, the first word of the arena is 1. internal/host reads the constants of this file. */
#ifndef HEDDLE_EXEC_PROTOCOL_H
#define HEDDLE_EXEC_PROTOCOL_H

#define HEDDLE_PROTOCOL_VERSION 9
#define HEDDLE_PROTOCOL_SOCKET "HEDDLE_EXEC_SOCKET"

/* u32 module; the bytes of the fat binary or PTX */
#define HEDDLE_OP_MODULE 1
/* u32 module, u32 1 if managed; the name */
#define HEDDLE_OP_VARIABLE 2
/* u32 kernel, u32 1 if cooperative plus 2 if it may begin while the launch before in its stream runs, u32 grid[3], block[3], cluster[3], u32 n, u64 dynamic shared memory, u64 stream,
   u64 return address; u64 return addresses of n callers, innermost first; the parameter area */
#define HEDDLE_OP_LAUNCH 3
/* u64 event, u64 stream: records the event at the time at which all earlier operations have ended */
#define HEDDLE_OP_RECORD 4
/* the name of a function that is not supported */
#define HEDDLE_OP_UNSUPPORTED 5
/* u32 the exit status if it is known, else 0: the program calls exit */
#define HEDDLE_OP_EXIT 6
/* any number of struct heddle_order: calls since the last message, for races between streams */
#define HEDDLE_OP_ORDER 7
/* u64 address, u64 return address: a call that frees what is not allocated, and fails */
#define HEDDLE_OP_BAD_FREE 8
/* struct heddle_work, then n u64 arguments and the name of a function: work of a library (cublas.c and others) */
#define HEDDLE_OP_WORK 9
/* u64 handle, struct heddle_object: a texture or surface object exists */
#define HEDDLE_OP_OBJECT 20
/* u64 handle: it does not exist any more */
#define HEDDLE_OP_OBJECT_GONE 21

#define HEDDLE_OP_REPLIES 64
/* u32 version, u32 process, u64 load address of the program; its path
   -> u64 arena address, u64 its size, u64 1 if all copies and memsets are wanted, struct heddle_gpu */
#define HEDDLE_OP_HELLO 64
/* -> nothing: all earlier operations have ended */
#define HEDDLE_OP_SYNC 65
/* u32 module, u32 0; the name -> struct heddle_kernel, then for each parameter u32 offset, u32 size */
#define HEDDLE_OP_KERNEL 66
/* u32 module, u32 0; the name -> u64 address, u64 size */
#define HEDDLE_OP_SYMBOL 67
/* u64 size, u32 kind, u32 1 if in the order of a stream, u64 return address -> u64 address */
#define HEDDLE_OP_ALLOC 68
/* u64 address, u64 return address, u64 1 if in the order of a stream */
#define HEDDLE_OP_FREE 69
/* -> u64 free, u64 total */
#define HEDDLE_OP_MEMORY 70
/* u64 event -> u64 nanoseconds since some time; cudaErrorInvalidResourceHandle: it was never recorded */
#define HEDDLE_OP_TIME 71
/* cudaDeviceReset: frees all memory and clears the error of the context */
#define HEDDLE_OP_RESET 72
/* u64 size -> u64 address: a range of the arena that kernels may not access, until it is mapped */
#define HEDDLE_OP_RESERVE 73
/* u64 address, u64 size, u64 return address, u64 1 if in the order of a stream: device memory in a reserved range. FREE
   ends it, and the range stays reserved */
#define HEDDLE_OP_MAP 74
/* as WORK -> the result for the host */
#define HEDDLE_OP_WORK_RESULT 75
/* u64 event or 0, u64 stream -> nothing: the event, or what is in the stream, has ended; cudaErrorNotReady */
#define HEDDLE_OP_QUERY 76
/* u32 module -> nothing; cudaErrorInvalidKernelImage: heddle could not read it */
#define HEDDLE_OP_LOADED 90
/* the name of a source text, the text, and options, each with a NUL -> u32 nvrtcResult, u32 bytes of PTX, u32 bytes of
   the compiler's messages */
#define HEDDLE_OP_COMPILE 91
/* -> the PTX and the messages of the last COMPILE */
#define HEDDLE_OP_COMPILED 92

/* Functions of libraries, each for all types. internal/library says what their arguments are. */
#define HEDDLE_LIBRARY_GEMM 1
#define HEDDLE_LIBRARY_SYMM 2
#define HEDDLE_LIBRARY_SYRK 3
#define HEDDLE_LIBRARY_SYR2K 4
#define HEDDLE_LIBRARY_TRMM 5
#define HEDDLE_LIBRARY_TRSM 6
#define HEDDLE_LIBRARY_GEAM 7
#define HEDDLE_LIBRARY_DGMM 8
#define HEDDLE_LIBRARY_GEMV 9
#define HEDDLE_LIBRARY_GER 10
#define HEDDLE_LIBRARY_SYMV 11
#define HEDDLE_LIBRARY_TRMV 12
#define HEDDLE_LIBRARY_TRSV 13
#define HEDDLE_LIBRARY_AXPY 14
#define HEDDLE_LIBRARY_COPY 15
#define HEDDLE_LIBRARY_SWAP 16
#define HEDDLE_LIBRARY_SCAL 17
#define HEDDLE_LIBRARY_ROT 18
#define HEDDLE_LIBRARY_DOT 19
#define HEDDLE_LIBRARY_NRM2 20
#define HEDDLE_LIBRARY_ASUM 21
#define HEDDLE_LIBRARY_EXTENT 22 /* amax and amin */
#define HEDDLE_LIBRARY_GETRF 23
#define HEDDLE_LIBRARY_GETRS 24
#define HEDDLE_LIBRARY_GETRI 25
#define HEDDLE_LIBRARY_MATINV 26
#define HEDDLE_LIBRARY_FFT 40
#define HEDDLE_LIBRARY_RANDOM 41

/* Kinds of allocations. */
#define HEDDLE_KIND_DEVICE 0
#define HEDDLE_KIND_MANAGED 1
#define HEDDLE_KIND_PINNED 2
#define HEDDLE_KIND_VARIABLE 3

/* Calls that order the work of streams, or are such work. */
#define HEDDLE_ORDER_CREATE 1       /* a stream */
#define HEDDLE_ORDER_DESTROY 2      /* a stream */
#define HEDDLE_ORDER_WAIT 3         /* the stream waits for the event */
#define HEDDLE_ORDER_SYNC_EVENT 4   /* the host waits */
#define HEDDLE_ORDER_SYNC_STREAM 5  /* the host waits */
#define HEDDLE_ORDER_SYNC_ALL 6     /* the host waits for all streams */
#define HEDDLE_ORDER_COPY 7
#define HEDDLE_ORDER_SET 8          /* a memset */
#define HEDDLE_ORDER_ALLOC 9        /* cudaMallocAsync */
#define HEDDLE_ORDER_FREE 10        /* cudaFreeAsync */

#define HEDDLE_ORDER_NON_BLOCKING 1 /* of CREATE */
#define HEDDLE_ORDER_BEFORE 1       /* the host waits for the stream before the copy */
#define HEDDLE_ORDER_AFTER 2        /* the host waits for the copy */
#define HEDDLE_ORDER_STAGED 4       /* cudaMemcpy from pageable memory, which may return before the copy has ended */

/* A call. A copy or memset has rows of width bytes. */
struct heddle_order {
  unsigned int what, flags;
  unsigned long long stream, event, caller, to, to_pitch, from, from_pitch, width, rows;
};

/* Work of a library. device says that the scalars among the arguments are addresses. */
struct heddle_work {
  unsigned int function, device, n, zero;
  unsigned long long stream, caller;
};

/* The properties of the GPU that a program sees. */
struct heddle_gpu {
  char name[64];
  unsigned long long memory, l2, shared_block, shared_optin, shared_sm;
  unsigned int major, minor, sms, clock_khz, memory_clock_khz, bus_bits, threads_sm, blocks_sm;
};

/* What a program may ask about a kernel. */
struct heddle_kernel {
  unsigned int id, parameters, parameter_bytes, shared, constant, local, max_threads, registers, ptx, cluster;
};

/* Of a texture with mipmaps. The largest array has 131072 elements in a dimension: 18 levels. */
#define HEDDLE_MAX_LEVELS 18
struct heddle_level {
  unsigned long long addr, pitch, slice;
  unsigned int size[3], unused;
};

/* A texture or surface object. Sizes are texels, pitch and slice bytes; address has values of cudaTextureAddressMode,
   kind of cudaChannelFormatKind. What is 0 or 1 is a truth value. */
struct heddle_object {
  unsigned long long addr, pitch, slice;
  unsigned int size[3], layers, channels, bits, kind, address[3];
  float color[4];
  unsigned int surface, cube, layered, linear, filter, unit, fraction, srgb, blend, levels;
  float bias, min_level, max_level;
  unsigned int unused;
  struct heddle_level level[HEDDLE_MAX_LEVELS - 1]; /* behind the first; the last ones do not count */
};

#endif
