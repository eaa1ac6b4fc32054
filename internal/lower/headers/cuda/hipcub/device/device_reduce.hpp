#include "../config.hpp"
#include <cub/device/device_reduce.cuh>
