// Network carries data between hosts: NICs, links and switches, and what is on its way.
#ifndef RAPIDEYE_TESTS_WORLD_NETWORK_H_
#define RAPIDEYE_TESTS_WORLD_NETWORK_H_

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace rapideye::world {

struct Fault;

// Data that one worker has sent to another and that has not arrived.
struct Flow {
  int transfers = 0;
  double since = 0;
};

class Network {
 public:
  // A path, by NIC of the same number at both ends.
  bool Passes(int from, int to, int nic) const;
  bool HasCarrier(int worker, int nic) const;
  bool HostAnswers(int worker) const { return !dead_.contains(worker); }
  // How many times as long as in health a transfer takes.
  double Slowness(int from, int to) const;
  bool AnswersProbes(int from, int to) const;

  void Break(const Fault& fault);
  void LoseHost(int worker) { dead_.insert(worker); }

  void Stick(int from, int to, int nic, double now);
  const std::map<std::tuple<int, int, int>, Flow>& stuck() const { return stuck_; }

 private:
  std::vector<const Fault*> faults_;
  std::set<int> dead_;
  std::map<std::tuple<int, int, int>, Flow> stuck_;  // from, to, NIC
};

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_NETWORK_H_
