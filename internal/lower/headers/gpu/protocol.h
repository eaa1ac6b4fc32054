/* The messages between heddle and the library that it loads into a program which runs on a GPU (watch.c), over a Unix
   stream socket. The form is that of exec/protocol.h: numbers are little endian,

     request   u32 operation, u32 length of the body, the body
     reply     u32 length of the body, the body

   Operations below HEDDLE_WATCH_REPLIES have no reply. internal/host reads the constants of this file. The layout of the
   queues is that of internal/ptx/instrument. */
#ifndef HEDDLE_GPU_PROTOCOL_H
#define HEDDLE_GPU_PROTOCOL_H

#define HEDDLE_WATCH_VERSION 2
#define HEDDLE_WATCH_SOCKET "HEDDLE_GPU_SOCKET"

/* The variables of instrumented modules that have the addresses of the two memories. */
#define HEDDLE_WATCH_DEVICE "heddle_log_device"
#define HEDDLE_WATCH_HOST "heddle_log_host"
/* The variable that is 0 while accesses that are proved are not logged. Not all modules have it. */
#define HEDDLE_WATCH_ALL "heddle_log_all"
/* And the one that has the number of the module, u32. */
#define HEDDLE_WATCH_MODULE "heddle_log_module"

/* u32 1 if regular: the program calls exit, or returns from main */
#define HEDDLE_WATCH_EXIT 1
/* u64 address, u64 size, u32 kind (HEDDLE_WATCH_KIND_), u32 0, u64 return address: an allocation exists */
#define HEDDLE_WATCH_ALLOC 2
/* u64 address, u64 return address: it does not exist any more */
#define HEDDLE_WATCH_FREE 3
/* u32 module, u32 0, u64 address, u64 size; the name: where a variable of a module is */
#define HEDDLE_WATCH_VARIABLE 4
/* u32 reason (HEDDLE_WATCH_WHY_), u32 0; text: something that heddle does not watch, with its name if it is known */
#define HEDDLE_WATCH_UNWATCHED 5

#define HEDDLE_WATCH_REPLIES 64
/* u32 version, u32 process, u64 load address of the program; its path
   -> u64 bytes of host memory, u64 bytes of device memory, u64 how many launches of each executable graph to make node by
   node, so that the kernels among them are announced by LAUNCH. With the reply comes the file descriptor of the host
   memory, all zero, which the program maps and registers with the driver. Without one, the program allocates pinned
   memory and says where in QUEUES. An empty reply: the versions differ. */
#define HEDDLE_WATCH_HELLO 64
/* u64 address of the pinned memory, in the program; 0: it was freed -> nothing */
#define HEDDLE_WATCH_QUEUES 65
/* an image: PTX that ends with NUL, a fat binary, or machine code
   -> u32 module (from 1; 0: nothing in it is watched), u32 number of variables; for each of them the name with a NUL; the
   image to load in its place, a fat binary, or nothing: load it as it is. Equal images have equal numbers. */
#define HEDDLE_WATCH_IMAGE 66
/* u32 module (0: not known), u32 0; the mangled name
   -> u32 kernel (0: not watched), u32 module (0: no module has it), u32 number of parameters, u32 0; for each of them u32
   offset, u32 size */
#define HEDDLE_WATCH_KERNEL 67
/* u32 kernel, u32 flags as in HEDDLE_OP_LAUNCH, u32 grid[3], block[3], cluster[3], u32 n, u64 dynamic shared memory, u64
   stream, u64 return address; u64 return addresses of n callers, innermost first; the parameter area
   -> u32 what to do (HEDDLE_WATCH_DO_), u32 0 */
#define HEDDLE_WATCH_LAUNCH 68
/* u32 result of the driver (0: the kernel has reached its end), u32 1 if it refused the launch, u64 nanoseconds from the
   launch to its end; the device memory after the launch, or nothing if it cannot be read -> nothing, when the report is
   written. Sent after a LAUNCH whose reply was not HEDDLE_WATCH_DO_NOTHING. */
#define HEDDLE_WATCH_ENDED 69

/* Kinds of allocations. */
#define HEDDLE_WATCH_KIND_DEVICE 0
#define HEDDLE_WATCH_KIND_MANAGED 1
#define HEDDLE_WATCH_KIND_PINNED 2

/* Why something is not watched. */
#define HEDDLE_WATCH_WHY_UNKNOWN 1  /* a launch of a kernel whose module heddle has not seen */
#define HEDDLE_WATCH_WHY_GRAPH 2    /* the launch of a graph that is not made node by node; the text says why: "it ..." */
#define HEDDLE_WATCH_WHY_CAPTURE 3  /* a launch while some stream is captured */
#define HEDDLE_WATCH_WHY_DEVICE 4   /* a launch on another device than the first one that was used */
#define HEDDLE_WATCH_WHY_SETUP 5    /* the queues could not be made; the text says why. Nothing is watched. */
#define HEDDLE_WATCH_WHY_VARIABLE 6 /* a module without the two variables, though it was instrumented */
#define HEDDLE_WATCH_WHY_MORE 7     /* launches of graphs behind those that were made node by node */

/* What to do for a launch. */
#define HEDDLE_WATCH_DO_NOTHING 0 /* launch the kernel, and do not wait for it */
#define HEDDLE_WATCH_DO_LOG 1     /* with the two variables set and the memories cleared: wait for its end */
#define HEDDLE_WATCH_DO_TIME 2    /* with the variables 0: wait for its end, to know how long it takes */
#define HEDDLE_WATCH_DO_LESS 3    /* as LOG, with the variable heddle_log_all 0: what is proved is not logged */

#endif
