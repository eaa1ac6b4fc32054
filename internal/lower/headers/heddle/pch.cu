/* What is precompiled: the prelude, included so that it counts as a system header. */
#include "prelude.h"
