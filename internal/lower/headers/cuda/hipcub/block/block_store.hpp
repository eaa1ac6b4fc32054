#include "../config.hpp"
#include <cub/block/block_store.cuh>
