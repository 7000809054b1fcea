#include "coordinator/cli/snapshot.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/table.h"
#include "proto/common/flags/command_line.h"

namespace rapideye::cli {
namespace {

// A coordinator's --collect-deadline, the time that looks keep between them, and
// the verdict.
constexpr absl::Duration kSnapshotTimeout = absl::Minutes(1);

bool Save(const std::string& path, const std::string& bytes) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  if (!file.fail()) return true;
  Complain(absl::StrCat("cannot write the capture to ", Shown(path), ": ", std::strerror(errno)));
  return false;
}

}  // namespace

SnapshotCommand::SnapshotCommand(CLI::App& app)
    : Command(app, "snapshot",
              "Collect evidence from all workers now and print its digest, hang or not") {
  coordinator_.AddTo(this->app(), kSnapshotTimeout);
  AddFormat(format_, "output format of the digest", {"text", "json", "html"});
  program::AddFlag(
      this->app(), "capture", capture_,
      "also saves the evidence to this file (.jsonl.gz), which 'rapideye diagnose' reads later");
}

int SnapshotCommand::Run() {
  absl::StatusOr<CoordinatorClient> client = CoordinatorClient::Make(coordinator_);
  if (!client.ok()) return Fail(client.status());
  const absl::StatusOr<ReceivedDocument> received =
      client->Snapshot(FormOf(format_), !capture_.empty());
  if (!received.ok()) return Fail(received.status());
  if (received->incident_id.has_value()) {
    Complain(absl::StrCat("the job hangs: this is the digest of incident ",
                          Shown(*received->incident_id)));
  }
  if (!PrintDocument(received->document, format_)) return program::kExitFailure;
  if (!capture_.empty() && !Save(capture_, received->capture)) return program::kExitFailure;
  return program::kExitOk;
}

}  // namespace rapideye::cli
