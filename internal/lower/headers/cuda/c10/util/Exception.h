#include "../../../heddle/torch.h"
