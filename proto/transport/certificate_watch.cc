#include "proto/transport/certificate_watch.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "proto/common/clock/clock.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::transport {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kNoticeBefore = absl::Hours(7 * 24);
constexpr absl::Duration kNoticeEvery = absl::Hours(24);
constexpr absl::Duration kPatience = absl::Seconds(1);

// Name, size and time of the files that say whom to let in; a file that is replaced differs.
using Signature = std::set<std::tuple<std::string, uintmax_t, fs::file_time_type>>;

void Add(const fs::path& path, Signature& signature) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  if (error) return;
  const fs::file_time_type time = fs::last_write_time(path, error);
  if (!error) signature.emplace(path.string(), size, time);
}

Signature SignatureOf(const CredentialOptions& options) {
  Signature signature;
  Add(options.tls_ca, signature);
  if (options.tls_crl_dir.empty()) return signature;
  std::error_code error;
  for (fs::directory_iterator it(options.tls_crl_dir, error), end; !error && it != end;
       it.increment(error)) {
    Add(it->path(), signature);
  }
  return signature;
}

std::optional<absl::Time> ExpiryOf(const char* flag, const std::string& path) {
  const absl::StatusOr<absl::Time> expiry = ReadExpiry(flag, path);
  return expiry.ok() ? std::optional(*expiry) : std::nullopt;
}

}  // namespace

std::string ExpiryNotice::Observe(const CertificateExpiry& expiry, absl::Time now) {
  if (now < told_ + kNoticeEvery) return "";
  std::string text;
  for (const auto& [flag, end] :
       {std::pair("--tls-cert", expiry.certificate), std::pair("--tls-ca", expiry.authority)}) {
    if (!end.has_value() || now < *end - kNoticeBefore) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", flag, now < *end ? " ends" : " has ended",
                    " at ", absl::FormatTime("%Y-%m-%d %H:%M UTC", *end, absl::UTCTimeZone()));
  }
  if (text.empty()) return text;
  told_ = now;
  return absl::StrCat(text, ": replace the file, it is read again within a minute");
}

struct CertificateWatch::State {
  CredentialOptions options;
  Actions actions;
  absl::Duration interval;
  ExpiryNotice notice;                 // of the worker's thread
  std::optional<Signature> signature;  // likewise
  mutable Mutex mutex;
  CertificateExpiry expiry ABSL_GUARDED_BY(mutex);
  Mutex acting;  // held while an action runs, which may take long
  bool stopped ABSL_GUARDED_BY(acting) = false;

  void Look() {
    const CertificateExpiry now = {.certificate = ExpiryOf("tls-cert", options.tls_cert),
                                   .authority = ExpiryOf("tls-ca", options.tls_ca)};
    Signature read = SignatureOf(options);
    const bool changed = signature.has_value() && *signature != read;
    std::shared_ptr<const PeerChecker> checker;
    if (changed) {
      absl::StatusOr<PeerChecker> loaded = PeerChecker::Load(options.tls_ca, options.tls_crl_dir);
      // Half-written: looked at again, since the signature stays the old one.
      if (loaded.ok()) checker = std::make_shared<PeerChecker>(*std::move(loaded));
    }
    if (!changed || checker != nullptr) signature = std::move(read);
    const std::string text = notice.Observe(now, CurrentInstant().wall);
    {
      const MutexLock lock(mutex);
      expiry = now;
    }
    // The actions' owner waits in Stop until they have returned.
    const MutexLock lock(acting);
    if (stopped) return;
    if (!text.empty()) actions.warn(text);
    if (checker != nullptr) actions.changed(checker);
  }
};

CertificateWatch::CertificateWatch(const CredentialOptions& options, Actions actions,
                                   absl::Duration interval)
    : state_(std::make_shared<State>()) {
  state_->options = options;
  state_->actions = std::move(actions);
  state_->interval = interval;
  if (options.tls_cert.empty()) return;
  worker_.emplace([state = state_](bool last) {
    if (!last) state->Look();
    return MonotonicTime() + state->interval;
  });
}

CertificateWatch::~CertificateWatch() { Stop(); }

CertificateExpiry CertificateWatch::expiry() const {
  const MutexLock lock(state_->mutex);
  return state_->expiry;
}

bool CertificateWatch::Stop() {
  {
    const MutexLock lock(state_->acting);
    state_->stopped = true;
  }
  return !worker_.has_value() || worker_->Stop(kPatience);
}

}  // namespace rapideye::transport
