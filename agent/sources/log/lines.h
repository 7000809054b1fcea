// From bytes as they come to lines.
#ifndef RAPIDEYE_AGENT_SOURCES_LOG_LINES_H_
#define RAPIDEYE_AGENT_SOURCES_LOG_LINES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace rapideye::agent {

// Holds at most kMaxLogLineBytes; the rest of a longer line is dropped.
class LineSplitter {
 public:
  // Appends the lines that these bytes complete, without their ends. Empty lines
  // are left out.
  void Add(absl::string_view bytes, std::vector<std::string>& lines);
  // Nothing came: after a while, what there is of a line counts as one. The end of
  // a line that a dying process could not finish is worth having.
  void Quiet(std::vector<std::string>& lines);
  // No more will come.
  void Finish(std::vector<std::string>& lines);
  // What comes begins in the midst of a line that is to be left out.
  void SkipLine();

 private:
  std::string partial_;
  bool skipping_ = false;
  int quiet_looks_ = 0;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_LOG_LINES_H_
