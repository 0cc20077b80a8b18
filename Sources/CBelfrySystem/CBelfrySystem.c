#include "CBelfrySystem.h"
