#include "classifier/logs/worker_names.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/common/text/host_name.h"

namespace rapideye::logs {
namespace {

// A number in a name and the word in front of it: "rank" and 3 of "rank-3".
struct Number {
  std::string word;  // lower case, without a plural's s; empty: it follows a number
  int32_t value = 0;
  bool behind_number = false;
};

bool IsLetter(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); }

std::string Word(absl::string_view letters) {
  std::string word = absl::AsciiStrToLower(letters);
  if (word.size() > 3 && word.back() == 's' && word != "process") word.pop_back();
  return word;
}

std::vector<Number> NumbersOf(absl::string_view name) {
  std::vector<Number> numbers;
  std::string word;
  bool behind_number = false;
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    while (end < name.size() && (absl::ascii_isdigit(name[end]) || IsLetter(name[end]))) ++end;
    absl::string_view part = name.substr(at, end - at);
    at = end + 1;
    if (part.empty()) continue;
    const size_t letters =
        std::find_if(part.begin(), part.end(), absl::ascii_isdigit) - part.begin();
    if (letters > 0) {
      // A part such as "x2k2q" is random.
      const absl::string_view rest = part.substr(letters);
      if (!std::all_of(rest.begin(), rest.end(), absl::ascii_isdigit)) continue;
      word = Word(part.substr(0, letters));
      behind_number = false;
      part = rest;
      if (part.empty()) continue;
    }
    int32_t value = 0;
    if (!absl::SimpleAtoi(part, &value) || value > kMaxWorkerNumber) continue;
    numbers.push_back({behind_number ? "" : word, value, behind_number});
    behind_number = true;
  }
  return numbers;
}

// The words that stand before the number of a worker, the surest first.
constexpr std::array<absl::string_view, 12> kTaskWords = {
    "rank", "task", "process", "proc", "worker", "pod", "replica", "host", "w", "node", "r", "p"};
// Behind these words the last two numbers are the slice and the task, as JobSet names its pods.
constexpr std::array<absl::string_view, 5> kPodWords = {"slice", "worker", "pod", "replica",
                                                        "host"};

bool IsOfMachine(absl::string_view word) { return word == "host" || word == "node"; }

// The worker that a name tells by the words before its numbers.
std::optional<WorkerId> ByWords(const std::vector<Number>& numbers) {
  const auto behind = [&](absl::string_view word) {
    return std::find_if(numbers.begin(), numbers.end(),
                        [word](const Number& number) { return number.word == word; });
  };
  for (absl::string_view word : kPodWords) {
    const auto first = behind(word);
    if (first == numbers.end() || first + 1 == numbers.end()) continue;
    if ((first + 1)->behind_number) return WorkerId{first->value, (first + 1)->value};
  }
  const auto slice = behind("slice");
  for (absl::string_view word : kTaskWords) {
    const auto task = behind(word);
    if (task == numbers.end()) continue;
    const bool ranks = word == "rank" || slice == numbers.end();
    return WorkerId{ranks ? 0 : slice->value, task->value};
  }
  return std::nullopt;
}

using Places = std::vector<std::optional<WorkerId>>;

size_t Distinct(const Places& places) {
  std::set<WorkerId> distinct;
  for (const auto& place : places) {
    if (place.has_value()) distinct.insert(*place);
  }
  return distinct.size();
}

bool AreAllKnown(const Places& places) {
  return std::all_of(places.begin(), places.end(), [](const auto& p) { return p.has_value(); });
}

// Takes the numbers in which names of the same form differ.
Places ByDifference(const std::vector<std::vector<Number>>& names) {
  Places places(names.size());
  const size_t count = names.front().size();
  std::vector<size_t> differing;
  for (const auto& numbers : names) {
    if (numbers.size() != count) return places;
  }
  for (size_t i = 0; i < count; ++i) {
    const bool same = std::all_of(names.begin(), names.end(), [&](const auto& numbers) {
      return numbers[i].value == names.front()[i].value;
    });
    if (!same) differing.push_back(i);
  }
  if (differing.empty()) return places;
  const size_t task = differing.back();
  const std::optional<size_t> slice =
      differing.size() > 1 ? std::optional(differing[differing.size() - 2]) : std::nullopt;
  for (size_t i = 0; i < names.size(); ++i) {
    places[i] = WorkerId{slice ? names[i][*slice].value : 0, names[i][task].value};
  }
  return places;
}

