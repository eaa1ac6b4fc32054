#include "../config.hpp"
#include <cub/device/device_adjacent_difference.cuh>
