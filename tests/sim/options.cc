#include "tests/sim/options.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "tests/scenarios/random.h"

namespace rapideye::sim {
namespace {

using scenarios::Kind;

// Hangs that show in the words of runtimes and processes, without logs and links.
constexpr std::array<Kind, 6> kHangs = {Kind::kChipCompute,      Kind::kChipTail,
                                        Kind::kModuleOneHost,    Kind::kLaunchOrder,
                                        Kind::kProgramNotQueued, Kind::kProcessKilled};

const char* FateName(Fate fate) {
  switch (fate) {
    case Fate::kHealthy:
      return "healthy";
    case Fate::kShortStall:
      return "short-stall";
    case Fate::kLongStall:
      return "long-stall";
    case Fate::kHang:
      return "hang";
  }
  return "";
}

absl::Duration Between(scenarios::Random& random, int64_t low_ms, int64_t high_ms) {
  return absl::Milliseconds(random.Between(low_ms, high_ms));
}

}  // namespace

Options Draw(uint64_t seed) {
  scenarios::Random random(seed);
  Options options;
  options.seed = seed;
  options.max_workers = random.Pick(std::array<int, 6>{4, 4, 8, 8, 16, 32});
  options.fate = random.Pick(std::array<Fate, 6>{
      Fate::kHealthy, Fate::kShortStall, Fate::kLongStall, Fate::kHang, Fate::kHang, Fate::kHang});
  options.hang = random.Pick(kHangs);
  options.fault_after = Between(random, 15'000, 45'000);
  if (random.Chance(0.3)) options.restart_at = Between(random, 20'000, 80'000);
  options.down_for = Between(random, 1'000, 15'000);
  options.second_hangs = random.Chance(0.5);
  if (random.Chance(0.2)) options.false_word_at = Between(random, 5'000, 60'000);

  options.shape_is_configured = random.Chance(0.5);
  options.launch_threshold = Between(random, 4'000, 12'000);
  options.collect_deadline = Between(random, 5'000, 12'000);
  options.poll_interval = random.Pick(
      std::array<absl::Duration, 3>{absl::Seconds(1), absl::Seconds(2), absl::Seconds(5)});
  options.watches_host = random.Chance(0.6);
  options.agents_start_within = Between(random, 0, random.Chance(0.8) ? 3'000 : 20'000);
  const bool calm = random.Chance(0.25);
  if (!calm && random.Chance(0.5)) options.agent_restarts = static_cast<int>(random.Between(1, 4));
  if (!calm && random.Chance(0.3)) {
    options.coordinator_restarts = static_cast<int>(random.Between(1, 3));
  }
  options.coordinator_stops = random.Chance(0.5) ? 0.5 : 0.0;
  options.slow_disk = random.Chance(0.2) ? 0.5 : 0.0;

  options.slowest_message = Between(random, 2, random.Chance(0.7) ? 60 : 900);
  if (!calm && random.Chance(0.7)) options.lost_streams = static_cast<int>(random.Between(1, 12));
  options.half_open = random.Chance(0.5) ? 0.4 : 0.0;
  if (random.Chance(0.3)) options.hostile_streams = static_cast<int>(random.Between(1, 12));
  options.quiet_at = Between(random, 10'000, 90'000);
  return options;
}

Options DrawWithLiar(uint64_t seed) {
  scenarios::Random random(seed ^ 0x6c696172);
  Options options = Draw(seed);
  options.max_workers = random.Pick(std::array<int, 2>{16, 32});
  options.liar = random.Index(4);
  return options;
}

std::string Describe(const Options& options) {
  const auto optional = [](const std::optional<absl::Duration>& time) {
    return time.has_value() ? absl::FormatDuration(*time) : "never";
  };
  std::string text = absl::StrCat("seed=", options.seed, " max-workers=", options.max_workers,
                                  " fate=", FateName(options.fate));
  if (options.fate == Fate::kHang || options.second_hangs) {
    absl::StrAppend(&text, " hang=", std::string(scenarios::KindName(options.hang)));
  }
  absl::StrAppend(&text, " fault-after=", absl::FormatDuration(options.fault_after),
                  " restart-at=", optional(options.restart_at),
                  " down-for=", absl::FormatDuration(options.down_for),
                  " second-hangs=", options.second_hangs ? "yes" : "no",
                  " false-word-at=", optional(options.false_word_at),
                  " shape-is-configured=", options.shape_is_configured ? "yes" : "no",
                  " launch-threshold=", absl::FormatDuration(options.launch_threshold),
                  " collect-deadline=", absl::FormatDuration(options.collect_deadline),
                  " poll-interval=", absl::FormatDuration(options.poll_interval),
                  " watches-host=", options.watches_host ? "yes" : "no",
                  " agents-start-within=", absl::FormatDuration(options.agents_start_within));
  absl::StrAppend(&text, " agent-restarts=", options.agent_restarts,
                  " coordinator-restarts=", options.coordinator_restarts,
                  " coordinator-stops=", options.coordinator_stops,
                  " slow-disk=", options.slow_disk,
                  " slowest-message=", absl::FormatDuration(options.slowest_message),
                  " lost-streams=", options.lost_streams, " half-open=", options.half_open,
                  " hostile-streams=", options.hostile_streams,
                  " quiet-at=", absl::FormatDuration(options.quiet_at));
  if (options.liar.has_value()) absl::StrAppend(&text, " liar=", *options.liar);
  return text;
}

}  // namespace rapideye::sim
