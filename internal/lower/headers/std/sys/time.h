/* Used where the system has no C library headers. */
#ifndef HEDDLE_STD_SYS_TIME_H
#define HEDDLE_STD_SYS_TIME_H

#include <time.h>
struct timeval { long tv_sec, tv_usec; };
extern "C" int gettimeofday(struct timeval *, void *);

#endif
