#include "proto/common/process/free_memory.h"

#include <malloc.h>

namespace rapideye {

bool ReturnFreeMemory(size_t kept) {
  if (mallinfo2().fordblks <= kept) return false;
  malloc_trim(0);
  return true;
}

}  // namespace rapideye
