#include "config.hpp"
#include <cub/util_type.cuh>
