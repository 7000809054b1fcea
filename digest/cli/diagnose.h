// rapideye diagnose: classifies captures offline.
#ifndef RAPIDEYE_DIGEST_CLI_DIAGNOSE_H_
#define RAPIDEYE_DIGEST_CLI_DIAGNOSE_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace rapideye::cli {

class Diagnose {
 public:
  // Adds the command to `app`; both must outlive the parsing.
  explicit Diagnose(CLI::App& app);

  // Prints one digest per capture to standard output, in the order given, and
  // names broken captures on standard error. Returns the program's exit status:
  // 0 if every capture was read, 2 if one was not, 1 if the output cannot be
  // written.
  int Run() const;

 private:
  CLI::App* command_;
  std::vector<std::string> captures_;
  std::string format_ = "json";
  std::string digest_format_ = "classic";
  bool explain_ = false;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_DIGEST_CLI_DIAGNOSE_H_
