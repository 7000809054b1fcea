// States which release this program is of.
#ifndef RAPIDEYE_PROTO_COMMON_RELEASE_RELEASE_H_
#define RAPIDEYE_PROTO_COMMON_RELEASE_RELEASE_H_

#include <string>

namespace rapideye {

// "0.1.0", as CMakeLists.txt names it.
std::string Release();

// The commit that it was built from, 12 hexadecimal digits; "" for a build that was not told.
std::string Commit();

}  // namespace rapideye

#endif  // RAPIDEYE_PROTO_COMMON_RELEASE_RELEASE_H_
