#include "config.hpp"
#include <cub/cub.cuh>
