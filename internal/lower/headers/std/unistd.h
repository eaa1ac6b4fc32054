/* Used where the system has no C library headers. */
#ifndef HEDDLE_STD_UNISTD_H
#define HEDDLE_STD_UNISTD_H

#include <stddef.h>
extern "C" {
unsigned int sleep(unsigned int);
int usleep(unsigned int);
int getopt(int, char *const *, const char *);
extern char *optarg;
extern int optind;
}

#endif
