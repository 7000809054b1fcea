#include "tests/testbed/worker/hlo_dumps.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/testbed/model/hlo_text.h"

namespace rapideye::testbed {

HloDumps::HloDumps(std::string directory) : directory_(std::move(directory)) {
  std::error_code error;
  if (!directory_.empty()) std::filesystem::create_directories(directory_, error);
}

void HloDumps::Write(const Program& program) {
  if (directory_.empty()) return;
  const int id = ++modules_;
  const auto write = [&](absl::string_view stage, const std::string& text) {
    std::ofstream(absl::StrCat(directory_, "/", absl::StrFormat("module_%04d.", id), program.module,
                               ".", program.build, ".", stage),
                  std::ios::binary)
        << text;
  };
  // A reader looks for the program's text: the files beside it are there before it.
  write("flagfile", absl::StrCat("--xla_dump_to=", directory_, "\n", program.flags));
  write("before_optimizations.txt", SourceText(program));
  write("after_optimizations.txt", HloText(program));
  write("after_optimizations-buffer-assignment.txt", "BufferAssignment:\n");
}

}  // namespace rapideye::testbed
