#include "coordinator/cli/log_files.h"

#include <iconv.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "classifier/logs/limits.h"
#include "classifier/logs/line_label.h"
#include "classifier/logs/lines.h"
#include "classifier/logs/section_heading.h"
#include "coordinator/cli/log_export.h"

namespace rapideye::cli {
namespace {

constexpr size_t kReadBytes = 256 * 1024;
// So many lines tell the kind of a text.
constexpr size_t kHeadLines = 400;

// Some bytes of a log that was cut in the midst are not text.
constexpr size_t kTextBytesPerOther = 20;

int64_t SizeOf(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 ? status.st_size : 0;
}

// Turns UTF-16 with a byte order mark, as PowerShell writes it, into UTF-8, and leaves all other
// bytes as they are.
class Utf16Decoder {
 public:
  Utf16Decoder() = default;
  Utf16Decoder(const Utf16Decoder&) = delete;
  Utf16Decoder& operator=(const Utf16Decoder&) = delete;
  ~Utf16Decoder() {
    if (converter_ != nullptr) iconv_close(converter_);
  }

  // The text of the next bytes. Needs the first two at once.
  absl::string_view Decode(absl::string_view bytes) {
    if (std::exchange(is_first_, false)) {
      const bool little = absl::StartsWith(bytes, "\xff\xfe");
      if (little || absl::StartsWith(bytes, "\xfe\xff")) {
        const iconv_t made = iconv_open("UTF-8", little ? "UTF-16LE" : "UTF-16BE");
        // Images without the C library's converters exist; there the bytes are no text.
        if (made == reinterpret_cast<iconv_t>(-1)) return bytes;
        converter_ = made;
        bytes.remove_prefix(2);
      }
    }
    if (converter_ == nullptr) return bytes;
    // A character that the last bytes began waits for its end.
    rest_.append(bytes.data(), bytes.size());
    text_.resize(2 * rest_.size());  // three bytes for two, at the most
    char* from = rest_.data();
    size_t left = rest_.size();
    char* to = text_.data();
    size_t room = text_.size();
    while (iconv(converter_, &from, &left, &to, &room) == static_cast<size_t>(-1) &&
           errno == EILSEQ) {
      from += 2;
      left -= 2;
    }
    text_.resize(text_.size() - room);
    rest_.erase(0, rest_.size() - left);
    return text_;
  }

 private:
  iconv_t converter_ = nullptr;  // set: the bytes are UTF-16
  bool is_first_ = true;
  std::string rest_;
  std::string text_;
};

// Reads the text of a file, which may be compressed.
class LogInput {
 public:
  explicit LogInput(const std::string& path) : file_(gzopen(path.c_str(), "rb"), gzclose_r) {}

  // The text stands until the next call, in `buffer` or in this object. Empty: the end.
  absl::StatusOr<absl::string_view> Read(std::string& buffer) {
    while (true) {
      const absl::StatusOr<absl::string_view> bytes = ReadBytes(buffer);
      if (!bytes.ok() || bytes->empty()) return bytes;
      if (const absl::string_view text = decoder_.Decode(*bytes); !text.empty()) return text;
    }
  }
  // The offset in the file on disk.
  int64_t Offset() const { return gzoffset(file_.get()); }
  // gzread reports no error for a compressed file that was cut short.
  absl::Status Close() {
    if (gzclose_r(file_.release()) != Z_BUF_ERROR) return absl::OkStatus();
    return absl::InvalidArgumentError("the compressed data is cut short");
  }

