#include "../config.hpp"
#include <cub/device/device_scan.cuh>
