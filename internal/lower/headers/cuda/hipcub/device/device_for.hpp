#include "../config.hpp"
#include <cub/device/device_for.cuh>