 private:
  absl::StatusOr<absl::string_view> ReadBytes(std::string& buffer) {
    if (file_ == nullptr) return absl::InvalidArgumentError(std::strerror(errno));
    const int n = gzread(file_.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    if (n < 0) {
      int code = Z_OK;
      const char* text = gzerror(file_.get(), &code);
      return absl::InvalidArgumentError(code == Z_ERRNO ? std::strerror(errno) : text);
    }
    return absl::string_view(buffer.data(), static_cast<size_t>(n));
  }

  Utf16Decoder decoder_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

std::string HeadOf(const std::string& path) {
  std::string buffer(kHeadBytes, '\0');
  LogInput input(path);
  const absl::StatusOr<absl::string_view> head = input.Read(buffer);
  return head.ok() ? std::string(*head) : "";
}

std::vector<absl::string_view> LinesOf(absl::string_view head) {
  std::vector<absl::string_view> lines;
  for (absl::string_view line :
       absl::StrSplit(head, absl::ByAnyChar("\r\n"), absl::SkipWhitespace())) {
    if (lines.size() >= kHeadLines) break;
    lines.push_back(line);
  }
  return lines;
}

bool IsText(absl::string_view head) {
  const auto others = static_cast<size_t>(std::count_if(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\x1b' && c != '\b';
  }));
  return others * kTextBytesPerOther <= head.size();
}

// The first key of the object that the text begins with.
absl::string_view FirstKey(absl::string_view text) {
  text = absl::StripLeadingAsciiWhitespace(text.substr(1));
  if (!absl::StartsWith(text, "\"")) return "";
  return text.substr(1, text.find('"', 1) - 1);
}

// True if the text of JSON holds the key with a string as its value.
bool HoldsString(absl::string_view json, absl::string_view key) {
  const std::string quoted = absl::StrCat("\"", key, "\"");
  for (size_t at = json.find(quoted); at != absl::string_view::npos; at = json.find(quoted, at)) {
    at += quoted.size();
    absl::string_view value = absl::StripLeadingAsciiWhitespace(json.substr(at));
    if (!absl::ConsumePrefix(&value, ":")) continue;
    if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(value), "\"")) return true;
  }
  return false;
}

// JSON objects, one after the other or in an array; absent: the text is no JSON.
std::optional<FileContent> ContentOfJson(absl::string_view head) {
  absl::string_view text = absl::StripLeadingAsciiWhitespace(head);
  if (absl::StartsWith(text, "[")) {
    text = absl::StripLeadingAsciiWhitespace(text.substr(1));
    if (absl::StartsWith(text, "]")) return FileContent::kCapture;
  }
  if (!absl::StartsWith(text, "{")) return std::nullopt;
  const absl::string_view key = FirstKey(text);
  if (key.empty()) return std::nullopt;
  if (key == "header" || key == "snapshot") return FileContent::kCapture;
  for (const char* known :
       {"\"textPayload\"", "\"jsonPayload\"", "\"message\"", "\"msg\"", "\"log\""}) {
    if (absl::StrContains(text, known)) return FileContent::kExport;
  }
  for (const char* known : {"MESSAGE", "line", "event", "body"}) {
    if (HoldsString(text, known)) return FileContent::kExport;
  }
  return FileContent::kCapture;
}

absl::Status ReadExport(const std::string& name, LogExport::Form form, LogInput& input,
                        logs::JobLogs& logs, absl::FunctionRef<void()> show) {
  LogExport entries(name, form, logs);
  std::string buffer(kReadBytes, '\0');
  while (true) {
    const absl::StatusOr<absl::string_view> bytes = input.Read(buffer);
    if (!bytes.ok()) return bytes.status();
    if (bytes->empty()) break;
    if (absl::Status status = entries.Add(*bytes); !status.ok()) return status;
    show();
  }
  if (absl::Status status = input.Close(); !status.ok()) return status;
  return entries.Finish();
}

// The logs in one file: several, if its lines are labelled.
class TextLogs {
 public:
  TextLogs(std::string path, const std::vector<absl::string_view>& first_lines, logs::JobLogs& logs)
      : path_(std::move(path)),
        form_(logs::FormOfLabels(first_lines)),
        has_sections_(form_ == logs::LabelForm::kNone && logs::HasSections(first_lines)),
        logs_(logs) {}

  void Take(absl::string_view line) {
    if (has_sections_) return TakeOfSection(line);
    const std::optional<logs::LineLabel> label = logs::TakeLabel(line, form_);
    if (!label) return logs_.Take(LogOf(""), line, std::nullopt);
    std::string key = absl::StrCat("/", label->pod);
    if (label->rank) key = absl::StrCat(*label->rank);
    if (!label->process.empty()) key = absl::StrCat("(", label->process);
    if (!label->host.empty()) key = absl::StrCat(":", label->host);
    if (!label->path.empty()) key = absl::StrCat("#", label->path);
    logs_.Take(LogOf(key), line.substr(label->text), label->unix_ms);
  }

  // A log without a line tells by its name that its worker belongs to the job.
  void Finish() {
    if (known_.empty()) LogOf("");
  }

 private:
  void TakeOfSection(absl::string_view line) {
    if (const absl::string_view name = logs::SectionName(line); !name.empty()) {
      section_ = absl::StrCat("#", name);
    } else {
      logs_.Take(LogOf(section_), line, std::nullopt);
    }
  }

