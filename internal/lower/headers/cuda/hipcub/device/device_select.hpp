#include "../config.hpp"
#include <cub/device/device_select.cuh>
