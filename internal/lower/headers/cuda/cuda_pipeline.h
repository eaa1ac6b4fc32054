#include <cuda/pipeline> /* and with it the primitives */
