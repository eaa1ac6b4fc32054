#include "../../heddle/torch.h"