// Machines are often counted from 1, ranks and pods never.
void CountFromZero(Places& places) {
  std::set<int32_t> tasks;
  for (const auto& place : places) {
    if (!place.has_value() || place->slice != 0) return;
    tasks.insert(place->task);
  }
  if (tasks.empty() || *tasks.begin() != 1) return;
  for (auto& place : places) --place->task;
}

// Operators of Kubernetes for PyTorch and TensorFlow count the master, or the chief, apart from the
// workers: it is rank 0, and worker 0 is rank 1. Unknown places: there is none.
Places ByRoles(const std::vector<std::vector<Number>>& names) {
  Places places(names.size());
  bool master = false;
  bool worker = false;
  for (size_t i = 0; i < names.size(); ++i) {
    for (const Number& number : names[i]) {
      const bool first = number.word == "master" || number.word == "chief";
      if (!first && number.word != "worker") continue;
      places[i] = WorkerId{0, first ? number.value : number.value + 1};
      (first ? master : worker) = true;
    }
  }
  return master && worker ? places : Places(names.size());
}

// Addresses are no numbers of workers: hosts are counted in the order of theirs ("10.0.0.12.log",
// "ip-10-0-0-12"). Unknown places: not every name has one, or all have the same.
Places ByAddresses(const std::vector<std::string>& names) {
  static const RE2* const kAddress =
      new RE2("(?:^|\\D)(\\d{1,3})[.-](\\d{1,3})[.-](\\d{1,3})[.-](\\d{1,3})(?:\\D|$)");
  using Address = std::array<int32_t, 4>;
  std::vector<Address> addresses;
  std::map<Address, int32_t> order;
  Places places(names.size());
  for (const std::string& name : names) {
    Address& one = addresses.emplace_back();
    if (!RE2::PartialMatch(name, *kAddress, &one[0], &one[1], &one[2], &one[3])) return places;
    if (*std::max_element(one.begin(), one.end()) > 255) return places;
    order.emplace(one, 0);
  }
  if (order.size() < 2) return places;
  int32_t place = 0;
  for (auto& [address, task] : order) task = place++;
  for (size_t i = 0; i < names.size(); ++i) places[i] = WorkerId{0, order.at(addresses[i])};
  return places;
}

Places ByNumbers(const std::vector<std::string>& names) {
  std::vector<std::vector<Number>> numbers;
  Places by_words;
  bool of_machines = names.size() > 1;
  for (const std::string& name : names) {
    numbers.push_back(NumbersOf(name));
    by_words.push_back(ByWords(numbers.back()));
    of_machines = of_machines && std::all_of(numbers.back().begin(), numbers.back().end(),
                                             [](const Number& n) { return IsOfMachine(n.word); });
  }
  if (const Places by_roles = ByRoles(numbers); AreAllKnown(by_roles)) return by_roles;
  const bool told = AreAllKnown(by_words);
  if (told && (names.size() == 1 || Distinct(by_words) == names.size())) {
    if (of_machines) CountFromZero(by_words);
    return by_words;
  }
  if (Places by_addresses = ByAddresses(names); !told && AreAllKnown(by_addresses)) {
    return by_addresses;
  }
  Places by_difference = ByDifference(numbers);
  if (!told) CountFromZero(by_difference);
  // Several files may belong to one worker, for example its two outputs.
  const bool better =
      AreAllKnown(by_difference) && (!told || Distinct(by_difference) > Distinct(by_words));
  if (better) return by_difference;
  if (told) return by_words;
  return Places(names.size());
}

absl::string_view BaseName(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? path : path.substr(slash + 1);
}

