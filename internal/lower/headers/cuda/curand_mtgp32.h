#include "curand_kernel.h" /* which has all of the device interface */
