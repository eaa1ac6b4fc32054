#include "../config.hpp"
#include <cub/block/block_exchange.cuh>
