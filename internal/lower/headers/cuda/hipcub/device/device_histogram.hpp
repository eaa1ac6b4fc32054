#include "../config.hpp"
#include <cub/device/device_histogram.cuh>
