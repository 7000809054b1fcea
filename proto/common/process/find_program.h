// Finds the programs that a process of rapideye starts: on the path, or installed with it.
#ifndef RAPIDEYE_PROTO_COMMON_PROCESS_FIND_PROGRAM_H_
#define RAPIDEYE_PROTO_COMMON_PROCESS_FIND_PROGRAM_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace rapideye {

// Path of the first executable file `name` in the folders of `path` (in the form of PATH). Relative
// folders are passed over: what they hold depends on the working directory. Any thread.
std::optional<std::string> FindOnPath(absl::string_view name, absl::string_view path);

// PATH of this process, or that of a bare system where it is not set. Any thread, as long as none
// changes the environment.
std::string PathVariable();

// Folder of this process's own program; empty where /proc does not tell. Any thread.
std::string OwnFolder();

// Path of a tool by another author, such as py-spy: on `path`, where somebody may have installed
// the version of his choice, else among those that come with the packages
// (`own_folder`/../libexec/rapideye). Any thread.
std::optional<std::string> FindTool(absl::string_view name, absl::string_view path,
                                    const std::string& own_folder = OwnFolder());

}  // namespace rapideye

#endif  // RAPIDEYE_PROTO_COMMON_PROCESS_FIND_PROGRAM_H_
