#include "classifier/network_cut.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/phrases.h"
#include "classifier/thresholds.h"

namespace rapideye::classifier {
namespace {

constexpr size_t kMaxCulprits = 10;

bool HasNicWithoutCarrier(const Case& c, int worker) {
  const Snapshot* snapshot = c.worker(worker).snapshot;
  return snapshot != nullptr && std::any_of(snapshot->nics.begin(), snapshot->nics.end(),
                                            [](const Nic& nic) { return !nic.up; });
}

// Of a finding on one host.
int HostOf(const Case& c, const Finding& finding) {
  return c.topology.Find(finding.culprits.front().worker);
}

bool IsOneCut(const Case& c, const LinkEvidence& links, const std::set<int>& hosts) {
  for (const int host : hosts) {
    if (HasNicWithoutCarrier(c, host)) return false;
    const auto n = static_cast<size_t>(host);
    const auto among_them = [&hosts](int peer) { return hosts.contains(peer); };
    const std::set<int>& broken = links.broken_peers[n];
    const std::set<int>& reached = links.reached_peers[n];
    if (std::any_of(broken.begin(), broken.end(), among_them)) return false;
    if (!std::all_of(reached.begin(), reached.end(), among_them)) return false;
  }
  return true;
}

}  // namespace

void JoinIfOneCut(const Case& c, const LinkEvidence& links, std::vector<Finding>& hosts) {
  if (hosts.size() < 2) return;
  std::set<int> cut;
  for (const Finding& finding : hosts) cut.insert(HostOf(c, finding));
  for (Finding& finding : hosts) {
    if (!HasNicWithoutCarrier(c, HostOf(c, finding))) finding.removable.clear();
  }
  if (!IsOneCut(c, links, cut)) return;
  Finding one = hosts.front();
  one.detail = Detail::kDcnPartition;
  one.why = absl::StrCat("no connection between ", WhoAll(c.topology, {cut.begin(), cut.end()}),
                         " and the others works: something that they share is cut");
  one.evidence = {Evidence(c, Strength::kStrong, {cut.begin(), cut.end()}, one.why)};
  one.culprits.clear();
  one.links.clear();
  for (const Finding& finding : hosts) {
    // Who of them had nothing to send proves the cut less, but does not speak against it.
    one.confidence = std::max(one.confidence, finding.confidence);
    if (one.culprits.size() < kMaxCulprits) {
      Culprit culprit = finding.culprits.front();
      culprit.nic.reset();
      one.culprits.push_back(std::move(culprit));
    }
    one.links.insert(one.links.end(), finding.links.begin(), finding.links.end());
    for (const EvidenceItem& item : finding.evidence) {
      if (one.evidence.size() < kMaxEvidence) one.evidence.push_back(item);
    }
  }
  hosts = {std::move(one)};
}

}  // namespace rapideye::classifier
