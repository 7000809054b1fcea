#include "proto/capture/pseudonyms.h"

#include <google/protobuf/descriptor.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/wire/evidence_wire.h"
#include "proto/wire/message_text.h"
#include "v1/capture.pb.h"
#include "v1/check.pb.h"

namespace rapideye::wire {
namespace {

using google::protobuf::FieldDescriptor;
using Names = v1::Check::Names;

// No real name begins with this.
constexpr absl::string_view kMark = "anon-";
// A shorter name of digits alone is more often a number where it stands in a text.
constexpr size_t kShortestNumber = 6;

Names NamesOf(const FieldDescriptor& field) {
  return field.options().GetExtension(v1::check).names();
}

bool IsWordByte(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

bool HasLetter(absl::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalpha(static_cast<unsigned char>(c)) || (c & 0x80) != 0;
  });
}

template <typename Words>
bool IsAmong(absl::string_view text, const Words& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// Every machine has these users.
bool IsCommonUser(absl::string_view user) {
  constexpr std::array<absl::string_view, 5> kUsers = {"root", "nobody", "daemon", "ubuntu",
                                                       "user"};
  return IsAmong(user, kUsers) || !HasLetter(user);
}

// Directories that do not tell whose host it is.
bool IsCommonDirectory(absl::string_view name) {
  constexpr std::array<absl::string_view, 40> kNames = {
      "usr",     "lib",      "lib64",         "local",         "bin",
      "sbin",    "opt",      "etc",           "var",           "run",
      "tmp",     "home",     "root",          "mnt",           "data",
      "dataset", "datasets", "workspace",     "app",           "src",
      "logs",    "log",      "share",         "checkpoint",    "checkpoints",
      "ckpt",    "ckpts",    "train",         "training",      "venv",
      "conda",   "envs",     "shm",           "build",         "models",
      "xla",     "dump",     "site-packages", "dist-packages", "x86_64-linux-gnu"};
  return name.empty() || name == "." || name == ".." || IsAmong(name, kNames) ||
         absl::StartsWith(name, "python3") || absl::StartsWith(name, kMark) || !HasLetter(name);
}

// True for IPv4, or for a text with colons between hexadecimal digits.
bool IsAddress(absl::string_view text) {
  const auto is_any_of = [](absl::string_view bytes) {
    return [bytes](char c) { return absl::StrContains(bytes, absl::string_view(&c, 1)); };
  };
  if (absl::StrContains(text, ':')) {
    return std::all_of(text.begin(), text.end(), is_any_of("0123456789abcdefABCDEF:."));
  }
  return std::count(text.begin(), text.end(), '.') == 3 &&
         std::all_of(text.begin(), text.end(), is_any_of("0123456789."));
}

struct Patterns {
  const RE2 home{R"((?:/home|/Users|/users)/([\w.-]+))"};
  const RE2 label{R"((?:host|hostname|node|node_name|instance)=([\w.-]+))"};
  const RE2 mail{R"(()([A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+))"};
  const RE2 v4{R"((^|[^\w.])((?:\d{1,3}\.){3}\d{1,3})\b)"};
  const RE2 v6{R"((^|[^\w:.])([0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{0,4}){2,7}))"};
  const RE2 domain{R"(()((?:[A-Za-z0-9-]+\.){2,}(?:internal|com|net|org|local|cloud|io|dev)\b))"};
  const RE2 url{R"((\b[a-z][a-z0-9+.]*://)([^\s"'<>()\[\]{},;]+))"};
  const RE2 path{R"((^|[\s"'=(\[{<,@:])(/[\w.+~%@-]+(?:/[\w.+~%@-]*)+))"};
};

// Replaces each match of the pattern by `replace` of it; the first group stays in front.
void ReplaceEach(const RE2& pattern, absl::FunctionRef<std::string(absl::string_view)> replace,
                 std::string& text) {
  std::string out;
  size_t copied = 0;
  re2::StringPiece parts[3];
  const re2::StringPiece whole(text);
  while (pattern.Match(whole, copied, text.size(), RE2::UNANCHORED, parts, 3)) {
    const auto begin = static_cast<size_t>(parts[2].data() - text.data());
    out.append(text, copied, begin - copied);
    out += replace(absl::string_view(parts[2].data(), parts[2].size()));
    copied = begin + parts[2].size();
  }
  if (copied == 0) return;
  out.append(text, copied);
  text = std::move(out);
}

// No host has an address in 198.18.0.0/15 or 2001:db8::/32.
std::string AddressPseudonym(size_t number, bool v6) {
  return v6 ? absl::StrFormat("2001:db8::%x", number)
            : absl::StrFormat("198.%d.%d.%d", 18 + number / 65536 % 2, number / 256 % 256,
                              number % 256);
}

// Names and their pseudonyms.
class Directory {
 public:
  void Add(Names names, const std::string& name) {
    if (name.empty()) return;
    if (names == v1::Check::USER && IsCommonUser(name)) return;
    if (names == v1::Check::HOST || names == v1::Check::NODE) {
      AddHost(names, name);
    } else {
      found_[names].insert(name);
    }
  }

  // Gives the pseudonyms out; later ones (of what only texts show) come in order of appearance.
  void Assign(bool modules) {
    using v1::Check;
    const std::array<std::pair<Names, absl::string_view>, 7> kinds = {
        {{Check::HOST, "host"},
         {Check::NODE, "node"},
         {Check::POD, "pod"},
         {Check::HARDWARE, "machine"},
         {Check::JOB, "job"},
         {Check::USER, "user"},
         {Check::INCARNATION, "run"}}};
    for (const auto& [names, kind] : kinds) Assign(names, kind);
    if (modules) Assign(v1::Check::MODULE, "module");
    size_t number = 0;
    for (const std::string& domain : domains_) {
      pseudonyms_.emplace(domain, absl::StrFormat("%sdomain-%04d", kMark, ++number));
    }
    for (const auto& [name, pseudonym] : pseudonyms_) {
      if (HasLetter(name) || name.size() >= kShortestNumber) lengths_.insert(name.size());
    }
  }

  std::string Of(const std::string& name) const {
    if (const auto it = pseudonyms_.find(name); it != pseudonyms_.end()) return it->second;
    if (const auto it = addresses_.find(name); it != addresses_.end()) return it->second;
    const size_t dot = name.find('.');
    if (dot == std::string::npos) return name;
    const auto label = pseudonyms_.find(name.substr(0, dot));
    const auto domain = pseudonyms_.find(name.substr(dot + 1));
    if (label == pseudonyms_.end() || domain == pseudonyms_.end()) return name;
    return absl::StrCat(label->second, ".", domain->second);
  }

  // Every known name that stands in the text as a word.
  void ReplaceNames(std::string& text) const {
    std::string out;
    size_t copied = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      if (at > 0 && IsWordByte(text[at - 1])) continue;
      const auto [pseudonym, length] = LongestAt(text, at);
      if (pseudonym == nullptr) continue;
      out.append(text, copied, at - copied);
      out += *pseudonym;
      copied = at + length;
      at = copied - 1;
    }
    if (copied == 0) return;
    out.append(text, copied);
    text = std::move(out);
  }

  std::string Address(absl::string_view address) {
    std::string& pseudonym = addresses_[std::string(address)];
    if (pseudonym.empty()) {
      pseudonym = AddressPseudonym(addresses_.size(), absl::StrContains(address, ':'));
    }
    return pseudonym;
  }

  std::string Later(absl::string_view kind, absl::string_view name) {
    std::map<std::string, std::string>& known = later_[std::string(kind)];
    std::string& pseudonym = known[std::string(name)];
    if (pseudonym.empty()) pseudonym = absl::StrCat(kMark, kind, "-", known.size());
    return pseudonym;
  }

 private:
  void AddHost(Names names, const std::string& name) {
    if (IsAddress(name)) {
      Address(name);
      return;
    }
    // A log may call a host by the first part of its name alone.
    const size_t dot = name.find('.');
    found_[names].insert(name.substr(0, dot));
    if (dot != std::string::npos) domains_.insert(name.substr(dot + 1));
  }

  void Assign(Names names, absl::string_view kind) {
    size_t number = 0;
    const std::set<std::string>& found = found_[names];
    const int digits = std::max<int>(4, static_cast<int>(absl::StrCat(found.size()).size()));
    for (const std::string& name : found) {
      pseudonyms_.emplace(name, absl::StrFormat("%s%s-%0*d", kMark, kind, digits, ++number));
    }
  }

  // The pseudonym of the longest name that begins here and ends a word, and the name's length.
  std::pair<const std::string*, size_t> LongestAt(absl::string_view text, size_t at) const {
    for (auto length = lengths_.rbegin(); length != lengths_.rend(); ++length) {
      const size_t end = at + *length;
      if (end > text.size() || (end < text.size() && IsWordByte(text[end]))) continue;
      const auto it = pseudonyms_.find(text.substr(at, *length));
      if (it == pseudonyms_.end()) continue;
      return {&it->second, *length};
    }
    return {nullptr, 0};
  }

  std::map<Names, std::set<std::string>> found_;
  std::set<std::string> domains_;
  absl::flat_hash_map<std::string, std::string> pseudonyms_;
  std::set<size_t> lengths_;  // of those that texts are searched for
  std::map<std::string, std::string> addresses_;
  std::map<std::string, std::map<std::string, std::string>> later_;
};

// Takes what names people, machines and jobs out of free text.
class TextCleaner {
 public:
  TextCleaner(const secrets::Redactor& redactor, const Patterns& patterns, Directory& directory)
      : redactor_(redactor), patterns_(patterns), directory_(directory) {}

  void Clean(std::string& text) {
    redactor_.Redact(text);
    directory_.ReplaceNames(text);
    const auto address = [this](absl::string_view found) { return CleanAddress(found); };
    ReplaceEach(
        patterns_.mail, [this](absl::string_view mail) { return directory_.Later("person", mail); },
        text);
    ReplaceEach(patterns_.v4, address, text);
    ReplaceEach(patterns_.v6, address, text);
    ReplaceEach(
        patterns_.domain,
        [this](absl::string_view name) { return directory_.Later("domain", name); }, text);
    ReplaceEach(patterns_.url, [this](absl::string_view url) { return CleanUrl(url); }, text);
    ReplaceEach(patterns_.path, [this](absl::string_view path) { return CleanPath(path); }, text);
  }

 private:
  std::string CleanAddress(absl::string_view address) {
    const std::string text(address);
    const bool v6 = absl::StrContains(text, ':');
    // Times and PCI addresses have colons, too: an address has "::" or eight parts.
    if (v6 && !absl::StrContains(text, "::") && std::count(text.begin(), text.end(), ':') != 7) {
      return text;
    }
    if (absl::StartsWith(text, "127.") || absl::StartsWith(text, "198.18.") ||
        absl::StartsWith(text, "198.19.") || absl::StartsWith(text, "2001:db8") ||
        text == "0.0.0.0" || text == "::1") {
      return text;
    }
    return directory_.Address(text);
  }

  // Behind "scheme://": the bucket or host, and the path.
  std::string CleanUrl(absl::string_view url) {
    const size_t slash = std::min(url.find('/'), url.size());
    const absl::string_view authority = url.substr(0, slash);
    const size_t colon = std::min(authority.rfind(':'), authority.size());
    const absl::string_view host = authority.substr(0, colon);
    const bool known = host.empty() || host == "localhost" || absl::StrContains(host, kMark) ||
                       absl::StrContains(host, "[redacted]") || !HasLetter(host);
    const absl::string_view path = url.substr(slash, url.find('?') - slash);
    return absl::StrCat(known ? std::string(host) : directory_.Later("domain", host),
                        authority.substr(colon), CleanPath(path));
  }

  // The directories of a path, but those that all hosts have. The file stays, if it is one: it
  // may tell what a stack waits for.
  std::string CleanPath(absl::string_view path) {
    for (const absl::string_view everywhere : {"/proc/", "/sys/", "/dev/"}) {
      if (absl::StartsWith(path, everywhere)) return std::string(path);
    }
    std::vector<std::string> parts = absl::StrSplit(path, '/');
    for (size_t i = 0; i < parts.size(); ++i) {
      const bool last = i + 1 == parts.size();
      // Folders of a package are the same on every machine.
      if (parts[i] == "site-packages" || parts[i] == "dist-packages" ||
          absl::StartsWith(parts[i], "python3")) {
        break;
      }
      if (IsCommonDirectory(parts[i]) || (last && absl::StrContains(parts[i], '.'))) continue;
      std::string pseudonym = directory_.Later("dir", parts[i]);
      for (const absl::string_view word : {"checkpoint", "ckpt"}) {
        if (absl::StrContains(absl::AsciiStrToLower(parts[i]), word)) {
          absl::StrAppend(&pseudonym, "-", word);
        }
      }
      parts[i] = std::move(pseudonym);
    }
    return absl::StrJoin(parts, "/");
  }

  const secrets::Redactor& redactor_;
  const Patterns& patterns_;
  Directory& directory_;
};

// Walks over the messages of one capture: first for its names, then to replace them.
class Pseudonymiser {
 public:
  Pseudonymiser(const secrets::Redactor& redactor, const PseudonymOptions& options)
      : redactor_(redactor), options_(options) {}

  void Learn(google::protobuf::Message& message) {
    VisitText(message, [this](const FieldDescriptor& field, std::string& text) {
      const Names names = NamesOf(field);
      if (names == v1::Check::FREE) {
        LearnFrom(text);
      } else if (names != v1::Check::STRUCTURE) {
        directory_.Add(names, text);
      }
      return false;
    });
  }

  // Learns names from settings that list hosts and the job, in any form.
  void LearnSettings(const v1::Snapshot& snapshot) {
    for (const v1::Setting& setting : snapshot.settings()) {
      const bool hosts = absl::StrContains(setting.name(), "HOSTNAMES") ||
                         absl::StrContains(setting.name(), "ADDRESS");
      if (!hosts && setting.name() != "TPU_NAME") continue;
      for (const absl::string_view part :
           absl::StrSplit(setting.value(), absl::ByAnyChar(",:"), absl::SkipEmpty())) {
        if (!HasLetter(part) || part == "localhost") continue;
        directory_.Add(hosts ? v1::Check::HOST : v1::Check::JOB, std::string(part));
      }
    }
  }

  void Learnt() { directory_.Assign(options_.modules); }

  void Replace(google::protobuf::Message& message) {
    VisitText(message, [this](const FieldDescriptor& field, std::string& text) {
      switch (NamesOf(field)) {
        case v1::Check::FREE:
          cleaner_.Clean(text);
          break;
        case v1::Check::STRUCTURE:
          redactor_.Redact(text);
          break;
        case v1::Check::MODULE:
          if (options_.modules) {
            text = directory_.Of(text);
          } else {
            directory_.ReplaceNames(text);
          }
          break;
        default:
          text = directory_.Of(text);
      }
      return true;
    });
  }

 private:
  // People by their home directories, hosts where a label names one.
  void LearnFrom(const std::string& text) {
    re2::StringPiece rest(text);
    std::string name;
    while (RE2::FindAndConsume(&rest, patterns_.home, &name)) {
      if (!IsCommonDirectory(name)) directory_.Add(v1::Check::USER, name);
    }
    if (RE2::FullMatch(text, patterns_.label, &name)) directory_.Add(v1::Check::HOST, name);
  }

  const secrets::Redactor& redactor_;
  const PseudonymOptions options_;
  const Patterns patterns_;
  Directory directory_;
  TextCleaner cleaner_{redactor_, patterns_, directory_};
};

}  // namespace

absl::StatusOr<Capture> Pseudonymise(const Capture& capture, const secrets::Redactor& redactor,
                                     const PseudonymOptions& options) {
  v1::CaptureHeader header = HeaderToWire(capture.header);
  std::vector<v1::Snapshot> snapshots;
  snapshots.reserve(capture.snapshots.size());
  for (const Snapshot& snapshot : capture.snapshots) snapshots.push_back(SnapshotToWire(snapshot));
  Pseudonymiser pseudonymiser(redactor, options);
  pseudonymiser.Learn(header);
  for (v1::Snapshot& snapshot : snapshots) {
    pseudonymiser.Learn(snapshot);
    pseudonymiser.LearnSettings(snapshot);
  }
  pseudonymiser.Learnt();
  pseudonymiser.Replace(header);
  Capture result;
  const auto broken = [](const absl::Status& status) {
    return absl::InternalError(
        absl::StrCat("with its names replaced: ", std::string(status.message())));
  };
  absl::StatusOr<CaptureHeader> checked = HeaderFromWire(header);
  if (!checked.ok()) return broken(checked.status());
  result.header = *std::move(checked);
  for (v1::Snapshot& message : snapshots) {
    pseudonymiser.Replace(message);
    absl::StatusOr<Snapshot> snapshot = SnapshotFromWire(message);
    if (!snapshot.ok()) return broken(snapshot.status());
    result.snapshots.push_back(*std::move(snapshot));
    message.Clear();
  }
  return result;
}

}  // namespace rapideye::wire
