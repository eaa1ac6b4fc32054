#include "../config.hpp"
#include <cub/block/block_scan.cuh>
