#include "classifier/wording/phrases.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "classifier/verdict/thresholds.h"
#include "proto/common/text/utf8.h"

namespace rapideye::classifier {

std::string Quote(std::string_view text) {
  if (text.size() <= kQuoteBytes) return std::string(text);
  return absl::StrCat(std::string(text::Front(text, kQuoteBytes)), "…");
}

std::string Who(const WorkerInfo& worker) {
  const std::string id = absl::StrCat("slice ", worker.id.slice, " task ", worker.id.task);
  return worker.host.empty() ? id : absl::StrCat(id, " (", Quote(worker.host), ")");
}

std::string WhoAll(const Topology& topology, const std::vector<int>& workers) {
  constexpr size_t kNamed = 4;
  std::string text;
  for (size_t i = 0; i < std::min(workers.size(), kNamed); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", Who(topology.worker(workers[i])));
  }
  if (workers.size() > kNamed) {
    absl::StrAppend(&text, " and ", workers.size() - kNamed, " more");
  }
  return text;
}

std::string CoreName(const Core& core) {
  std::string text;
  if (core.chip.has_value()) absl::StrAppend(&text, "chip ", *core.chip, " ");
  absl::StrAppend(&text, core.type == CoreType::kTensorCore ? "TensorCore " : "SparseCore ",
                  core.index);
  return text;
}

std::string Span(int64_t ms) {
  constexpr int64_t kSecond = 1000;
  constexpr int64_t kMinute = 60 * kSecond;
  if (ms < 10 * kSecond) return absl::StrFormat("%.1f s", static_cast<double>(ms) / kSecond);
  if (ms < 10 * kMinute) return absl::StrCat(ms / kSecond, " s");
  return absl::StrCat(ms / kMinute, " min");
}

std::string ProgramName(const Topology& topology, int program) {
  if (program < 0) return "an unnamed program";
  const ProgramInfo& info = topology.programs()[static_cast<size_t>(program)];
  if (!info.module.empty()) return Quote(info.module);
  return absl::StrCat("fingerprint ", Quote(info.fingerprint));
}

std::string PlaceName(const Topology& topology, const Place& place) {
  const std::string where =
      place.tag.has_value()
          ? absl::StrFormat("tag %d, pc 0x%x", *place.tag, static_cast<uint64_t>(place.pc))
          : absl::StrFormat("pc 0x%x", static_cast<uint64_t>(place.pc));
  if (place.hlo.empty()) {
    return absl::StrCat(where, " of ", ProgramName(topology, place.program));
  }
  return absl::StrCat(Quote(place.hlo), " (", where, ") of ", ProgramName(topology, place.program));
}

}  // namespace rapideye::classifier
