#include "../heddle/host.h" /* CUDA C++ has everything from the force-included prelude */
