#include "../config.hpp"
#include <cub/warp/warp_exchange.cuh>
