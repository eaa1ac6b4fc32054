#include "../config.hpp"
#include <cub/block/block_run_length_decode.cuh>
