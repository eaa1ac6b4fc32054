#include "../config.hpp"
#include <cub/block/block_histogram.cuh>
