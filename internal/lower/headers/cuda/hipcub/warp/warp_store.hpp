#include "../config.hpp"
#include <cub/warp/warp_store.cuh>
