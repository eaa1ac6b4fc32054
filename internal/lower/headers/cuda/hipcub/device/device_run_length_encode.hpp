#include "../config.hpp"
#include <cub/device/device_run_length_encode.cuh>
