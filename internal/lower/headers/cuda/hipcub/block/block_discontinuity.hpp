#include "../config.hpp"
#include <cub/block/block_discontinuity.cuh>
