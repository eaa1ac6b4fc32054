/* Used where the system has no C library headers. */
#ifndef HEDDLE_STD_ERRNO_H
#define HEDDLE_STD_ERRNO_H

extern "C" int *__errno_location(void);
#define errno (*__errno_location())
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define ENOMEM 12
#define EINVAL 22
#define ERANGE 34

#endif
