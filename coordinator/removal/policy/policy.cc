#include "coordinator/removal/policy/policy.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "coordinator/removal/policy/repetition.h"
#include "proto/common/text/count.h"
#include "proto/common/text/pattern.h"

namespace rapideye::coordinator {
namespace {

constexpr absl::Duration kHour = absl::Hours(1);
constexpr absl::Duration kDay = absl::Hours(24);

// The names by which lists may call a machine.
std::vector<std::string> NamesOf(const Finding& finding) {
  std::vector<std::string> names = {finding.host, finding.machine,
                                    finding.machine.substr(finding.machine.find(':') + 1)};
  if (finding.node.has_value()) names.push_back(*finding.node);
  if (const size_t dot = finding.host.find('.'); dot != std::string::npos) {
    names.push_back(finding.host.substr(0, dot));  // "host" of "host.example.com"
  }
  return names;
}

// True if a hook can take the name for one machine. A comma would make two names of it, and names
// come from the hosts of jobs.
bool NamesOneMachine(std::string_view name) {
  const auto plain = [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_';
  };
  return !name.empty() && absl::ascii_isalnum(static_cast<unsigned char>(name.front())) &&
         std::all_of(name.begin(), name.end(), plain);
}

// The pattern that names the machine; empty: no pattern does.
std::string Named(const Finding& finding, const std::vector<std::string>& patterns) {
  for (const std::string& name : NamesOf(finding)) {
    for (const std::string& pattern : patterns) {
      if (text::MatchesPattern(name, pattern, text::LetterCase::kIgnored)) return pattern;
    }
  }
  return "";
}

std::string Span(absl::Duration span) {
  const int64_t days = span / kDay;
  return days > 0 && span % kDay == absl::ZeroDuration() ? text::Count(days, "day")
                                                         : absl::FormatDuration(span);
}

std::string CauseOf(const Finding& finding) {
  return finding.detail.empty() ? finding.cause : absl::StrCat(finding.cause, " ", finding.detail);
}

std::string LeftOut(const Repetition& repetition) {
  std::string text;
  if (repetition.exonerated > 0) {
    absl::StrAppend(&text, "; ",
                    text::Count(static_cast<int64_t>(repetition.exonerated), "more event"),
                    " not counted: other hardware failed at the same coordinate, too");
  }
  if (repetition.two_ended > 0) {
    absl::StrAppend(&text, "; ",
                    text::Count(static_cast<int64_t>(repetition.two_ended), "ICI event"),
                    " not counted: which end of the link is bad is not known");
  }
  return text;
}

// The cost of removals so far, and the slices of this one.
struct Costs {
  std::set<std::pair<std::string, std::string>> this_hour;  // incident, machine
  std::set<std::pair<std::string, int64_t>> slices;         // job, slice; of the day
  std::set<std::string> of_job, of_fleet;                   // machines that are out
  std::set<std::string> of_everybody;  // of the fleet, also those that other roles accused
};

Costs CostsOf(const Finding& finding, const Facts& facts, const Policy& policy, absl::Time now) {
  Costs costs;
  for (const PastRemoval& removal : facts.removals) {
    if (removal.standing && now - removal.begun.value_or(removal.decided) < policy.window &&
        removal.machine != finding.machine) {
      costs.of_everybody.insert(removal.machine);
    }
    // The cost of one tenant's machines is no reason to keep those of another tenant.
    if (!removal.recorded_by.empty() && removal.recorded_by != finding.recorded_by) continue;
    // A removal that the breaker held up costs the fleet when it begins, not when it was decided.
    // A removal that bears a later time than now has yet to begin, or was decided by a clock
    // that was ahead: it counts until then, too.
    const absl::Duration age = now - removal.begun.value_or(removal.decided);
    if (age < kHour) costs.this_hour.emplace(removal.incident, removal.machine);
    if (age < kDay) {
      for (const int64_t slice : removal.slices) costs.slices.emplace(removal.job, slice);
    }
    if (!removal.standing || age >= policy.window) continue;
    if (removal.machine == finding.machine) continue;  // no machine is out twice
    costs.of_fleet.insert(removal.machine);
    if (removal.job == finding.job) costs.of_job.insert(removal.machine);
  }
  for (const int64_t slice : finding.slices) costs.slices.emplace(finding.job, slice);
  return costs;
}

// A tenant could say that its job is larger than it is.
int64_t JobHosts(const Finding& finding, const Policy& policy) {
  if (finding.recorded_by.empty()) return finding.job_hosts;
  const auto lines = std::count_if(
      policy.tenant_machines.begin(), policy.tenant_machines.end(),
      [&](const TenantMachine& machine) { return machine.role == finding.recorded_by; });
  return std::min<int64_t>(finding.job_hosts, lines);
}

int64_t Share(double share, int64_t of) {
  // No fleet has so many hosts; a peer's number must not overflow.
  constexpr double kMost = 1e9;
  return std::max<int64_t>(
      1, static_cast<int64_t>(std::clamp(share * static_cast<double>(of), 0.0, kMost)));
}

// One decision; the steps stand in the order in which they decide.
class Judge {
 public:
  Judge(const Finding& finding, const Facts& facts, const Policy& policy, absl::Time now)
      : finding_(finding), facts_(facts), policy_(policy), now_(now) {}

