#include "coordinator/store/incident_notes.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "absl/status/status.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::coordinator {
namespace {

using NoteJson = nlohmann::ordered_json;

std::string NoteText(const NoteJson& json) {
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false, NoteJson::error_handler_t::replace) +
         "\n";
}

std::string MomentText(absl::Time time) {
  return absl::FormatTime(absl::RFC3339_full, time, absl::UTCTimeZone());
}

// A program that can write to the state directory may have written anything.
std::optional<std::string> Word(const NoteJson& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return std::nullopt;
  return text::EscapeText(found->get_ref<const std::string&>(), text::kMaxSentenceBytes);
}

std::optional<absl::Time> Moment(const NoteJson& json, const char* key) {
  absl::Time time;
  const std::optional<std::string> word = Word(json, key);
  if (!word || !absl::ParseTime(absl::RFC3339_full, *word, &time, /*err=*/nullptr)) {
    return std::nullopt;
  }
  // "infinite-future" is a time, too.
  if (time == absl::InfiniteFuture() || time == absl::InfinitePast()) return std::nullopt;
  return time;
}

}  // namespace

std::string EndText(const EndedIncident& ended) {
  return NoteText({{"ended", MomentText(ended.ended)}, {"why", ended.why}});
}

absl::StatusOr<EndedIncident> ParseEnd(const std::string& text) {
  const NoteJson json = NoteJson::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  const auto ended = json.is_object() ? Moment(json, "ended") : std::nullopt;
  if (!ended.has_value()) return absl::InvalidArgumentError("it is no end of an incident");
  return EndedIncident{.id = {}, .ended = *ended, .why = Word(json, "why").value_or("")};
}

std::string AcknowledgementText(const Acknowledgement& acknowledgement) {
  return NoteText({{"acknowledged", MomentText(acknowledgement.at)},
                   {"reason", acknowledgement.reason},
                   {"by", acknowledgement.by}});
}

absl::StatusOr<Acknowledgement> ParseAcknowledgement(const std::string& text) {
  const NoteJson json = NoteJson::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  const auto at = json.is_object() ? Moment(json, "acknowledged") : std::nullopt;
  const auto by = json.is_object() ? Word(json, "by") : std::nullopt;
  if (!at.has_value() || !by.has_value()) {
    return absl::InvalidArgumentError("it is no acknowledgement of an incident");
  }
  return Acknowledgement{.at = *at, .reason = Word(json, "reason").value_or(""), .by = *by};
}

}  // namespace rapideye::coordinator
