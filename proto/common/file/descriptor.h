// ReadUpTo and WriteAll read and write a descriptor until all is done.
#ifndef RAPIDEYE_PROTO_COMMON_FILE_DESCRIPTOR_H_
#define RAPIDEYE_PROTO_COMMON_FILE_DESCRIPTOR_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace rapideye::file {

// Appends at most `limit` bytes to `bytes`: fewer only at the end of the file, or on an error.
// Returns errno, 0 for none.
int ReadUpTo(int descriptor, size_t limit, std::string& bytes);

// Returns errno, 0 once all is written.
int WriteAll(int descriptor, std::string_view bytes);

}  // namespace rapideye::file

#endif  // RAPIDEYE_PROTO_COMMON_FILE_DESCRIPTOR_H_
