#include "classifier/decision/runtime_verdict.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/verdict/thresholds.h"
#include "classifier/wording/phrases.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

struct RuntimeWording {
  std::string_view part;
  Cause cause;
};
constexpr std::array kRuntimeWordings = {
    RuntimeWording{"likely caused by bad TPU", Cause::kBadTpuChip},
    RuntimeWording{"likely caused by a networking issue", Cause::kNetworkingIssue},
    RuntimeWording{"likely caused by running different modules", Cause::kDifferentModule},
    RuntimeWording{"likely caused by inconsistent HLO module", Cause::kFingerprintMismatch},
    RuntimeWording{"likely caused by inconsistent TPU programs", Cause::kFingerprintMismatch},
    RuntimeWording{"likely caused by data input stall", Cause::kDataInputStall},
    RuntimeWording{"halted with an unrecoverable error", Cause::kUnrecoverableError},
    RuntimeWording{"cannot determine the root cause", Cause::kUnknown},
};

// Hosts follow these words, separated by commas, perhaps as "<job>/<task>:<host>".
constexpr std::array<std::string_view, 4> kHostLists = {
    "The host that have bad TPUs are: ", "The host that have data input stalls are: ",
    "Example hosts that have different HLO ", "Potential culprit workers: "};

std::optional<Cause> CauseOf(std::string_view text) {
  for (const RuntimeWording& wording : kRuntimeWordings) {
    if (text::Contains(text, wording.part)) return wording.cause;
  }
  return std::nullopt;
}

void AddHosts(const Topology& topology, std::string_view text, std::set<int>& workers) {
  for (const std::string_view marker : kHostLists) {
    const size_t at = text.find(marker);
    if (at == std::string_view::npos) continue;
    std::string_view rest = text.substr(at + marker.size());
    while (!rest.empty()) {
      const size_t end = std::min(rest.find_first_of(", "), rest.size());
      std::string_view name = rest.substr(0, end);
      name.remove_prefix(std::min(name.rfind('/') + 1, name.size()));
      const size_t colon = name.find(':');
      if (colon != std::string_view::npos) name.remove_prefix(colon + 1);
      for (int worker : topology.FindHost(name)) workers.insert(worker);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

// Whether the culprits of both verdicts may be the same: they are, or one of them names nobody.
bool MayBeTheSame(const Verdict& verdict, const std::vector<WorkerId>& named) {
  return named.empty() || verdict.culprits.empty() ||
         std::any_of(verdict.culprits.begin(), verdict.culprits.end(), [&](const Culprit& culprit) {
           return std::binary_search(named.begin(), named.end(), culprit.worker);
         });
}

std::string Agreement(const Verdict& verdict, const RuntimeVerdict& of_runtime) {
  if (of_runtime.cause == Cause::kUnknown) return "";
  if (of_runtime.cause != verdict.cause) return ", which is not what this verdict says";
  return of_runtime.agrees ? ", as this verdict says"
                           : ", of which this verdict says that others are at fault";
}

}  // namespace

void AddRuntimeVerdict(const Topology& topology, Verdict& verdict) {
  if (verdict.cause == Cause::kNoHang) return;
  std::optional<Cause> cause;
  std::set<int> workers;
  for (const WorkerInfo& worker : topology.workers()) {
    if (worker.snapshot == nullptr) continue;
    for (const LogEvent& log : worker.snapshot->log_events) {
      if (log.kind != LogKind::kRuntimeVerdict) continue;
      if (!cause.has_value()) cause = CauseOf(log.text);
      AddHosts(topology, log.text, workers);
    }
  }
  if (!cause.has_value()) return;
  RuntimeVerdict of_runtime{*cause, {}, false};
  for (int worker : workers) of_runtime.workers.push_back(topology.worker(worker).id);
  std::sort(of_runtime.workers.begin(), of_runtime.workers.end());
  of_runtime.agrees = *cause == verdict.cause && MayBeTheSame(verdict, of_runtime.workers);
  if (verdict.evidence.size() < kMaxEvidence) {
    std::string text =
        *cause == Cause::kUnknown
            ? "the runtime itself could not determine the cause"
            : absl::StrCat("the runtime itself takes it for ", std::string(CauseName(*cause)));
    if (!workers.empty()) {
      absl::StrAppend(&text, " of ", WhoAll(topology, {workers.begin(), workers.end()}));
    }
    absl::StrAppend(&text, Agreement(verdict, of_runtime));
    verdict.evidence.push_back({std::move(text), Strength::kWeak, of_runtime.workers});
  }
  verdict.runtime_verdict = std::move(of_runtime);
}

}  // namespace rapideye::classifier
