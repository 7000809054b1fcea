#include "coordinator/removal/remover_pages.h"

#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/removal/count_turn.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/metrics/counter_table.h"
#include "proto/common/metrics/metric_page.h"
#include "proto/common/metrics/process_metrics.h"

namespace rapideye::coordinator {
namespace {

constexpr std::string_view kPrefix = "rapideye_remover_";

using Row = metrics::CounterRow<RemovalCounts>;
constexpr std::array kCounters = {
    Row{&RemovalCounts::removes, "decisions_to_remove_total",
        "Decisions to remove a machine; in a dry run nothing came of them."},
    Row{&RemovalCounts::watches, "decisions_to_watch_total",
        "Decisions that the evidence against a machine does not suffice."},
    Row{&RemovalCounts::refusals, "decisions_to_refuse_total",
        "Decisions that something stands against a removal that was due."},
    Row{&RemovalCounts::hooks_succeeded, "hooks_succeeded_total", "Runs of hooks that succeeded."},
    Row{&RemovalCounts::hooks_failed, "hooks_failed_total",
        "Runs of hooks that failed, and are tried again."},
    Row{&RemovalCounts::hooks_given_up, "hooks_given_up_total",
        "Hooks that failed for good; the log says which."},
};
static_assert(metrics::NamesEveryCounter(kCounters), "a counter of removals has no metric");

std::string Name(std::string_view name) { return std::string(kPrefix).append(name); }

}  // namespace

RemoverPages::RemoverPages(Settings settings)
    : settings_(std::move(settings)), alive_(settings_.now()), succeeded_(alive_) {}

void RemoverPages::NoteLife() {
  const absl::Duration now = settings_.now();
  const MutexLock lock(mutex_);
  alive_ = now;
}

void RemoverPages::NoteTurn(const absl::StatusOr<Remover::Report>& turn) {
  const absl::Duration now = settings_.now();
  const MutexLock lock(mutex_);
  alive_ = now;
  last_turn_ = turn.status();
  ++turns_;
  if (!turn.ok()) {
    ++failed_turns_;
    breaker_open_.reset();
    return;
  }
  succeeded_ = now;
  breaker_open_ = turn->breaker_open;
  CountTurn(*turn, counts_);
}

std::string RemoverPages::RenderMetrics() const {
  metrics::MetricPage page;
  const absl::Duration now = settings_.now();
  const MutexLock lock(mutex_);
  page.AddGauge(Name("build_info"), "1; the version is the label.", 1,
                {{"version", program::Version()}});
  page.AddStates(Name("mode"), "1 for --removal, 0 for the others.", "mode",
                 {RemovalModeName(RemovalMode::kOff), RemovalModeName(RemovalMode::kDryRun),
                  RemovalModeName(RemovalMode::kEnforce)},
                 RemovalModeName(settings_.mode));
  page.AddGauge(Name("fleet_history_works"),
                "1 unless the fleet history cannot be reached; the log says why.",
                last_turn_.value_or(absl::OkStatus()).ok() ? 1 : 0);
  page.AddGauge(Name("seconds_since_life"), "Since its loop last began or ended a turn, or a hook.",
                absl::ToDoubleSeconds(now - alive_));
  page.AddGauge(Name("seconds_since_turn"),
                "Since a turn last succeeded, at first since the start.",
                absl::ToDoubleSeconds(now - succeeded_));
  page.AddStates(
      Name("breaker"),
      "1 for the state of the fleet's breaker; open stops removals, unknown: the history "
      "has not told.",
      "state", {"closed", "open", "unknown"},
      !breaker_open_.has_value() ? "unknown"
      : *breaker_open_           ? "open"
                                 : "closed");
  page.AddCounter(Name("turns_total"), "Looks at the fleet history for what is due.",
                  static_cast<double>(turns_));
  page.AddCounter(Name("turns_failed_total"), "Of the turns: ended by an error of the history.",
                  static_cast<double>(failed_turns_));
  metrics::AddCounters(page, kPrefix, kCounters, counts_);
  metrics::AddProcessMetrics(page);
  return page.Render();
}

http::Response RemoverPages::Health(bool readiness) const {
  const absl::Duration now = settings_.now();
  const MutexLock lock(mutex_);
  const absl::Duration silent = now - alive_;
  if (silent > settings_.hook_timeout + kRemoverPatience) {
    return {.status = 503,
            .body = absl::StrCat("it stands: no sign of work for ",
                                 absl::FormatDuration(absl::Trunc(silent, absl::Seconds(1))), "\n"),
            .headers = {}};
  }
  if (readiness && !last_turn_.has_value()) {
    return {.status = 503, .body = "it has not asked the fleet history yet\n", .headers = {}};
  }
  if (readiness && !last_turn_->ok()) {
    return {.status = 503,
            .body = "no removals: the fleet history cannot be reached; the log says why\n",
            .headers = {}};
  }
  return {.body = readiness ? "ok: decides about removals\n" : "ok: at work\n", .headers = {}};
}

http::Response RemoverPages::Answer(const http::Request& request) const {
  if (request.path == "/metrics") {
    return {.content_type = metrics::kContentType, .body = RenderMetrics(), .headers = {}};
  }
  if (request.path == "/healthz") return Health(/*readiness=*/false);
  if (request.path == "/readyz") return Health(/*readiness=*/true);
  return {.status = 404, .body = "not here; there are /metrics /healthz /readyz\n", .headers = {}};
}

HookResult NotingHookRunner::Run(const HookCall& call) {
  pages_.NoteLife();
  HookResult result = runner_.Run(call);
  pages_.NoteLife();
  return result;
}

}  // namespace rapideye::coordinator
