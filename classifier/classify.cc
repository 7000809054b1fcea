#include "classifier/classify.h"

namespace rapideye {

Verdict Classify(const Capture&) { return Verdict{}; }

}  // namespace rapideye
