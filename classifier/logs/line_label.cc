#include "classifier/logs/line_label.h"

#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "classifier/logs/line_time.h"
#include "classifier/logs/recognise.h"

namespace rapideye::logs {
namespace {

constexpr size_t kMaxRankDigits = 6;
constexpr size_t kMaxReplicaBytes = 64;
constexpr size_t kMaxRayLabelBytes = 256;
constexpr size_t kMaxHostBytes = 63;
constexpr size_t kMaxPodBytes = 253;  // Kubernetes allows no more
// pdsh and grep label every line; a shell's or a launcher's own lines may stand between.
constexpr double kHostLines = 0.9;
// The year that a line without a year is given.
constexpr int64_t kNoYear = 1972;

// Reads a rank at `at`, and moves `at` behind it.
std::optional<int32_t> TakeRank(absl::string_view line, size_t& at) {
  const size_t begin = at;
  while (at < line.size() && absl::ascii_isdigit(static_cast<unsigned char>(line[at]))) ++at;
  int32_t rank = 0;
  if (at == begin || at - begin > kMaxRankDigits) return std::nullopt;
  if (!absl::SimpleAtoi(line.substr(begin, at - begin), &rank)) return std::nullopt;
  return rank;
}

// Moves `at` behind the words if they stand at `at`.
bool Accept(absl::string_view line, absl::string_view words, size_t& at) {
  if (!absl::StartsWith(line.substr(std::min(at, line.size())), words)) return false;
  at += words.size();
  return true;
}

std::optional<LineLabel> TakeNumberLabel(absl::string_view line) {
  size_t at = line.find_first_not_of(' ');
  if (at == absl::string_view::npos) return std::nullopt;
  LineLabel label;
  label.rank = TakeRank(line, at);
  if (!label.rank || !Accept(line, ":", at)) return std::nullopt;
  // "11:26:39" is a time and no label.
  if (at < line.size() && !Accept(line, " ", at)) return std::nullopt;
  label.text = at;
  return label;
}

std::optional<LineLabel> TakePod(absl::string_view line) {
  size_t at = 0;
  if (!Accept(line, "[pod/", at)) return std::nullopt;
  const size_t end = line.find(']');
  if (end == absl::string_view::npos) return std::nullopt;
  LineLabel label;
  label.pod = line.substr(at, end - at);
  label.text = end + 1;
  Accept(line, " ", label.text);
  return label;
}

// Reads a time with its year at `at`, and moves `at` behind it: kubectl, the platform or a job's
// runner has put the time before the launcher's label.
std::optional<int64_t> AcceptTime(absl::string_view line, size_t& at) {
  if (line.empty() || !absl::ascii_isdigit(static_cast<unsigned char>(line.front()))) {
    return std::nullopt;
  }
  const std::optional<LineTime> time = TakeLineTime(line, kNoYear);
  if (!time || time->text == 0 || YearOf(time->unix_ms) == kNoYear) return std::nullopt;
  at = time->text;
  // OpenPAI: "2019-06-02T16:13:44.884Z: text".
  Accept(line, ": ", at);
  return time->unix_ms;
}

std::optional<LineLabel> TakeTag(absl::string_view line) {
  size_t at = 0;
  LineLabel label;
  label.unix_ms = AcceptTime(line, at);
  if (!Accept(line, "[", at) || !TakeRank(line, at) || !Accept(line, ",", at)) return std::nullopt;
  // SageMaker: "[1,mpirank:3,algo-2]<stdout>:text".
  const bool named = Accept(line, "mpirank:", at);
  label.rank = TakeRank(line, at);
  if (named) at = std::min(line.substr(0, at + kMaxHostBytes).find(']', at), line.size());
  const bool output = label.rank && Accept(line, "]<std", at);
  if (!output || !(Accept(line, "out>:", at) || Accept(line, "err>:", at))) return std::nullopt;
  label.text = at;
  return label;
}

std::optional<LineLabel> TakeBracket(absl::string_view line) {
  size_t at = 0;
  LineLabel label;
  label.unix_ms = AcceptTime(line, at);
  // "trainer/0 [rank1]: text": the scheduler's name of the replica.
  if (at < line.size() && line[at] != '[') {
    const size_t space = line.substr(0, at + kMaxReplicaBytes).find(" [", at);
    if (space == absl::string_view::npos ||
        line.substr(at, space - at).find_first_of("/") == absl::string_view::npos ||
        line.substr(at, space - at).find_first_of(" :") != absl::string_view::npos) {
      return std::nullopt;
    }
    at = space + 1;
  }
  const bool local = Accept(line, "[default", at);
  if (!local && !Accept(line, "[rank", at)) return std::nullopt;
  label.rank = TakeRank(line, at);
  if (!label.rank || !Accept(line, "]:", at)) return std::nullopt;
  // The first number is the rank on its host, the second the rank in the job.
  if (size_t inner = at; local && Accept(line, "[rank", inner)) {
    const std::optional<int32_t> rank = TakeRank(line, inner);
    if (rank && Accept(line, "]:", inner)) {
      label.rank = rank;
      at = inner;
    }
  }
  Accept(line, " ", at);
  label.text = at;
  return label;
}

// "(RayTrainWorker pid=954, ip=10.0.0.2) text"; the process's own label may follow Ray's.
std::optional<LineLabel> TakeRay(absl::string_view line) {
  static const RE2* const kRay = new RE2(
      "^(?:\\([\\w:. -]{1,64} pid=\\d{1,9}\\) )?"
      "\\([\\w:. -]{1,64} pid=(\\d{1,9})(?:, ip=([\\w.:-]{1,63}))?\\) ?");
  re2::StringPiece text(line.data(), std::min(line.size(), kMaxRayLabelBytes));
  const size_t size = text.size();
  std::string pid;
  std::string ip;
  if (!RE2::Consume(&text, *kRay, &pid, &ip)) return std::nullopt;
  LineLabel label;
  label.process = absl::StrCat(ip, "/", pid);
  label.text = size - text.size();
  return label;
}

std::optional<LineLabel> TakeXlaDist(absl::string_view line) {
  static const RE2* const kHost = new RE2("^[\\w.-]{1,63} \\[(\\d{1,6})\\](?: |$)");
  size_t at = 0;
  LineLabel label;
  label.unix_ms = AcceptTime(line, at);
  if (!label.unix_ms) return std::nullopt;
  at = std::min(line.find_first_not_of(' ', at), line.size());
  re2::StringPiece text(line.data() + at, line.size() - at);
  const size_t size = text.size();
  int32_t rank = 0;
  if (!RE2::Consume(&text, *kHost, &rank)) return std::nullopt;
  label.rank = rank;
  label.text = at + size - text.size();
  return label;
}

// A name with a number, which is the number of a machine rather than of a step or a device.
bool IsHost(absl::string_view name) {
  static const RE2* const kAddress = new RE2("(?:\\d{1,3}\\.){3}\\d{1,3}");
  static const RE2* const kHost = new RE2("([A-Za-z]+)[A-Za-z0-9.-]*\\d[A-Za-z0-9.-]*");
  static const RE2* const kOther = new RE2(
      "(?i)(?:gpu|tpu|cuda|device|dev|chip|core|cpu|thread|layer|block|head|expert|stage|shard|"
      "step|"
      "iter|iteration|epoch|batch|round|rank|pid|fold|seed|run|trial|test|line|case|frame|e|i|w|f)"
      "[_.-]?\\d{1,9}");
  const re2::StringPiece text(name.data(), name.size());
  if (RE2::FullMatch(text, *kAddress)) return true;
  if (RE2::FullMatch(text, *kOther)) {
    // "gpu003" is a machine, "gpu3" a device.
    return absl::StartsWithIgnoreCase(name, "gpu") && name.size() >= 6;
  }
  return RE2::FullMatch(text, *kHost);
}

std::optional<LineLabel> TakeHost(absl::string_view line) {
  const size_t end = line.substr(0, kMaxHostBytes + 1).find(':');
  if (end == absl::string_view::npos || end == 0) return std::nullopt;
  if (end + 1 < line.size() && line[end + 1] != ' ') return std::nullopt;
  if (!IsHost(line.substr(0, end))) return std::nullopt;
  LineLabel label;
  label.host = line.substr(0, end);
  label.text = std::min(end + 2, line.size());
  return label;
}

std::optional<LineLabel> TakeBar(absl::string_view line) {
  const size_t end = line.substr(0, kMaxHostBytes + 1).find_first_of(" |");
  if (end == absl::string_view::npos || !IsHost(line.substr(0, end))) return std::nullopt;
  // Names are filled up to the length of the longest.
  size_t at = std::min(line.find_first_not_of(' ', end), line.size());
  if (!Accept(line, "|", at)) return std::nullopt;
  Accept(line, " ", at);
  LineLabel label;
  label.host = line.substr(0, end);
  label.text = at;
  return label;
}

std::optional<LineLabel> TakeTab(absl::string_view line) {
  LineLabel label;
  for (int column = 0; column < 2; ++column) {
    const size_t end = line.find('\t', label.text);
    if (end == absl::string_view::npos) break;
    const absl::string_view words = line.substr(label.text, end - label.text);
    const std::optional<LineTime> time = TakeLineTime(words, kNoYear);
    if (time && YearOf(time->unix_ms) != kNoYear && !label.unix_ms) {
      label.unix_ms = time->unix_ms;
    } else if (label.pod.empty() && words.size() <= kMaxPodBytes && IsHost(words)) {
      label.pod = words;
    } else {
      break;
    }
    label.text = end + 1;
  }
  return label.pod.empty() ? std::nullopt : std::optional(std::move(label));
}

std::optional<LineLabel> TakeStern(absl::string_view line) {
  static const RE2* const kPod =
      new RE2("^([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?-[a-z0-9]+) [a-z](?:[a-z0-9-]*[a-z0-9])?(?: |$)");
  re2::StringPiece text(line.data(), line.size());
  re2::StringPiece pod;
  if (!RE2::Consume(&text, *kPod, &pod)) return std::nullopt;
  LineLabel label;
  label.pod = absl::string_view(pod.data(), pod.size());
  if (label.pod.size() > kMaxPodBytes || !IsHost(label.pod)) return std::nullopt;
  label.text = line.size() - text.size();
  return label;
}

std::optional<LineLabel> TakeJournal(absl::string_view line) {
  static const RE2* const kSource =
      new RE2("^ ?([\\w.-]{1,63}) [\\w./@-]{1,63}(?:\\[\\d{1,9}\\])?:(?: |$)");
  const std::optional<LineTime> time = TakeLineTime(line, kNoYear);
  if (!time || time->text == 0) return std::nullopt;
  re2::StringPiece text(line.data() + time->text, line.size() - time->text);
  re2::StringPiece host;
  if (!RE2::Consume(&text, *kSource, &host)) return std::nullopt;
  LineLabel label;
  label.host = absl::string_view(host.data(), host.size());
  // A host whose name has no number tells no place.
  if (label.host.find_first_of("0123456789") == absl::string_view::npos) return std::nullopt;
  // Where a line says no year, others of the log may: it is read with them.
  label.text = 0;
  return label;
}

std::optional<LineLabel> TakeGrep(absl::string_view line) {
  static const RE2* const kPath =
      new RE2("^([\\w./@+-]*\\d[\\w./@+-]*\\.(?:log|txt|out|err))[:-](?:\\d{1,12}[:-])?");
  re2::StringPiece text(line.data(), line.size());
  re2::StringPiece path;
  if (!RE2::Consume(&text, *kPath, &path)) return std::nullopt;
  LineLabel label;
  label.path = absl::string_view(path.data(), path.size());
  label.text = line.size() - text.size();
  return label;
}

// The label in the words of a program: its rank, or a name with a number. `bare`: a number alone,
// and nothing else.
std::optional<LineLabel> OwnLabel(absl::string_view words, bool bare) {
  static const RE2* const kRank = new RE2(
      "(?i)(?:^|[ ,_-])(?:rank|process|proc|process_index|process_id)s?[ =:#_-]{0,2}(\\d{1,6})"
      "(?:$|[ ,/\\[])");
  static const RE2* const kNumber = new RE2("(\\d{1,6})");
  LineLabel label;
  int32_t rank = 0;
  const re2::StringPiece text(words.data(), words.size());
  if (bare ? RE2::FullMatch(text, *kNumber, &rank) : RE2::PartialMatch(text, *kRank, &rank)) {
    label.rank = rank;
    return label;
  }
  if (bare) return std::nullopt;
  // Behind the name of a pod stands that of its container.
  label.pod = words.substr(0, words.find_first_of(" /:"));
  if (!IsHost(label.pod)) return std::nullopt;
  return label;
}

std::optional<LineLabel> TakeOwn(absl::string_view line, bool bare) {
  static const RE2* const kBrackets =
      new RE2(" *(?:\\[([^\\[\\]]{1,80})\\]|\\(([^()]{1,80})\\))(?:<std(?:out|err)>)?:? ?");
  static const RE2* const kComposer = new RE2(" *(rank\\d{1,6})\\[\\d+\\](?:\\[\\w+\\])?: ?");
  static const RE2* const kLevanter = new RE2(" *- (\\d{1,6}) - (?:[\\w.]+ - ){1,2}");
  static const RE2* const kWords = new RE2(
      " *((?i:rank|process|proc) ?\\d{1,6}|[\\w.-]{0,63}\\d[\\w.-]{0,63})"
      "(?::|>|:[a-z][\\w-]{0,40})(?: |$)");
  const std::optional<LineTime> time = TakeLineTime(line, kNoYear);
  const size_t at = time.has_value() ? time->text : 0;
  re2::StringPiece text(line.data() + at, line.size() - at);
  re2::StringPiece words;
  re2::StringPiece in_round;
  int32_t rank = 0;
  std::optional<LineLabel> label;
  if (!bare && RE2::Consume(&text, *kLevanter, &rank)) {
    label.emplace().rank = rank;
  } else if (RE2::Consume(&text, *kBrackets, &words, &in_round) ||
             RE2::Consume(&text, *kComposer, &words) || RE2::Consume(&text, *kWords, &words)) {
    if (words.empty()) words = in_round;
    label = OwnLabel(absl::string_view(words.data(), words.size()), bare);
  }
  if (!label.has_value()) return std::nullopt;
  if (at > 0 && YearOf(time->unix_ms) != kNoYear) label->unix_ms = time->unix_ms;
  label->text = line.size() - text.size();
  return label;
}

// True if names take turns and stand on nearly every line, as those do who share one output. Names
// that each come once, in one row, are headings; grep goes through one file after the other.
bool TakeTurns(const std::vector<absl::string_view>& lines, LabelForm form) {
  std::set<std::string> seen;
  std::string last;
  size_t labelled = 0;
  int32_t highest = -1;
  bool returned = false;
  for (absl::string_view line : lines) {
    const std::optional<LineLabel> label = TakeLabel(line, form);
    if (!label) continue;
    ++labelled;
    std::string name = absl::StrCat(label->pod, label->host, label->path);
    if (label->rank) name = absl::StrCat(*label->rank);
    returned = returned || (name != last && seen.contains(name));
    seen.insert(name);
    if (label->rank) highest = std::max(highest, *label->rank);
    last = std::move(name);
  }
  // Numbers that are no ranks, of processes and threads say, have gaps.
  if (form == LabelForm::kBare && highest >= static_cast<int32_t>(seen.size())) return false;
  return (form == LabelForm::kGrep ? seen.size() > 1 : returned) &&
         kHostLines * static_cast<double>(lines.size()) <= static_cast<double>(labelled);
}

// True if each line's number is greater than that of the line before.
bool OnlyCount(const std::vector<int32_t>& numbers) {
  if (numbers.size() < 2) return false;
  for (size_t i = 1; i < numbers.size(); ++i) {
    if (numbers[i] <= numbers[i - 1]) return false;
  }
  return true;
}

}  // namespace

std::optional<LineLabel> TakeLabel(absl::string_view line, LabelForm form) {
  switch (form) {
    case LabelForm::kNone:
      break;
    case LabelForm::kNumber:
      return TakeNumberLabel(line);
    case LabelForm::kPod:
      return TakePod(line);
    case LabelForm::kTag:
      return TakeTag(line);
    case LabelForm::kBracket:
      return TakeBracket(line);
    case LabelForm::kRay:
      return TakeRay(line);
    case LabelForm::kXlaDist:
      return TakeXlaDist(line);
    case LabelForm::kHost:
      return TakeHost(line);
    case LabelForm::kBar:
      return TakeBar(line);
    case LabelForm::kTab:
      return TakeTab(line);
    case LabelForm::kStern:
      return TakeStern(line);
    case LabelForm::kGrep:
      return TakeGrep(line);
    case LabelForm::kOwn:
      return TakeOwn(line, /*bare=*/false);
    case LabelForm::kBare:
      return TakeOwn(line, /*bare=*/true);
    case LabelForm::kJournal:
      return TakeJournal(line);
  }
  return std::nullopt;
}

LabelForm FormOfLabels(const std::vector<absl::string_view>& lines) {
  for (LabelForm form : {LabelForm::kPod, LabelForm::kTag, LabelForm::kRay, LabelForm::kXlaDist,
                         LabelForm::kBracket, LabelForm::kNumber}) {
    size_t labelled = 0;
    std::vector<int32_t> numbers;
    for (absl::string_view line : lines) {
      const std::optional<LineLabel> label = TakeLabel(line, form);
      if (!label) continue;
      ++labelled;
      if (label->rank) numbers.push_back(*label->rank);
    }
    if (labelled == 0 || 2 * labelled < lines.size()) continue;
    if (form == LabelForm::kNumber && OnlyCount(numbers) && numbers.size() > 8) continue;
    return form;
  }
  for (LabelForm form : {LabelForm::kHost, LabelForm::kBar, LabelForm::kTab, LabelForm::kJournal,
                         LabelForm::kStern, LabelForm::kGrep, LabelForm::kOwn, LabelForm::kBare}) {
    if (TakeTurns(lines, form)) return form;
  }
  return LabelForm::kNone;
}

bool IsLogLine(absl::string_view line) {
  if (TakeLineTime(line, 2000).has_value() || Recognise(line).has_value()) return true;
  static const RE2* const kLog = new RE2(
      "^(?:\\S+ )?\\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)[\\]:]? |"
      "^Traceback \\(most recent call last\\):|\\(most recent call first\\):$|"
      "^Thread (?:0x[0-9a-fA-F]+|\\d+) \\((?:idle|active)|^\\[Gloo\\] Rank |"
      "^[>\\s]*File:? \"[^\"]+\", line \\d+,? in |"
      "(?i)^.{0,80}\\b(?:step|iter|iteration|epoch)\\b\\s*[:=#]?\\s*\\[?\\d+|^\\[pod/|^srun: |"
      "^\\s*\\d{1,2}:\\d{2}:\\d{2}[., ]|\\d{1,3}%\\|.*\\d+/\\d+ \\[");
  return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *kLog);
}

}  // namespace rapideye::logs
