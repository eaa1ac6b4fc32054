/* Used where the system has no C library headers. */
#ifndef HEDDLE_STD_INTTYPES_H
#define HEDDLE_STD_INTTYPES_H

#include <stdint.h>
#define PRId8 "d"
#define PRIu8 "u"
#define PRId16 "d"
#define PRIu16 "u"
#define PRId32 "d"
#define PRIu32 "u"
#define PRIx32 "x"
#define PRId64 "ld"
#define PRIu64 "lu"
#define PRIx64 "lx"

#endif
