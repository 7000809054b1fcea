// Formats columns of text for people.
#ifndef RAPIDEYE_COORDINATOR_CLI_TABLE_H_
#define RAPIDEYE_COORDINATOR_CLI_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

namespace rapideye::cli {

// Text of a peer, escaped and cut to the length of a name.
std::string Shown(std::string_view text);

class Table {
 public:
  explicit Table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }

  // Adds as many cells as the head has; each is escaped and cut.
  void Add(std::vector<std::string> cells);

  // The whole table: every line begins with `indent`; the last column is not padded.
  std::string Text(std::string_view indent) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_TABLE_H_