// Uses the folders if the names of the files do not tell: "2/stdout.log".
Places ByNames(const std::vector<std::string>& names) {
  std::vector<std::string> short_names;
  for (const std::string& name : names) short_names.emplace_back(BaseName(name));
  Places places = ByNumbers(short_names);
  if (AreAllKnown(places) && (names.size() == 1 || Distinct(places) > 1)) return places;
  // Of one log, the outer folders tell the user and the machine on which it is read.
  if (names.size() == 1) {
    const absl::string_view folders(names.front().data(), names.front().rfind('/') + 1);
    return ByNumbers({std::string(BaseName(absl::StripSuffix(folders, "/")))});
  }
  Places of_paths = ByNumbers(names);
  return Distinct(of_paths) > Distinct(places) ? of_paths : places;
}

// A file without a number beside those of workers that are counted from 0 is of no worker: events
// of the cluster, the log of a launcher. A master's may be that of one.
Places ByNamesOfWorkers(const std::vector<std::string>& names) {
  static const RE2* const kMaster = new RE2("(?i)master|chief|head|main|leader|primary");
  Places places = ByNames(names);
  if (AreAllKnown(places)) return places;
  std::vector<std::string> counted;
  std::vector<size_t> at;
  for (size_t i = 0; i < names.size(); ++i) {
    const absl::string_view stem = FileStem(names[i]);
    const bool has_number = !NumbersOf(stem).empty();
    if (!has_number && RE2::PartialMatch({stem.data(), stem.size()}, *kMaster)) return places;
    if (!has_number) continue;
    counted.push_back(names[i]);
    at.push_back(i);
  }
  if (counted.size() < 2 || counted.size() == names.size()) return places;
  const Places of_counted = ByNames(counted);
  if (!AreAllKnown(of_counted) || Distinct(of_counted) != counted.size()) return places;
  if ((*std::min_element(of_counted.begin(), of_counted.end()))->task != 0) return places;
  for (size_t k = 0; k < at.size(); ++k) places[at[k]] = of_counted[k];
  return places;
}

std::optional<WorkerId> ByPattern(const LogName& name, const re2::RE2& pattern) {
  const std::string label = name.label ? absl::StrCat(*name.label) : "";
  for (const std::string& text : {label, name.host, name.pod, name.path}) {
    if (text.empty()) continue;
    const int count = pattern.NumberOfCapturingGroups();
    std::vector<re2::StringPiece> groups(static_cast<size_t>(count) + 1);
    if (!pattern.Match(text, 0, text.size(), RE2::UNANCHORED, groups.data(), count + 1)) continue;
    const auto number = [&](int group) -> std::optional<int32_t> {
      const re2::StringPiece& found = groups[static_cast<size_t>(group)];
      int32_t value = 0;
      const bool read = absl::SimpleAtoi(absl::string_view(found.data(), found.size()), &value);
      return read && value >= 0 && value <= kMaxWorkerNumber ? std::optional(value) : std::nullopt;
    };
    const auto& named = pattern.NamedCapturingGroups();
    const auto of = [&](const char* group) -> std::optional<int32_t> {
      const auto found = named.find(group);
      return found == named.end() ? std::nullopt : number(found->second);
    };
    std::optional<int32_t> task = of("rank");
    if (!task) task = of("task");
    if (!task && named.empty()) task = number(1);
    if (task) return WorkerId{of("rank") ? 0 : of("slice").value_or(0), *task};
  }
  return std::nullopt;
}

// True if every log tells its own rank, each a different one: then ranks are surer than names.
bool TellThemselves(absl::Span<const LogName> names) {
  std::set<int32_t> said;
  size_t asked = 0;
  for (const LogName& name : names) {
    if (name.of_nobody) continue;
    ++asked;
    if (name.said) said.insert(*name.said);
  }
  return asked > 0 && said.size() == asked;
}

}  // namespace

absl::string_view FileStem(absl::string_view path) {
  absl::string_view name = BaseName(path);
  for (const char* ending : {".gz", ".log", ".txt", ".out", ".err", ".json", ".jsonl"}) {
    name = absl::StripSuffix(name, ending);
  }
  return name;
}

