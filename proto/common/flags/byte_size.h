// ByteSize is a number of bytes as the value of a flag.
#ifndef RAPIDEYE_PROTO_COMMON_FLAGS_BYTE_SIZE_H_
#define RAPIDEYE_PROTO_COMMON_FLAGS_BYTE_SIZE_H_

#include <cstdint>

namespace rapideye::program {

// Written "10GiB", "500MB" or "1048576": KiB, MiB, GiB and TiB count in 1024s,
// kB, MB, GB and TB in 1000s. Never negative.
struct ByteSize {
  int64_t bytes = 0;
};

}  // namespace rapideye::program

#endif  // RAPIDEYE_PROTO_COMMON_FLAGS_BYTE_SIZE_H_
