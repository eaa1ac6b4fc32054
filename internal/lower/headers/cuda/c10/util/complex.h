#include "../../../heddle/torch.h"
#if __has_include(<complex>)
#include <complex> /* and what includes it: programs rely on it */
#endif
