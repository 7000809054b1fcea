#include "classifier/decision/actions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/wording/phrases.h"

namespace rapideye::classifier {
namespace {

class Steps {
 public:
  explicit Steps(const Verdict& verdict) : verdict_(verdict) {}

  std::vector<RecommendedAction> Write();

 private:
  void Add(std::string description) { steps_.push_back({std::move(description), std::nullopt}); }

  std::string Hosts() const;
  void Networking();
  void DifferentModule();
  void Unrecoverable();
  void Unknown();

  const Verdict& verdict_;
  std::vector<RecommendedAction> steps_;
};

std::vector<RecommendedAction> Steps::Write() {
  switch (verdict_.cause) {
    case Cause::kNoHang:
      break;
    case Cause::kBadTpuChip:
      Add(absl::StrCat("Remove ", Hosts(), " from the job and restart from the last checkpoint."));
      Add("If the same program stops at the same place on other hardware, suspect the program "
          "(an XLA or Pallas kernel) rather than the chip.");
      break;
    case Cause::kNetworkingIssue:
      Networking();
      break;
    case Cause::kDifferentModule:
      DifferentModule();
      break;
    case Cause::kFingerprintMismatch:
      Add(absl::StrCat("Compare the HLO dumps (--xla_dump_to) of ", Hosts(),
                       " with those of the other workers and look where they first differ; "
                       "check that flags, libtpu and the traced code are the same everywhere."));
      break;
    case Cause::kDataInputStall:
      Add(absl::StrCat("Check the data source and input pipeline of ", Hosts(),
                       ": storage mounts, prefetching, worker processes; take a stack of the "
                       "training process there (py-spy dump)."));
      break;
    case Cause::kUnrecoverableError:
      Unrecoverable();
      break;
    case Cause::kUnknown:
      Unknown();
      break;
  }
  // If the cause alone is mended, the other fault makes the job hang again.
  for (const Alternative& other : verdict_.alternatives) {
    if (!other.independent) continue;
    Add(absl::StrCat("Before the restart see to the other fault, too (",
                     std::string(CauseName(other.cause)), "): ", Quote(other.why)));
  }
  return std::move(steps_);
}

std::string Steps::Hosts() const {
  constexpr size_t kNamed = 5;
  std::vector<std::string> names;
  for (const Culprit& culprit : verdict_.culprits) {
    const std::string id =
        absl::StrCat("slice ", culprit.worker.slice, " task ", culprit.worker.task);
    const std::string name =
        culprit.host.empty() ? id : absl::StrCat("host ", Quote(culprit.host), " (", id, ")");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamed); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", names[i]);
  }
  if (names.size() > kNamed) absl::StrAppend(&text, " and ", names.size() - kNamed, " more");
  return text;
}

void Steps::Networking() {
  switch (verdict_.detail) {
    case Detail::kDcnHost: {
      const auto& nic = verdict_.culprits.front().nic;
      Add(absl::StrCat("Look at ",
                       nic ? absl::StrCat("NIC ", Quote(*nic), " of ") : "the network of ", Hosts(),
                       ": carrier, error counters, switch port; restart without it."));
      break;
    }
    case Detail::kIciLink:
      Add(absl::StrCat("Look at the ICI links (cables, ports) of the chips of ", Hosts(),
                       " and restart the job on another slice."));
      break;
    default:
      Add(absl::StrCat("Look at the network between ", Hosts(),
                       ": routes, firewall, switches; restart once they reach each other."));
  }
}

void Steps::DifferentModule() {
  if (verdict_.detail == Detail::kLaunchOrder) {
    Add(absl::StrCat("Find what makes ", Hosts(),
                     " launch its programs in another order: control flow that depends on the "
                     "host, threads that dispatch, an exception that was swallowed."));
    return;
  }
  if (verdict_.culprits.empty()) {
    Add("Compare the programs of all workers (--xla_dump_to, a folder for each): shapes, batch "
        "size, mesh and the order of their first collectives; whoever reported the mismatch "
        "need not be the one that differs.");
    return;
  }
  Add(absl::StrCat("Compare the HLO of ", Hosts(),
                   " with that of another worker and find which branch of the training script "
                   "made them run different programs."));
}

void Steps::Unrecoverable() {
  switch (verdict_.detail) {
    case Detail::kWorkerLost:
      Add(absl::StrCat("See whether ", Hosts(),
                       " is alive (console, node status) and restart "
                       "the job without it."));
      break;
    case Detail::kNotStarted:
      Add(absl::StrCat("See why no training process has come from ", Hosts(),
                       ": whether it was scheduled and its image and command were there, whether "
                       "the process ended before it joined; then restart the job."));
      break;
    case Detail::kConfiguration:
      Add(absl::StrCat("Compare the settings and versions of ", Hosts(),
                       " (TPU_*, MEGASCALE_*, JAX_*, libtpu, jax, jaxlib) with what the slice "
                       "needs and with those of the other workers."));
      break;
    case Detail::kCoordinationService:
      Add("Raise the time-outs of the coordination service (heartbeat_timeout_seconds, "
          "initialization_timeout): it ended a job in which everybody was alive.");
      break;
    case Detail::kPreempted:
      Add(absl::StrCat("Restart the job once ", Hosts(),
                       " is back or replaced; nothing is "
                       "wrong with the hardware."));
      break;
    case Detail::kProcessStopped:
      Add(absl::StrCat("Find who stopped the training process on ", Hosts(),
                       " (debugger, SIGSTOP, cgroup freezer) and continue it (kill -CONT; where a "
                       "cgroup froze it, thaw that)."));
      break;
    case Detail::kOutOfMemory:
      Add(absl::StrCat("Read the log of ", Hosts(),
                       " for what could not be allocated; change "
                       "batch size, sharding or flags: the same run will fail again."));
      break;
    case Detail::kDeviceUnavailable:
      Add(absl::StrCat("See which process on ", Hosts(),
                       " holds the chips or the port (a leftover of an earlier run: ps, ss -tlnp, "
                       "fuser /dev/vfio/* /dev/accel*), end it, and restart the job."));
      break;
    case Detail::kPower:
      Add(absl::StrCat("Have the power of ", Hosts(), " checked and restart without it."));
      break;
    default: {
      const std::string why = verdict_.culprits.empty() ? "" : verdict_.culprits.front().why;
      Add(absl::StrCat("Read the log of ", Hosts(), " around this: ", Quote(why)));
    }
  }
}

void Steps::Unknown() {
  for (const std::string& lacking : verdict_.lacking) {
    Add(absl::StrCat("Collect next time: ", lacking));
  }
  if (!verdict_.alternatives.empty()) {
    Add(absl::StrCat("Most likely among what was not proved: ",
                     std::string(CauseName(verdict_.alternatives.front().cause)), ", ",
                     verdict_.alternatives.front().why));
  }
  if (steps_.empty()) Add("Keep the capture, and restart the job.");
}

}  // namespace

std::vector<RecommendedAction> NextSteps(const Verdict& verdict) { return Steps(verdict).Write(); }

}  // namespace rapideye::classifier
