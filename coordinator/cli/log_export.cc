#include "coordinator/cli/log_export.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "classifier/logs/limits.h"
#include "classifier/logs/line_time.h"

namespace rapideye::cli {
namespace {

using EntryJson = nlohmann::json;

// Bounds of one object. Cloud Logging takes entries up to 256 KiB.
constexpr size_t kMaxObjectBytes = 4 * 1024 * 1024;
constexpr int kMaxDepth = 64;
// The first entries, so many, tell in which order entries come.
constexpr size_t kEntriesForOrder = 256;
// Entries of one time are sorted by their ids, up to so many.
constexpr size_t kMaxEqualEntries = 10'000;

// Keys of objects that are no entries of Cloud Logging: container runtimes and what collects their
// output (Fluent Bit, Vector, Filebeat, Loki), journald, loggers of programs.
constexpr std::array<const char*, 8> kTextKeys = {"message", "msg",  "log",   "text",
                                                  "line",    "body", "event", "MESSAGE"};
constexpr std::array<const char*, 8> kTimeKeys = {"timestamp", "receiveTimestamp",    "time",
                                                  "ts",        "@timestamp",          "asctime",
                                                  "date",      "__REALTIME_TIMESTAMP"};
// Keys of the pod, and of objects that hold such a key; then keys of the host.
constexpr std::array<const char*, 4> kPodKeys = {"pod_name", "pod", "podName", "task_name"};
constexpr std::array<const char*, 3> kPodHolders = {"kubernetes", "labels", "stream"};
constexpr std::array<const char*, 3> kHostKeys = {"_HOSTNAME", "hostname", "host"};
// Keys of the rank in the job, as programs that log JSON write it.
constexpr std::array<const char*, 3> kRankKeys = {"rank", "global_rank", "process_index"};
// Numbers since 1970: the unit follows from the size, up to the year 2286.
constexpr double kMaxUnixSeconds = 1e10;

std::string StringOf(const EntryJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

const EntryJson* ObjectOf(const EntryJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? &*found : nullptr;
}

// Seconds, milliseconds, microseconds or nanoseconds since 1970.
std::optional<int64_t> UnixMsOf(double number) {
  if (!(number > 1e8)) return std::nullopt;
  double seconds = number;
  for (int unit = 0; seconds > kMaxUnixSeconds && unit < 3; ++unit) seconds /= 1000;
  if (seconds > kMaxUnixSeconds) return std::nullopt;
  return static_cast<int64_t>(seconds * 1000);
}

std::optional<int64_t> TimeOf(const EntryJson& object) {
  for (const char* key : kTimeKeys) {
    const std::string text = StringOf(object, key);
    double number = 0;
    if (const auto found = object.find(key); found != object.end() && found->is_number()) {
      number = found->get<double>();
    } else if (!absl::SimpleAtod(text, &number)) {
      if (const auto time = logs::TakeLineTime(text, 1970)) return time->unix_ms;
      continue;
    }
    if (const auto time = UnixMsOf(number)) return time;
  }
  return std::nullopt;
}

template <size_t n>
std::string FirstOf(const EntryJson& object, const std::array<const char*, n>& keys) {
  for (const char* key : keys) {
    if (std::string text = StringOf(object, key); !text.empty()) return text;
  }
  return "";
}

// The pod that wrote the entry; empty: it does not tell.
std::string PodOf(const EntryJson& object, const EntryJson* resource) {
  std::vector<const EntryJson*> holders = {resource};
  for (const char* key : kPodHolders) holders.push_back(ObjectOf(object, key));
  holders.push_back(&object);
  for (const EntryJson* holder : holders) {
    if (holder == nullptr) continue;
    std::string pod = FirstOf(*holder, kPodKeys);
    const EntryJson* inner = ObjectOf(*holder, "pod");  // Filebeat
    if (pod.empty() && inner != nullptr) pod = StringOf(*inner, "name");
    if (!pod.empty()) return pod;
  }
  return resource == nullptr ? "" : StringOf(*resource, "instance_id");
}

std::string TextOf(const EntryJson& object) {
  std::string text = StringOf(object, "textPayload");
  if (!text.empty()) return text;
  const EntryJson* payload = ObjectOf(object, "jsonPayload");
  text = FirstOf(payload != nullptr ? *payload : object, kTextKeys);
  if (!text.empty()) return text;
  return payload != nullptr ? payload->dump(-1, ' ', false, EntryJson::error_handler_t::replace)
                            : "";
}

// The number in a label that ends so: "k8s-pod/batch_kubernetes_io/job-completion-index".
std::optional<int32_t> NumberOf(const EntryJson& labels, absl::string_view ending) {
  for (const auto& [key, value] : labels.items()) {
    int32_t number = 0;
    if (!absl::EndsWith(key, ending)) continue;
    if (value.is_string() && absl::SimpleAtoi(value.get<std::string>(), &number) && number >= 0 &&
        number <= logs::kMaxWorkerNumber) {
      return number;
    }
  }
  return std::nullopt;
}

// The rank that the object or its payload states.
std::optional<int32_t> RankOf(const EntryJson& object) {
  for (const EntryJson* holder : {&object, ObjectOf(object, "jsonPayload")}) {
    if (holder == nullptr) continue;
    for (const char* key : kRankKeys) {
      const auto found = holder->find(key);
      if (found == holder->end()) continue;
      int64_t rank = -1;
      if (found->is_number_integer()) rank = found->get<int64_t>();
      if (found->is_string() && !absl::SimpleAtoi(found->get<std::string>(), &rank)) continue;
      if (rank >= 0 && rank <= logs::kMaxWorkerNumber) return static_cast<int32_t>(rank);
    }
  }
  return std::nullopt;
}

}  // namespace

absl::Status ObjectSplitter::Outside(char c) {
  if (absl::ascii_isspace(static_cast<unsigned char>(c))) return absl::OkStatus();
  if (c == '[' && !in_array_ && objects_ == 0) {
    in_array_ = true;
  } else if (c == ']' && in_array_ && !array_ended_) {
    array_ended_ = true;
  } else if (c == '{' && !array_ended_) {
    depth_ = 1;
    object_ = "{";
  } else if (c != ',' || !in_array_ || array_ended_) {
    return absl::InvalidArgumentError(
        absl::StrCat("entry ", objects_ + 1, ": no JSON object stands there"));
  }
  return absl::OkStatus();
}

absl::Status ObjectSplitter::Add(absl::string_view bytes, Sink sink) {
  for (const char c : bytes) {
    if (depth_ == 0) {
      if (absl::Status status = Outside(c); !status.ok()) return status;
      continue;
    }
    object_.push_back(c);
    if (in_string_) {
      in_string_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      --depth_;
    }
    if (object_.size() > kMaxObjectBytes || depth_ > kMaxDepth) {
      return absl::InvalidArgumentError(absl::StrCat("entry ", objects_ + 1, ": longer than ",
                                                     kMaxObjectBytes,
                                                     " bytes, or nested too deeply"));
    }
    if (depth_ > 0) continue;
    ++objects_;
    if (absl::Status status = sink(object_); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ObjectSplitter::Finish() const {
  if (depth_ > 0 || (in_array_ && !array_ended_)) {
    return absl::InvalidArgumentError(
        absl::StrCat("it is cut short behind entry ", objects_, "; export it anew"));
  }
  if (objects_ == 0) return absl::InvalidArgumentError("it holds no entries");
  return absl::OkStatus();
}

// The fields of an entry that are needed to read it as a log line.
struct LogExport::Entry {
  std::optional<int64_t> unix_ms;
  std::string id;
  std::string text;
  std::string pod;
  std::string host;
  std::string container;
  std::optional<int32_t> index;
  std::optional<int32_t> slice;
  std::optional<int32_t> rank;  // set: the program states it, and nothing else tells whose it is

  static std::optional<Entry> Parse(absl::string_view object) {
    const EntryJson json =
        EntryJson::parse(object.begin(), object.end(), nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) return std::nullopt;
    Entry entry;
    entry.unix_ms = TimeOf(json);
    entry.id = StringOf(json, "insertId");
    entry.text = TextOf(json);
    const EntryJson* resource = ObjectOf(json, "resource");
    const EntryJson* labels = resource == nullptr ? nullptr : ObjectOf(*resource, "labels");
    entry.pod = PodOf(json, labels);
    entry.host = FirstOf(json, kHostKeys);
    if (labels != nullptr) {
      entry.container = StringOf(*labels, "container_name");
      entry.index = NumberOf(*labels, "worker_id");
    }
    if (const EntryJson* own = ObjectOf(json, "labels")) {
      if (!entry.index) entry.index = NumberOf(*own, "completion-index");
      if (!entry.index) entry.index = NumberOf(*own, "worker_id");
      entry.slice = NumberOf(*own, "/job-index");
    }
    if (entry.pod.empty() && !entry.index) entry.rank = RankOf(json);
    return entry;
  }
};

LogExport::LogExport(std::string path, Form form, logs::JobLogs& logs)
    : path_(std::move(path)), form_(form), logs_(logs) {}

LogExport::~LogExport() {
  if (spilled_ != nullptr) std::fclose(spilled_);
}

absl::Status LogExport::Add(absl::string_view bytes) {
  const auto take = [this](absl::string_view object) { return TakeObject(object); };
  return form_ == Form::kCsv ? rows_.Add(bytes, take) : splitter_.Add(bytes, take);
}

absl::Status LogExport::TakeObject(absl::string_view object) {
  ++objects_;
  if (spilled_ != nullptr) return Spill(object);
  if (!order_known_) {
    first_.emplace_back(object);
    return first_.size() < kEntriesForOrder ? absl::OkStatus() : ChooseOrder();
  }
  const std::optional<Entry> entry = Entry::Parse(object);
  if (!entry) return absl::InvalidArgumentError(absl::StrCat("entry ", objects_, ": broken JSON"));
  TakeEntry(*entry);
  return absl::OkStatus();
}

absl::Status LogExport::ChooseOrder() {
  order_known_ = true;
  int64_t rises = 0;
  std::optional<int64_t> last;
  std::set<std::string> hosts;
  const std::vector<std::string> first = std::exchange(first_, {});
  for (const std::string& object : first) {
    const std::optional<Entry> entry = Entry::Parse(object);
    if (entry) hosts.insert(entry->host);
    of_ranks_ = of_ranks_ || (entry && entry->rank);
    if (!entry || !entry->unix_ms) continue;
    if (last && *entry->unix_ms != *last) rises += *entry->unix_ms > *last ? 1 : -1;
    last = entry->unix_ms;
  }
  of_several_hosts_ = hosts.size() > 1;
  if (rises < 0) {
    spilled_ = std::tmpfile();
    if (spilled_ == nullptr) {
      return absl::InternalError(
          absl::StrCat("cannot make a temporary file: ", std::strerror(errno)));
    }
  }
  objects_ -= static_cast<int64_t>(first.size());
  for (const std::string& object : first) {
    if (absl::Status status = TakeObject(object); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Writes the entry with its length behind it, so that the file can be read from its end.
absl::Status LogExport::Spill(absl::string_view object) {
  const auto size = static_cast<uint32_t>(object.size());
  const bool written = std::fwrite(object.data(), 1, object.size(), spilled_) == object.size() &&
                       std::fwrite(&size, sizeof size, 1, spilled_) == 1;
  if (written) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("cannot write a temporary file: ", std::strerror(errno)));
}

absl::Status LogExport::TakeBackwards() {
  if (std::fseek(spilled_, 0, SEEK_END) != 0) return absl::InternalError("temporary file: seek");
  int64_t end = std::ftell(spilled_);
  std::vector<Entry> equal;
  std::string object;
  for (int64_t number = objects_; end > 0; --number) {
    uint32_t size = 0;
    const auto read = [&](int64_t at, void* to, size_t bytes) {
      return std::fseek(spilled_, at, SEEK_SET) == 0 && std::fread(to, 1, bytes, spilled_) == bytes;
    };
    const int64_t length_at = end - static_cast<int64_t>(sizeof size);
    if (!read(length_at, &size, sizeof size)) return absl::InternalError("temporary file: read");
    object.resize(size);
    end = length_at - size;
    if (!read(end, object.data(), size)) return absl::InternalError("temporary file: read");
    std::optional<Entry> entry = Entry::Parse(object);
    if (!entry) return absl::InvalidArgumentError(absl::StrCat("entry ", number, ": broken JSON"));
    const bool same = !equal.empty() && equal.back().unix_ms == entry->unix_ms;
    if (!same || equal.size() >= kMaxEqualEntries) TakeEqual(equal);
    equal.push_back(*std::move(entry));
  }
  TakeEqual(equal);
  return absl::OkStatus();
}

// Entries of one time are taken in the order of their ids, whether times rise or fall.
void LogExport::TakeEqual(std::vector<Entry>& entries) {
  const bool falling = std::is_sorted(entries.begin(), entries.end(),
                                      [](const Entry& a, const Entry& b) { return a.id > b.id; });
  const bool have_ids = std::none_of(entries.begin(), entries.end(),
                                     [](const Entry& entry) { return entry.id.empty(); });
  if (falling && have_ids) std::reverse(entries.begin(), entries.end());
  for (const Entry& entry : entries) TakeEntry(entry);
  entries.clear();
}

void LogExport::TakeEntry(const Entry& entry) {
  if (entry.text.empty()) return;
  const size_t log = LogOf(entry);
  for (absl::string_view line : absl::StrSplit(entry.text, absl::ByAnyChar("\r\n"))) {
    if (!line.empty()) logs_.Take(log, line, entry.unix_ms);
  }
}

size_t LogExport::LogOf(const Entry& entry) {
  // The name of its only host says less of a worker than that of the file.
  const bool by_host = entry.pod.empty() && !entry.rank && of_several_hosts_;
  const std::string& pod = by_host ? entry.host : entry.pod;
  const std::optional<int32_t>& number = entry.rank ? entry.rank : entry.index;
  const std::string key = absl::StrCat(pod, "/", entry.container, entry.rank ? "#" : "/",
                                       number ? absl::StrCat(*number) : "");
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  logs::LogName name;
  name.path = path_;
  name.pod = pod;
  name.index = entry.index;
  name.slice = entry.slice;
  name.label = entry.rank;
  // A launcher's own line among those of ranks.
  name.of_nobody = of_ranks_ && !number && pod.empty();
  const size_t log = logs_.Add(std::move(name));
  if (known_.size() < logs::kMaxLogs) known_.emplace(key, log);
  return log;
}

absl::Status LogExport::Finish() {
  const auto take = [this](absl::string_view object) { return TakeObject(object); };
  absl::Status status = form_ == Form::kCsv ? rows_.Finish(take) : splitter_.Finish();
  if (!status.ok()) return status;
  if (!order_known_) {
    if (status = ChooseOrder(); !status.ok()) return status;
  }
  return spilled_ == nullptr ? absl::OkStatus() : TakeBackwards();
}

}  // namespace rapideye::cli
