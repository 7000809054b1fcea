// rapideye diagnose: classifies captures, and the logs of a job, offline.
#ifndef RAPIDEYE_COORDINATOR_CLI_DIAGNOSE_H_
#define RAPIDEYE_COORDINATOR_CLI_DIAGNOSE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "classifier/logs/job_logs.h"
#include "coordinator/cli/command.h"
#include "coordinator/cli/log_files.h"
#include "coordinator/cli/standard_input.h"
#include "digest/report_model.h"

namespace rapideye::cli {

class Diagnose final : public Command {
 public:
  explicit Diagnose(CLI::App& app);

  // Prints one digest per capture to standard output, in the order given, or one digest of all
  // logs, which belong to one job; logs beside one capture join the capture. Names broken files
  // on standard error: a job with a broken log has no digest. Returns the program's exit status:
  // 0 if every file was read, 2 if a file was not or the files do not fit together, 1 if the
  // output cannot be written.
  int Run() override;

 private:
  // The files that one digest is about.
  struct Subject {
    std::string capture;            // empty: of logs alone
    std::vector<std::string> logs;  // that were read
  };

  int ReadStandardInput();
  const std::string& PathOf(const std::string& file) const;
  bool SortFiles();
  // Absent: a log is broken, and the command has complained about it.
  std::optional<logs::JobEvidence> ReadLogs() const;
  bool DiagnoseLogs();
  bool DiagnoseCapture(const std::string& path);
  void Show(const Subject& subject, const digest::Report& report);

  std::vector<std::string> files_;
  StandardInput input_;  // if one of the files is standard input
  std::vector<std::string> captures_;
  std::vector<std::string> logs_;
  std::vector<FileContent> contents_;  // of the logs
  std::string worker_from_;
  std::string signatures_file_;
  int shown_ = 0;
  bool unwritten_ = false;
  std::string format_ = "json";
  std::string digest_format_ = "classic";
  bool explain_ = false;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_DIAGNOSE_H_