absl::Status CheckWorkerPattern(const re2::RE2& pattern) {
  if (!pattern.ok()) return absl::InvalidArgumentError(pattern.error());
  const auto& named = pattern.NamedCapturingGroups();
  const bool known = std::all_of(named.begin(), named.end(), [](const auto& group) {
    return group.first == "slice" || group.first == "task" || group.first == "rank";
  });
  const bool tells = named.count("rank") > 0 || named.count("task") > 0;
  if (named.empty() ? pattern.NumberOfCapturingGroups() == 1 : known && tells) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "it needs one group around the worker's number, or groups named rank, or slice and task, "
      "e.g. 'host(\\d+)' or 's(?P<slice>\\d+)-w(?P<task>\\d+)'");
}

namespace {

// 1 if the names count from 1, as a comparison with the ranks that some logs tell shows.
int32_t FirstNumber(absl::Span<const LogName> names, const std::vector<size_t>& open,
                    const Places& by_names) {
  std::optional<int32_t> first;
  for (size_t k = 0; k < open.size(); ++k) {
    const std::optional<int32_t>& said = names[open[k]].said;
    if (!said || !by_names[k]) continue;
    const int32_t difference = by_names[k]->task - *said;
    if (by_names[k]->slice != 0 || first.value_or(difference) != difference) return 0;
    first = difference;
  }
  return first == 1 ? 1 : 0;
}

}  // namespace

namespace {

// The parts of a host's name: numbers compare as numbers, so that "node10" follows "node9".
std::vector<std::pair<int64_t, std::string>> InOrder(absl::string_view host) {
  std::vector<std::pair<int64_t, std::string>> parts;
  while (!host.empty()) {
    const size_t end =
        std::find_if(
            host.begin(), host.end(),
            [&](char c) { return absl::ascii_isdigit(c) != absl::ascii_isdigit(host.front()); }) -
        host.begin();
    int64_t value = -1;
    if (!absl::SimpleAtoi(host.substr(0, end), &value)) value = -1;
    parts.emplace_back(value, std::string(host.substr(0, end)));
    host.remove_prefix(end);
  }
  return parts;
}

// The hosts that share a log, in order.
std::map<std::vector<std::pair<int64_t, std::string>>, int32_t> HostsOf(
    absl::Span<const LogName> names) {
  std::map<std::vector<std::pair<int64_t, std::string>>, int32_t> hosts;
  for (const LogName& name : names) {
    if (!name.host.empty()) hosts.emplace(InOrder(name.host), 0);
  }
  int32_t place = 0;
  for (auto& [host, task] : hosts) task = place++;
  return hosts;
}

// False if a host speaks for several ranks, or two processes tell the same rank: then the labels
// before the lines tell no ranks.
bool OneRankEach(absl::Span<const LogName> names) {
  std::set<int32_t> said;
  return std::all_of(names.begin(), names.end(), [&](const LogName& name) {
    if (name.process) return !name.of_nobody && (!name.said || said.insert(*name.said).second);
    return name.host.empty() || !name.of_nobody;
  });
}

}  // namespace

