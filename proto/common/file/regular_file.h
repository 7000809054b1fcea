// OpenRegularFile and OpenDirectory open what stands where other users may write.
#ifndef RAPIDEYE_PROTO_COMMON_FILE_REGULAR_FILE_H_
#define RAPIDEYE_PROTO_COMMON_FILE_REGULAR_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace rapideye::file {

// Opens the regular file `path` for reading; the caller closes the descriptor. Never blocks, and
// never opens a device, which could act on being opened. Follows a symbolic link as if its owner
// did: one of root or of this process's effective user leads anywhere, one of another user only to
// that user's own files, so that nobody has a more powerful reader show what is another's.
// PERMISSION_DENIED for such a link; FAILED_PRECONDITION if it is not a regular file; else as
// errno says, NOT_FOUND if there is none. Thread-safe.
absl::StatusOr<int> OpenRegularFile(const std::string& path);

// As OpenRegularFile, but opens the directory `path`, to list it and to open files in it.
// FAILED_PRECONDITION if it is no directory.
absl::StatusOr<int> OpenDirectory(const std::string& path);

}  // namespace rapideye::file

#endif  // RAPIDEYE_PROTO_COMMON_FILE_REGULAR_FILE_H_
