/* The library that heddle loads into a program which runs on a GPU (LD_PRELOAD). It takes the functions of CUDA that
   load code, launch kernels and allocate memory, tells heddle of them (protocol.h), and forwards them. Whatever goes
   wrong, the program goes on as without it, and heddle or the user is told what was not watched. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "watch.h"

#include "real.c"
#include "connect.c"
#include "images.c"
#include "functions.c"
#include "queues.c"
#include "launches.c"
#include "graphs.c"
#include "allocations.c"
#include "interception.c"
#include "program.c"
