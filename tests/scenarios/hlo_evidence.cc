#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tests/scenarios/evidence.h"

namespace rapideye::scenarios {
namespace {

// Runtimes are asked for at most this many positions (deploy/COMMANDS.md, "How evidence
// is collected").
constexpr size_t kMaxPositions = 32;

using Position = std::pair<std::string, int64_t>;  // fingerprint, pc

struct Name {
  std::string hlo;
  std::optional<HloWaits> waits;
};

struct Site {
  size_t snapshot = 0;
  size_t core = 0;
};

class HloWriter {
 public:
  HloWriter(const Scene& scene, bool from_last_samples, std::vector<Snapshot>& snapshots)
      : snapshots_(snapshots) {
    for (const Program& program : scene.plan.job.programs) {
      for (const Op& op : program.ops) {
        names_[{program.fingerprint, op.pc}] = {op.hlo, op.hlo_waits};
      }
    }
    for (size_t s = 0; s < snapshots.size(); ++s) {
      // A runtime that does not answer cannot be asked; its agent may have asked before.
      if (!from_last_samples && snapshots[s].runtime.state != RuntimeState::kServing) continue;
      for (size_t c = 0; c < snapshots[s].cores.size(); ++c) Note(s, c);
    }
  }

  void OnePerPosition(Random& random) {
    std::vector<std::pair<size_t, Position>> rarest;
    for (const auto& [position, sites] : sites_) rarest.emplace_back(sites.size(), position);
    std::sort(rarest.begin(), rarest.end());
    if (rarest.size() > kMaxPositions) rarest.resize(kMaxPositions);
    for (const auto& [count, position] : rarest) {
      const std::vector<Site>& sites = sites_[position];
      NameAt(sites[static_cast<size_t>(random.Index(sites.size()))], names_[position]);
    }
  }

  // Half of the runtimes call every place a computation, the others a collective.
  void Contradict() {
    for (const auto& [position, sites] : sites_) {
      for (const Site& site : sites) {
        NameAt(site, {site.snapshot % 2 == 0 ? "all-reduce.3" : "fusion.9", std::nullopt});
      }
    }
  }

  void Everywhere() {
    for (const auto& [position, sites] : sites_) {
      for (const Site& site : sites) NameAt(site, names_[position]);
    }
  }

 private:
  void Note(size_t s, size_t c) {
    const Core& core = snapshots_[s].cores[c];
    if (core.type != CoreType::kTensorCore || !core.program) return;
    const std::string& fingerprint =
        snapshots_[s].programs[static_cast<size_t>(*core.program)].fingerprint;
    const Position position = {fingerprint,
                               Nearest(fingerprint, core.sequencers[0].pc.value_or(0))};
    if (position.second > 0) sites_[position].push_back({s, c});
  }

  // The start of the instruction that a pc lies in, or 0.
  int64_t Nearest(const std::string& fingerprint, int64_t pc) const {
    auto after = names_.upper_bound({fingerprint, pc});
    if (pc == 0 || after == names_.begin()) return 0;
    --after;
    return after->first.first == fingerprint ? after->first.second : 0;
  }

  void NameAt(const Site& site, const Name& name) {
    Sequencer& sequencer = snapshots_[site.snapshot].cores[site.core].sequencers[0];
    sequencer.hlo = name.hlo;
    sequencer.hlo_waits = name.waits;
  }

  std::vector<Snapshot>& snapshots_;
  std::map<Position, Name> names_;
  std::map<Position, std::vector<Site>> sites_;
};

}  // namespace

void AddHlo(const Scene& scene, HloSampling sampling, Random random,
            std::vector<Snapshot>& snapshots) {
  if (sampling == HloSampling::kNone) return;
  HloWriter writer(scene, sampling == HloSampling::kEveryWorker, snapshots);
  if (scene.plan.contradictory_hlo) {
    writer.Contradict();
  } else if (sampling == HloSampling::kEveryWorker) {
    writer.Everywhere();
  } else {
    writer.OnePerPosition(random);
  }
}

}  // namespace rapideye::scenarios
