#include "tests/world/network.h"

#include <algorithm>

#include "tests/world/plan.h"

namespace rapideye::world {
namespace {

bool OnNic(const Fault& fault, int nic) { return fault.nic.value_or(nic) == nic; }

bool Severs(const Fault& fault, int from, int to, int nic) {
  switch (fault.what) {
    case Happening::kPairCut:
      return OnNic(fault, nic) && ((fault.worker == from && fault.other == to) ||
                                   (fault.worker == to && fault.other == from));
    case Happening::kNicDies:
    case Happening::kNicSilent:
      return OnNic(fault, nic) && (fault.worker == from || fault.worker == to);
    case Happening::kSwitchCut:
      return fault.workers.contains(from) != fault.workers.contains(to);
    default:
      return false;
  }
}

}  // namespace

bool Network::Passes(int from, int to, int nic) const {
  return HostAnswers(from) && HostAnswers(to) &&
         std::none_of(faults_.begin(), faults_.end(),
                      [&](const Fault* fault) { return Severs(*fault, from, to, nic); });
}

bool Network::HasCarrier(int worker, int nic) const {
  return std::none_of(faults_.begin(), faults_.end(), [&](const Fault* fault) {
    return fault->what == Happening::kNicDies && fault->worker == worker && OnNic(*fault, nic);
  });
}

double Network::Slowness(int from, int to) const {
  double slowness = 1;
  for (const Fault* fault : faults_) {
    if (fault->what == Happening::kLossy && (fault->worker == from || fault->worker == to)) {
      slowness = std::max(slowness, fault->factor);
    }
  }
  return slowness;
}

bool Network::AnswersProbes(int from, int to) const {
  return std::none_of(faults_.begin(), faults_.end(), [&](const Fault* fault) {
    return fault->what == Happening::kProbesDropped &&
           (fault->worker == to || (fault->both_ways && fault->worker == from));
  });
}

void Network::Break(const Fault& fault) { faults_.push_back(&fault); }

void Network::Stick(int from, int to, int nic, double now) {
  Flow& flow = stuck_[{from, to, nic}];
  if (flow.transfers++ == 0) {
    flow.since = now;
  }
}

}  // namespace rapideye::world
