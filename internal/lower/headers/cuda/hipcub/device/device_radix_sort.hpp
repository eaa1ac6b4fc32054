#include "../config.hpp"
#include <cub/device/device_radix_sort.cuh>