  Decision Run();

 private:
  bool Say(Action action, const char* rule, std::string reason);
  bool Watch(const char* rule, std::string reason);
  bool Refuse(const char* rule, const std::string& reason) {
    return Say(Action::kRefuse, rule, absl::StrCat("due (", decision_.reason, "), but ", reason));
  }
  bool RefuseForBudget(const char* rule, const std::string& reason);

  // Leaves the reason in `decision_`.
  bool EvidenceSuffices();
  bool OutOfTime();
  bool RepetitionSuffices();
  bool Forbidden();
  bool OverBudget();

  const Finding& finding_;
  const Facts& facts_;
  const Policy& policy_;
  const absl::Time now_;
  Decision decision_;
};

Decision Judge::Run() {
  decision_.expires = std::min(finding_.at, now_) + policy_.decision_lifetime;
  if (!EvidenceSuffices() || Forbidden() || OverBudget()) return std::move(decision_);
  decision_.action = Action::kRemove;
  return std::move(decision_);
}

bool Judge::Say(Action action, const char* rule, std::string reason) {
  decision_.action = action;
  decision_.rule = rule;
  decision_.reason = std::move(reason);
  return true;
}

bool Judge::Watch(const char* rule, std::string reason) {
  Say(Action::kWatch, rule, std::move(reason));
  return false;
}

bool Judge::RefuseForBudget(const char* rule, const std::string& reason) {
  decision_.budget_hit = true;
  return Refuse(rule, absl::StrCat(reason,
                                   ": no more removals until an operator allows them (rapideye "
                                   "fleet breaker close --removal=",
                                   std::string(RemovalModeName(policy_.mode)), ")"));
}

bool Judge::EvidenceSuffices() {
  if (!MayAccuse(finding_, policy_)) {
    return Watch("tenant", absl::StrCat("recorded by ", finding_.recorded_by,
                                        ", which may not accuse this machine "
                                        "(--tenant-machines)"));
  }
  const Grounds claimed = finding_.recorded_by.empty()
                              ? finding_.grounds
                              : std::min(finding_.grounds, Grounds::kRepetition);
  switch (GroundsAllowed(finding_.cause, finding_.detail, claimed)) {
    case Grounds::kNever:
      return Watch("cause", absl::StrCat("no host is ever removed for ", CauseOf(finding_)));
    case Grounds::kDirect:
      if (OutOfTime()) return false;
      return Say(Action::kWatch, "direct",
                 absl::StrCat(CauseOf(finding_), " with evidence from beyond the job's reach"));
    case Grounds::kRepetition:
      if (OutOfTime()) return false;
      break;
  }
  if (!facts_.all_events) {
    return Watch("too-many-events",
                 "more happened on this machine and where it stood than can be weighed: look "
                 "at it (rapideye fleet history)");
  }
  return RepetitionSuffices();
}

bool Judge::OutOfTime() {
  // An honest clock may be ahead of ours, but not by so much. A wrong clock would keep an event
  // in every window, and let it outlive every repair.
  if (finding_.at > now_ + kDay) {
    Watch("future", "it bears a time that has yet to come: look at the clocks");
    return true;
  }
  if (!facts_.forgotten.has_value() || finding_.at > *facts_.forgotten) return false;
  Watch("forgotten", "the machine was repaired, or forgotten, since");
  return true;
}

bool Judge::RepetitionSuffices() {
  const Repetition repetition =
      CountRepetition(finding_.machine, facts_.events, now_ - policy_.window, now_ + kDay);
  const auto counted = static_cast<int64_t>(repetition.counted.size());
  const std::string count = absl::StrCat(text::Count(counted, "hang event"), " on this machine in ",
                                         Span(policy_.window));
  if (counted > policy_.repetitions && !repetition.counted.contains(finding_.incident)) {
    return Watch("repetition",
                 absl::StrCat(count, ", but this one does not count", LeftOut(repetition)));
  }
  if (counted <= policy_.repetitions) {
    return Watch("repetition", absl::StrCat(count, ", more than ", policy_.repetitions,
                                            " are needed", LeftOut(repetition)));
  }
  if (!repetition.independent) {
    return Watch("independence",
                 absl::StrCat(count,
                              ", all at the same coordinate and in related programs: it "
                              "may be the program",
                              LeftOut(repetition)));
  }
  return Say(Action::kWatch, "repetition",
             absl::StrCat(count, ", at different coordinates or in unrelated programs",
                          LeftOut(repetition)));
}

bool Judge::Forbidden() {
  if (policy_.mode == RemovalMode::kOff) return Refuse("off", "removal is switched off");
  if (const auto objection = ObjectionTo(finding_, policy_); objection.has_value()) {
    return Refuse(objection->rule.c_str(), objection->reason);
  }
  if (facts_.name_taken_by.has_value() && !policy_.stable_names) {
    return Refuse("name-taken", absl::StrCat("its name is borne by ", *facts_.name_taken_by,
                                             ", too: a removal could hit that one"));
  }
  if (decision_.expires <= now_) {
    return Refuse("expired", absl::StrCat("the incident is older than ",
                                          absl::FormatDuration(policy_.decision_lifetime)));
  }
  for (const PastRemoval& removal : facts_.removals) {
    if (removal.standing && !removal.given_up && removal.machine == finding_.machine &&
        now_ - removal.decided < policy_.window) {
      return Refuse("removed", absl::StrCat("its removal was decided for incident ",
                                            removal.incident, ", once in ", Span(policy_.window)));
    }
  }
  if (facts_.breaker.open) {
    return Refuse("breaker",
                  absl::StrCat("all removals are stopped since ",
                               absl::FormatTime(facts_.breaker.since, absl::UTCTimeZone()), ": ",
                               facts_.breaker.reason));
  }
  return false;
}

bool Judge::OverBudget() {
  const Costs costs = CostsOf(finding_, facts_, policy_, now_);
  const auto one_more = [](const auto& set) { return static_cast<int64_t>(set.size()) + 1; };
  if (one_more(costs.this_hour) > policy_.max_hosts_an_hour) {
    return RefuseForBudget(
        "hosts-an-hour",
        absl::StrCat(text::Count(policy_.max_hosts_an_hour, "host"), " an hour may be removed"));
  }
  if (static_cast<int64_t>(costs.slices.size()) > policy_.max_slices_a_day) {
    return RefuseForBudget(
        "slices-a-day",
        absl::StrCat(text::Count(policy_.max_slices_a_day, "slice"), " a day may be lost"));
  }
  const int64_t job_hosts = JobHosts(finding_, policy_);
  const int64_t job_limit = Share(policy_.max_share_of_job, job_hosts);
  if (one_more(costs.of_job) > job_limit) {
    return RefuseForBudget("share-of-job",
                           absl::StrCat(job_limit, " of the ", text::Count(job_hosts, "host"),
                                        " of job ", finding_.job, " may be out"));
  }
  const int64_t fleet = policy_.fleet_hosts.value_or(facts_.largest_job_hosts);
  const int64_t fleet_limit = Share(policy_.max_share_of_fleet, fleet);
  const std::string of_fleet =
      absl::StrCat(fleet_limit, " of the ", text::Count(fleet, "host"), " of the fleet may be out");
  if (one_more(costs.of_fleet) > fleet_limit) return RefuseForBudget("share-of-fleet", of_fleet);
  // Machines that other roles accused are out as well, and no reason to open the breaker.
  if (one_more(costs.of_everybody) > fleet_limit) return Refuse("share-of-fleet", of_fleet);
  return false;
}

}  // namespace

bool MayAccuse(const Finding& finding, const Policy& policy) {
  if (finding.recorded_by.empty()) return true;
  // Hooks act on host and node, the history remembers the key: all of these have to name one
  // machine, or a tenant would remove a machine of another under the name of its own.
  if (!finding.key_fits || finding.names.empty()) return false;
  return std::any_of(policy.tenant_machines.begin(), policy.tenant_machines.end(),
                     [&](const TenantMachine& machine) {
                       return machine.role == finding.recorded_by &&
                              std::all_of(finding.names.begin(), finding.names.end(),
                                          [&](const std::string& name) {
                                            return std::any_of(
                                                machine.names.begin(), machine.names.end(),
                                                [&](const std::string& pattern) {
                                                  return text::MatchesPattern(
                                                      name, pattern, text::LetterCase::kIgnored);
                                                });
                                          });
                     });
}

std::optional<Objection> ObjectionTo(const Finding& finding, const Policy& policy) {
  if (!NamesOneMachine(finding.host) ||
      (finding.node.has_value() && !NamesOneMachine(*finding.node))) {
    return Objection{"bad-name", "what it calls itself cannot be the name of one machine"};
  }
  if (KnownByNameOnly(finding.machine) && !policy.stable_names) {
    return Objection{"name-only",
                     "only a host name is known, which another machine may bear by now"};
  }
  if (const std::string pattern = Named(finding, policy.deny); !pattern.empty()) {
    return Objection{"deny", absl::StrCat("it may not be removed (", pattern, ")")};
  }
  if (!policy.allow.empty() && Named(finding, policy.allow).empty()) {
    return Objection{"allow", "it is none of those that may be removed"};
  }
  return std::nullopt;
}

absl::Time FactsSince(const Policy& policy, absl::Time now) {
  return now - std::max(policy.window, kDay);
}

Decision Decide(const Finding& finding, const Facts& facts, const Policy& policy, absl::Time now) {
  return Judge(finding, facts, policy, now).Run();
}

}  // namespace rapideye::coordinator
