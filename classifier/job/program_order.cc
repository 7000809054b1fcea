#include "classifier/job/program_order.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {

int64_t SerialDistance(int32_t later, int32_t earlier) {
  return static_cast<int32_t>(static_cast<uint32_t>(later) - static_cast<uint32_t>(earlier));
}

ProgramOrder::ProgramOrder(const std::vector<Launch>& step, bool complete) {
  for (const Launch& launch : step) {
    if (launch.program < 0 || !launch.id.has_value()) continue;
    auto [it, added] = slots_.try_emplace(launch.program);
    if (added) it->second.first_id = *launch.id;
    it->second.at.push_back(length_++);
  }
  complete_ = complete && length_ > 0;
}

std::optional<int64_t> ProgramOrder::Ordinal(const Launch& launch) const {
  if (!launch.id.has_value()) return std::nullopt;
  auto it = slots_.find(launch.program);
  if (it == slots_.end()) return std::nullopt;
  const Slots& slots = it->second;
  const auto per_step = static_cast<int64_t>(slots.at.size());
  const int64_t distance = SerialDistance(*launch.id, slots.first_id);
  int64_t step = distance / per_step;
  int64_t rest = distance % per_step;
  if (rest < 0) {
    rest += per_step;
    --step;
  }
  return step * length_ + slots.at[static_cast<size_t>(rest)];
}

namespace {

// The next program, and the difference of its launch id.
using Successor = std::pair<int, int64_t>;
using SuccessorVotes = std::map<int, std::map<Successor, int>>;

SuccessorVotes CountSuccessors(const std::vector<std::vector<Launch>>& chains) {
  SuccessorVotes votes;
  for (const auto& chain : chains) {
    for (size_t i = 0; i + 1 < chain.size(); ++i) {
      const Launch& now = chain[i];
      const Launch& next = chain[i + 1];
      if (now.program < 0 || next.program < 0 || !now.id || !next.id) continue;
      ++votes[now.program][{next.program, SerialDistance(*next.id, *now.id)}];
    }
  }
  return votes;
}

// The undisputed successor, if there is one.
std::optional<Successor> Undisputed(const std::map<Successor, int>& votes) {
  int best = 0;
  int rival = 0;
  std::optional<Successor> winner;
  for (const auto& [successor, count] : votes) {
    if (count > best) {
      rival = best;
      best = count;
      winner = successor;
    } else {
      rival = std::max(rival, count);
    }
  }
  if (rival > kRivalSuccessorShare * best) return std::nullopt;
  return winner;
}

// Programs with a successor, those of the most votes first, as long as they have
// enough votes to be the step of a cohort rather than of a few workers that left it.
std::vector<int> Starts(const SuccessorVotes& votes) {
  std::vector<std::pair<int, int>> ranked;  // minus votes, program
  for (const auto& [program, successors] : votes) {
    int total = 0;
    for (const auto& [successor, count] : successors) total += count;
    ranked.emplace_back(-total, program);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<int> programs;
  programs.reserve(ranked.size());
  for (const auto& [minus_votes, program] : ranked) {
    if (minus_votes > kLeastStepShare * ranked.front().first) break;
    programs.push_back(program);
  }
  return programs;
}

// The order that begins with `start`; empty if the votes do not settle it.
ProgramOrder OrderFrom(int start, const SuccessorVotes& votes) {
  std::vector<Launch> step;
  int program = start;
  uint32_t id = 0;
  while (true) {
    if (std::any_of(step.begin(), step.end(),
                    [&](const Launch& seen) { return seen.program == program; })) {
      // An order is not trusted if its circle closes elsewhere than at its start, or not at
      // the very next step.
      if (program != start || id != 1) return {};
      return ProgramOrder(step, /*complete=*/true);
    }
    step.push_back({program, static_cast<int32_t>(id)});
    auto it = votes.find(program);
    if (it == votes.end()) break;
    const std::optional<Successor> next = Undisputed(it->second);
    if (!next) return {};
    id += static_cast<uint32_t>(next->second);
    program = next->first;
  }
  return ProgramOrder(step, /*complete=*/false);
}

}  // namespace

ProgramOrder LearnProgramOrder(const std::vector<std::vector<Launch>>& chains) {
  const SuccessorVotes votes = CountSuccessors(chains);
  const std::vector<int> starts = Starts(votes);
  if (starts.empty()) return {};
  // A program that leads into the step, and is no part of it, closes no circle; a program that
  // is only repeated makes a step if nearly every worker repeats it. If no circle
  // closes, the order from the program with most votes is the best that is known.
  for (const int start : starts) {
    ProgramOrder order = OrderFrom(start, votes);
    if (order.complete() && (start == starts.front() || order.length() > 1)) return order;
  }
  return OrderFrom(starts.front(), votes);
}

}  // namespace rapideye::classifier