std::vector<std::optional<WorkerId>> WhoseLogs(absl::Span<const LogName> names,
                                               const re2::RE2* pattern) {
  const auto hosts = HostsOf(names);
  const bool one_rank_each = OneRankEach(names);
  Places places(names.size());
  std::vector<size_t> open;
  const bool tell_themselves = TellThemselves(names);
  for (size_t i = 0; i < names.size(); ++i) {
    const LogName& name = names[i];
    if (name.of_nobody) continue;
    if (pattern != nullptr) places[i] = ByPattern(name, *pattern);
    if (places[i].has_value()) continue;
    if (name.label) {
      places[i] = WorkerId{0, *name.label};
    } else if (name.process || !name.host.empty()) {
      if (!one_rank_each) continue;
      if (name.said && (name.process || tell_themselves)) places[i] = WorkerId{0, *name.said};
      if (!places[i] && !name.process) places[i] = WorkerId{0, hosts.at(InOrder(name.host))};
    } else if (name.index && name.slice) {
      places[i] = WorkerId{*name.slice, *name.index};
    } else {
      open.push_back(i);
    }
  }
  std::vector<std::string> open_names;
  for (size_t i : open) open_names.push_back(names[i].pod.empty() ? names[i].path : names[i].pod);
  const Places by_names = open.empty() ? Places() : ByNamesOfWorkers(open_names);
  const int32_t first_number = FirstNumber(names, open, by_names);
  std::set<int32_t> slices;
  for (const auto& place : by_names) slices.insert(place ? place->slice : 0);
  for (size_t k = 0; k < open.size(); ++k) {
    const LogName& name = names[open[k]];
    std::optional<WorkerId>& place = places[open[k]];
    place = by_names[k];
    if (place && place->task >= first_number) place->task -= first_number;
    // The platform's index counts within its slice.
    if (name.index) place = WorkerId{place ? place->slice : 0, *name.index};
    const bool one_slice = slices.size() <= 1;
    if (name.said && (!place || (tell_themselves && one_slice))) place = WorkerId{0, *name.said};
  }
  return places;
}

namespace {

// True if the log is of this machine.
bool IsOf(const LogName& name, const std::string& host) {
  const absl::string_view file = FileStem(name.path);
  const std::array<std::string_view, 3> own = {name.host, name.pod, {file.data(), file.size()}};
  return std::any_of(own.begin(), own.end(), [&host](std::string_view one) {
    return text::AreOneHost(one, host) || text::ArePodAndHost(one, host);
  });
}

bool IsAddress(const std::string& host) { return std::none_of(host.begin(), host.end(), IsLetter); }

// The worker by the last number of its machine's name, or, as numbers of addresses count nothing,
// the one behind all that have logs.
std::optional<WorkerId> ByLastNumber(const std::string& host, const Places& workers) {
  if (!IsAddress(host)) {
    const std::vector<Number> numbers = NumbersOf(host);
    return numbers.empty() ? std::nullopt : std::optional(WorkerId{0, numbers.back().value});
  }
  int32_t last = 0;
  for (const auto& worker : workers) last = std::max(last, worker ? worker->task : 0);
  return WorkerId{0, last + 1};
}

}  // namespace

std::map<WorkerId, std::string> WithoutLog(const std::set<std::string>& hosts,
                                           absl::Span<const LogName> names,
                                           const std::vector<std::optional<WorkerId>>& workers,
                                           const re2::RE2* pattern) {
  const bool all_open = std::none_of(workers.begin(), workers.end(), [](auto& w) { return w; });
  const auto spoken = HostsOf(names);
  std::map<WorkerId, std::string> without;
  std::vector<LogName> all(names.begin(), names.end());
  for (const std::string& host : hosts) {
    const auto of_host = [&host](const LogName& name) { return IsOf(name, host); };
    if (std::none_of(names.begin(), names.end(), of_host)) {
      all.emplace_back().pod = IsAddress(host) ? host : host.substr(0, host.find('.'));
    } else if (const auto place = spoken.find(InOrder(host)); all_open && place != spoken.end()) {
      // The processes on it are no ranks, as those of Ray.
      without.emplace(WorkerId{0, place->second}, host);
    }
  }
  std::vector<std::optional<WorkerId>> places = WhoseLogs(all, pattern);
  const auto with_log = places.begin() + static_cast<std::ptrdiff_t>(names.size());
  if (!std::equal(places.begin(), with_log, workers.begin(), workers.end()) ||
      std::any_of(with_log, places.end(), [](const auto& place) { return !place; })) {
    for (size_t i = names.size(); i < all.size(); ++i) {
      places[i] = ByLastNumber(all[i].pod, workers);
    }
  }
  for (size_t i = names.size(); i < all.size(); ++i) {
    const bool taken = std::find(workers.begin(), workers.end(), places[i]) != workers.end();
    if (places[i] && !taken) without.emplace(*places[i], all[i].pod);
  }
  return without;
}

}  // namespace rapideye::logs
