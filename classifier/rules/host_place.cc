// Input stalls, and hosts that queue nothing, where no core tells: a job on other devices,
// or one whose runtimes do not answer. The same chain is asked of the places of hosts as of
// the positions of cores: the many who wait, and the few who do not, or wait for something
// else.
//
// Only after an alarm for lack of progress: whether the job stands is not to be seen from
// places, and in a job that advances somebody always does something of its own.
//
// Facts: stacks of the training processes, phases and steps of their progress pages.
#include "classifier/host_place.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/phrases.h"
#include "classifier/rules/rules.h"
#include "classifier/thresholds.h"

namespace rapideye::classifier {
namespace {

constexpr char kRule[] = "host_place";
// Fewer of them have no majority.
constexpr size_t kLeastForMajority = 3;

struct Placed {
  int worker;
  HostPlace place;
};

const char* WaitedFor(HostWait wait) {
  switch (wait) {
    case HostWait::kNone:
      break;
    case HostWait::kDevice:
      return "for the device or in a collective";
    case HostWait::kBarrier:
      return "at a barrier";
    case HostWait::kStartUp:
      return "for the job to be complete";
    case HostWait::kShutdown:
      return "for the others to end";
  }
  return "for nobody";
}

class Rule {
 public:
  Rule(const Case& c, Findings& out) : c_(c), out_(out) {
    for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
      const Snapshot* snapshot = c.worker(i).snapshot;
      if (snapshot == nullptr) continue;
      if (auto place = PlaceOfHost(*snapshot)) placed_.push_back({i, *std::move(place)});
    }
  }

  void Apply() {
    if (c_.capture.header.trigger != "no-progress" || !c_.positions.units().empty()) return;
    if (placed_.empty()) return;
    std::vector<const Placed*> busy;
    for (const Placed& one : placed_) {
      if (one.place.wait == HostWait::kNone) busy.push_back(&one);
    }
    if (busy.empty()) return AmongWaiters();
    const bool few = 2 * busy.size() <= placed_.size();
    const bool alike = std::all_of(busy.begin(), busy.end(), [&](const Placed* one) {
      return one->place.activity == busy.front()->place.activity;
    });
    // Most hosts at work on things of their own are no chain. All of them at one thing that
    // hangs, a storage or a source of data, are.
    if (!few && (!alike || busy.front()->place.activity == HostActivity::kOther)) {
      out_.Note(kRule, "no host is singled out: most that are known wait for nobody");
      return;
    }
    Name(busy, 0);
  }

 private:
  // Everybody waits: whoever waits for something else than most has not come to where they
  // are, or has passed it. Of steps only an earlier one is waited for.
  void AmongWaiters() {
    std::map<std::pair<HostWait, std::optional<int64_t>>, std::vector<const Placed*>> groups;
    for (const Placed& one : placed_) {
      const bool by_page = !one.place.by_stack;
      groups[{one.place.wait, by_page ? one.place.step : std::nullopt}].push_back(&one);
    }
    const auto most = std::max_element(groups.begin(), groups.end(), [](auto& a, auto& b) {
      return a.second.size() < b.second.size();
    });
    std::vector<const Placed*> odd;
    bool ahead = false;
    for (const auto& [key, group] : groups) {
      if (&group == &most->second) continue;
      odd.insert(odd.end(), group.begin(), group.end());
      ahead = ahead || (key.first == most->first.first && key.second >= most->first.second);
    }
    if (odd.empty() || ahead || placed_.size() < kLeastForMajority ||
        3 * odd.size() > placed_.size()) {
      out_.Note(kRule, absl::StrCat("no host is singled out: most that are known wait ",
                                    WaitedFor(most->first.first)));
      return;
    }
    std::sort(odd.begin(), odd.end(),
              [](const Placed* a, const Placed* b) { return a->worker < b->worker; });
    Name(odd, kDoubtAmongWaiters);
  }

  void Name(const std::vector<const Placed*>& heads, double doubt) {
    Finding finding;
    finding.basis = Basis::kPosition;
    finding.cause = Cause::kDataInputStall;
    finding.detail = Detail::kInputPipeline;
    finding.confidence = kConfidenceHostByStack;
    const size_t others = placed_.size() - heads.size();
    HostWait wait = HostWait::kNone;
    for (const Placed& one : placed_) {
      const bool head = std::find(heads.begin(), heads.end(), &one) != heads.end();
      if (!head && wait == HostWait::kNone) wait = one.place.wait;
    }
    for (const Placed* head : heads) {
      std::string text = absl::StrCat(Who(c_.worker(head->worker)), " ", head->place.text);
      if (others > 0) {
        absl::StrAppend(&text, ", while ",
                        others == 1 ? "the other waits " : absl::StrCat(others, " others wait "),
                        WaitedFor(wait));
      }
      if (finding.evidence.size() < kMaxEvidence) {
        finding.evidence.push_back(Evidence(c_, Strength::kStrong, {head->worker}, text));
      }
      Culprit culprit = CulpritWorker(c_, head->worker, std::move(text));
      culprit.host_activity = head->place.wait == HostWait::kDevice && wait == HostWait::kBarrier
                                  ? HostActivity::kBarrier
                                  : head->place.activity;
      finding.culprits.push_back(std::move(culprit));
      if (head->place.activity != HostActivity::kInput) finding.detail = Detail::kProgramNotQueued;
      if (!head->place.by_stack) finding.confidence = kConfidenceHostByPage;
    }
    finding.confidence -= doubt;
    finding.why = finding.culprits.front().why;
    out_.Add(kRule, std::move(finding));
  }

  const Case& c_;
  Findings& out_;
  std::vector<Placed> placed_;
};

}  // namespace

void FindHostPlace(const Case& c, Findings& out) { Rule(c, out).Apply(); }

}  // namespace rapideye::classifier
