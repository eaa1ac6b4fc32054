#include "../config.hpp"
#include <cub/device/device_transform.cuh>
