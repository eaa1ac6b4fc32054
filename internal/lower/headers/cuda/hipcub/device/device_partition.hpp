#include "../config.hpp"
#include <cub/device/device_partition.cuh>
