#include "../config.hpp"
#include <cub/device/device_merge_sort.cuh>
