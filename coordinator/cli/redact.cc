#include "coordinator/cli/redact.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/progress.h"
#include "proto/capture/capture_reader.h"
#include "proto/capture/capture_writer.h"
#include "proto/capture/pseudonyms.h"
#include "proto/common/file/descriptor.h"
#include "proto/common/flags/command_line.h"

namespace rapideye::cli {
namespace {

bool IsDirectory(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string Basename(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The format follows from the file's name; standard output gets JSON Lines.
wire::WriteOptions OptionsFor(absl::string_view target) {
  wire::WriteOptions options;
  options.gzip = absl::ConsumeSuffix(&target, ".gz");
  if (absl::EndsWith(target, ".pb")) options.encoding = wire::Encoding::kBinary;
  return options;
}

// Writes a new file only: an existing file may be the only copy of a capture.
absl::Status WriteNew(const std::string& path, const std::string& bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
  if (file < 0 && errno == EEXIST) {
    return absl::InvalidArgumentError(
        absl::StrCat(ShownPath(path), " exists already; remove it, or give another --output"));
  }
  if (file < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot create ", ShownPath(path)));
  int error = file::WriteAll(file, bytes);
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0) return absl::OkStatus();
  unlink(path.c_str());
  return absl::ErrnoToStatus(error, absl::StrCat("cannot write ", ShownPath(path)));
}

}  // namespace

RedactCommand::RedactCommand(CLI::App& app)
    : Command(app, "redact",
              "Make captures that can be shown to others: no secrets, pseudonyms for names, the "
              "same verdict") {
  program::AddArgument(this->app(), "CAPTURE", captures_,
                       "Captures (JSON Lines or binary, plain or gzip)")
      .Required();
  program::AddFlag(this->app(), "output", output_,
                   "new file to write (.gz: compressed, .pb: binary), or a directory that is "
                   "there, in which each capture keeps the name of its file; needed as a directory "
                   "for several captures (else standard output)");
  program::AddFlag(this->app(), "redact", own_,
                   "regular expression (RE2) of a site's own secrets; keys, tokens and passwords "
                   "in their usual forms are removed without it; may be repeated");
  program::AddFlag(this->app(), "modules", modules_,
                   "also gives pseudonyms to the names of compiled programs (HLO modules)");
}

absl::Status RedactCommand::CheckFlags() const {
  if (captures_.size() == 1) return absl::OkStatus();
  if (output_.empty() || !IsDirectory(output_)) {
    return absl::InvalidArgumentError(
        "--output: of several captures it has to be a directory that is there");
  }
  std::set<std::string> names;
  for (const std::string& path : captures_) {
    if (!names.insert(Basename(path)).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          ShownPath(path), ": two captures have this file name; call it once for each"));
    }
  }
  return absl::OkStatus();
}

std::string RedactCommand::TargetOf(const std::string& path) const {
  return IsDirectory(output_) ? absl::StrCat(output_, "/", Basename(path)) : output_;
}

int RedactCommand::RedactOne(const std::string& path, const secrets::Redactor& redactor) const {
  const Progress progress(absl::StrCat("redacting ", ShownPath(path)));
  const absl::StatusOr<Capture> capture = wire::ReadCaptureFile(path);
  if (!capture.ok()) {
    Complain(absl::StrCat(
        ShownPath(path), ": ",
        absl::IsNotFound(capture.status())
            ? "there is no such file; give a capture (rapideye show ID --format=capture > FILE "
              "writes one)"
            : ShownPath(std::string(capture.status().message()))));
    return program::kExitUsage;
  }
  const absl::StatusOr<Capture> redacted =
      wire::Pseudonymise(*capture, redactor, {.modules = modules_});
  if (!redacted.ok()) return Fail(redacted.status());
  const std::string target = TargetOf(path);
  const absl::StatusOr<std::string> bytes = wire::WriteCapture(*redacted, OptionsFor(target));
  if (!bytes.ok()) return Fail(bytes.status());
  if (target.empty()) return Print(*bytes) ? program::kExitOk : program::kExitFailure;
  const absl::Status written = WriteNew(target, *bytes);
  return written.ok() ? program::kExitOk : Fail(written);
}

int RedactCommand::Run() {
  if (absl::Status status = CheckFlags(); !status.ok()) return Fail(status);
  const absl::StatusOr<secrets::Redactor> redactor = secrets::Redactor::Create(own_);
  if (!redactor.ok()) {
    return Fail(absl::InvalidArgumentError(
        absl::StrCat("--redact: ", std::string(redactor.status().message()))));
  }
  int worst = program::kExitOk;
  for (const std::string& path : captures_) worst = std::max(worst, RedactOne(path, *redactor));
  return worst;
}

}  // namespace rapideye::cli
