#include "digest/report_model.h"
