#include "proto/wire/json_record.h"

#include <cstddef>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "proto/wire/json_handler.h"
#include "proto/wire/limits.h"

namespace rapideye::wire {
namespace {

// A line of a source as a range of characters: ends before the newline, and before any
// character that no line may hold.
class Line {
 public:
  explicit Line(ByteSource& in) : in_(in) {}

  bool AtEnd() {
    if (in_.AtEnd()) return true;
    const char c = in_.Peek();
    // nlohmann takes a NUL byte for the end of its input, and would accept
    // whatever follows.
    return c == '\n' || c == '\0' || bytes_ >= kMaxRecordBytes;
  }
  char Peek() const { return in_.Peek(); }
  void Advance() {
    in_.Advance();
    ++bytes_;
  }

  // Why the line ended where it did, if not rightly.
  absl::Status Finish() {
    if (!in_.status().ok()) return in_.status();
    if (in_.AtEnd()) return in_.status();
    if (in_.Peek() == '\0') {
      return absl::InvalidArgumentError(absl::StrCat("a NUL byte after ", bytes_, " bytes"));
    }
    if (in_.Peek() != '\n' && bytes_ >= kMaxRecordBytes) {
      return absl::InvalidArgumentError(absl::StrCat("longer than ", kMaxRecordBytes, " bytes"));
    }
    return absl::OkStatus();
  }

 private:
  ByteSource& in_;
  size_t bytes_ = 0;
};

// The input iterator that nlohmann reads; one without a line is the end.
class LineIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  explicit LineIterator(Line* line) : line_(line) {}
  char operator*() const { return line_->Peek(); }
  LineIterator& operator++() {
    line_->Advance();
    return *this;
  }
  bool operator==(const LineIterator&) const { return line_->AtEnd(); }

 private:
  Line* line_;
};

}  // namespace

absl::Status ReadJsonRecord(ByteSource& in, RecordBudget& budget, v1::CaptureRecord& record) {
  Line line(in);
  if (line.AtEnd()) {
    absl::Status why = line.Finish();
    return why.ok() ? absl::InvalidArgumentError("an empty line") : why;
  }
  // nlohmann would skip a byte order mark.
  if (line.Peek() == '\xEF') return absl::InvalidArgumentError("does not begin with '{'");

  JsonHandler handler(record, budget);
  const bool parsed = nlohmann::json::sax_parse(LineIterator(&line), LineIterator(&line), &handler);
  // The reason why the input ended explains more than the parser's error. A parse that stopped
  // for a reason of its own left the line in its middle.
  if (line.AtEnd()) {
    if (absl::Status why = line.Finish(); !why.ok()) return why;
  }
  if (!parsed) return handler.status();
  if (record.record_case() == v1::CaptureRecord::RECORD_NOT_SET) {
    return absl::InvalidArgumentError("holds neither of the keys 'header' and 'snapshot'");
  }
  if (!in.AtEnd()) in.Advance();  // the newline
  return absl::OkStatus();
}

}  // namespace rapideye::wire
