#include "../config.hpp"
#include <cub/device/device_copy.cuh>
