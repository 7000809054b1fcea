#include "proto/common/release/release.h"

namespace rapideye {

std::string Release() { return RAPIDEYE_RELEASE; }

std::string Commit() { return RAPIDEYE_COMMIT; }

}  // namespace rapideye
