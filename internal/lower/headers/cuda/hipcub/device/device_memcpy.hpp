#include "../config.hpp"
#include <cub/device/device_memcpy.cuh>