  // Lines without a label have an empty key.
  size_t LogOf(const std::string& key) {
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    logs::LogName name;
    name.path = path_;
    name.of_nobody = key.empty() && form_ != logs::LabelForm::kNone;
    if (absl::StartsWith(key, "(")) {
      name.process = true;
      name.host = key.substr(1, key.find('/') - 1);
    } else if (absl::StartsWith(key, ":")) {
      name.host = key.substr(1);
    } else if (absl::StartsWith(key, "#")) {
      // Of a path the file counts before its folders.
      const bool is_path = absl::StrContains(key, '.') || absl::StrContains(key, '/');
      (is_path ? name.path : name.pod) = key.substr(1);
    } else if (absl::StartsWith(key, "/")) {
      name.pod = key.substr(1, key.find('/', 1) - 1);
    } else if (!key.empty()) {
      name.label = std::stoi(key);
    }
    const size_t log = logs_.Add(std::move(name));
    if (known_.size() < logs::kMaxLogs) known_.emplace(key, log);
    return log;
  }

  const std::string path_;
  const logs::LabelForm form_;
  const bool has_sections_;
  logs::JobLogs& logs_;
  std::string section_;  // the key of the last heading
  std::map<std::string, size_t> known_;
};

absl::Status ReadText(const std::string& name, const std::string& path, LogInput& input,
                      logs::JobLogs& logs, absl::FunctionRef<void()> show) {
  const std::string head = HeadOf(path);
  TextLogs text(name, LinesOf(head), logs);
  const auto take = [&text](absl::string_view line) { text.Take(line); };
  logs::LineSplitter splitter;
  std::string buffer(kReadBytes, '\0');
  while (true) {
    const absl::StatusOr<absl::string_view> bytes = input.Read(buffer);
    if (!bytes.ok()) return bytes.status();
    if (bytes->empty()) break;
    splitter.Add(*bytes, take);
    show();
  }
  splitter.Finish(take);
  text.Finish();
  return input.Close();
}

}  // namespace

FileContent ContentOf(const std::string& path) {
  const std::string head = HeadOf(path);
  if (const std::optional<FileContent> json = ContentOfJson(head)) return *json;
  if (!IsText(head)) return FileContent::kCapture;
  if (BeginsLikeCsvExport(head)) return FileContent::kTable;
  const std::vector<absl::string_view> lines = LinesOf(head);
  const logs::LabelForm form = logs::FormOfLabels(lines);
  const bool log = std::any_of(lines.begin(), lines.end(), [form](absl::string_view line) {
    const std::optional<logs::LineLabel> label = logs::TakeLabel(line, form);
    return logs::IsLogLine(label ? line.substr(label->text) : line);
  });
  return log ? FileContent::kLog : FileContent::kText;
}

absl::string_view CompressionOf(const std::string& path) {
  struct Magic {
    absl::string_view bytes;
    absl::string_view name;
  };
  static constexpr std::array<Magic, 5> kMagics = {{{"BZh", "bzip2"},
                                                    {"\xfd"
                                                     "7zXZ",
                                                     "xz"},
                                                    {"\x28\xb5\x2f\xfd", "zstd"},
                                                    {"\x04\x22\x4d\x18", "lz4"},
                                                    {"PK\x03\x04", "zip"}}};
  const std::string head = HeadOf(path);
  for (const Magic& magic : kMagics) {
    if (absl::StartsWith(head, magic.bytes)) return magic.name;
  }
  return "";
}

LogFileReader::LogFileReader(const std::vector<std::string>& paths, logs::JobLogs& logs)
    : logs_(logs) {
  for (const std::string& path : paths) all_bytes_ += SizeOf(path);
}

void LogFileReader::Show(int64_t bytes_of_file) {
  progress_.Tell(absl::StrCat((done_bytes_ + bytes_of_file) / 1'000'000, " of ",
                              all_bytes_ / 1'000'000, " MB"));
}

absl::Status LogFileReader::Read(const std::string& name, const std::string& path,
                                 FileContent content) {
  LogInput input(path);
  const auto show = [&] { Show(input.Offset()); };
  const auto read_export = [&](LogExport::Form form) {
    return ReadExport(name, form, input, logs_, show);
  };
  const absl::Status status = content == FileContent::kExport ? read_export(LogExport::Form::kJson)
                              : content == FileContent::kTable
                                  ? read_export(LogExport::Form::kCsv)
                                  : ReadText(name, path, input, logs_, show);
  done_bytes_ += SizeOf(path);
  return status;
}

}  // namespace rapideye::cli
