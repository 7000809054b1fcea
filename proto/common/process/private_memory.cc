#include "proto/common/process/private_memory.h"

#include <sys/prctl.h>

namespace rapideye {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kTracesItself = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kTracesItself = true;
#else
constexpr bool kTracesItself = false;
#endif
#else
constexpr bool kTracesItself = false;
#endif

}  // namespace

bool CanKeepMemoryPrivate() { return !kTracesItself; }

void KeepMemoryPrivate() {
  if (!kTracesItself) prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

}  // namespace rapideye
