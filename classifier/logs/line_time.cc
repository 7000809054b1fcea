#include "classifier/logs/line_time.h"

#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace rapideye::logs {
namespace {

constexpr int64_t kMsPerDay = 86'400'000;

// Days since the epoch of a date of the proleptic Gregorian calendar, and back.
int64_t DaysFromCivil(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t of_era = year - era * 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

// Reads a line from its beginning; a step that fails leaves it failed.
class Cursor {
 public:
  explicit Cursor(absl::string_view line) : line_(line) {}

  bool failed() const { return failed_; }
  size_t at() const { return at_; }
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < line_.size() ? line_[at_ + ahead] : '\0';
  }
  bool Accept(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  void Demand(bool held) { failed_ = failed_ || !held; }
  // A number of exactly so many digits, within the bounds.
  int64_t Digits(int count, int64_t least, int64_t most) {
    int64_t number = 0;
    for (int i = 0; i < count; ++i, ++at_) {
      if (!absl::ascii_isdigit(static_cast<unsigned char>(Peek()))) {
        failed_ = true;
        return least;
      }
      number = number * 10 + (Peek() - '0');
    }
    Demand(number >= least && number <= most);
    return number;
  }
  // Milliseconds of a fraction behind a point or a comma; 0: there is none.
  int64_t Fraction() {
    const bool begins = (Peek() == '.' || Peek() == ',') &&
                        absl::ascii_isdigit(static_cast<unsigned char>(Peek(1)));
    if (!begins) return 0;
    ++at_;
    int64_t ms = 0;
    for (int64_t unit = 100; absl::ascii_isdigit(static_cast<unsigned char>(Peek())); unit /= 10) {
      ms += unit * (Peek() - '0');
      ++at_;
    }
    return ms;
  }

 private:
  absl::string_view line_;
  size_t at_ = 0;
  bool failed_ = false;
};

// "11:26:39.439"
int64_t TimeOfDay(Cursor& cursor) {
  const int64_t hour = cursor.Digits(2, 0, 24);
  cursor.Demand(cursor.Accept(':'));
  const int64_t minute = cursor.Digits(2, 0, 59);
  cursor.Demand(cursor.Accept(':'));
  const int64_t second = cursor.Digits(2, 0, 60);
  return ((hour * 60 + minute) * 60 + second) * 1000 + cursor.Fraction();
}

// Reads "Z", "+01:00", "+0100"; no zone: UTC. Returns milliseconds to subtract.
int64_t Zone(Cursor& cursor) {
  if (cursor.Accept('Z')) return 0;
  const bool east = cursor.Peek() == '+';
  const bool begins = (east || cursor.Peek() == '-') &&
                      absl::ascii_isdigit(static_cast<unsigned char>(cursor.Peek(1)));
  if (!begins) return 0;
  cursor.Accept(east ? '+' : '-');
  const int64_t hours = cursor.Digits(2, 0, 23);
  cursor.Accept(':');
  const int64_t minutes = cursor.Digits(2, 0, 59);
  return (east ? 1 : -1) * (hours * 60 + minutes) * 60'000;
}

LineTime At(int64_t year, int64_t month, int64_t day, int64_t ms_of_day, size_t text) {
  return {DaysFromCivil(year, month, day) * kMsPerDay + ms_of_day, text};
}

// The position of the text behind the time: skips a closing bracket, and one blank.
size_t TextBehind(Cursor& cursor, bool bracket) {
  if (bracket) cursor.Accept(']');
  cursor.Accept(' ');
  return cursor.at();
}

std::optional<LineTime> TakeIso(absl::string_view line) {
  Cursor cursor(line);
  const bool bracket = cursor.Accept('[');
  const int64_t year = cursor.Digits(4, 1970, 9998);
  const char separator = cursor.Peek();
  cursor.Demand(separator == '-' || separator == '/');
  cursor.Accept(separator);
  const int64_t month = cursor.Digits(2, 1, 12);
  cursor.Demand(cursor.Accept(separator));
  const int64_t day = cursor.Digits(2, 1, 31);
  cursor.Demand(cursor.Accept('T') || cursor.Accept(' '));
  int64_t ms = TimeOfDay(cursor);
  ms -= Zone(cursor);
  if (cursor.failed()) return std::nullopt;
  const size_t text = TextBehind(cursor, bracket);
  return At(year, month, day, ms, text);
}

// "I1122 11:26:39.439000   25233 file.cc:38] text", "I20261122 11:26:39 text"
std::optional<LineTime> TakeGlog(absl::string_view line, int64_t year) {
  Cursor cursor(line.substr(1));
  if (line.find(' ') == 9) year = cursor.Digits(4, 1970, 9998);
  const int64_t month = cursor.Digits(2, 1, 12);
  const int64_t day = cursor.Digits(2, 1, 31);
  cursor.Demand(cursor.Accept(' '));
  const int64_t ms = TimeOfDay(cursor);
  if (cursor.failed()) return std::nullopt;
  return At(year, month, day, ms, 0);
}

// "Nov 22 11:26:39 "
std::optional<LineTime> TakeSyslog(absl::string_view line, int64_t year) {
  static constexpr std::array<absl::string_view, 12> kMonths = {"Jan ", "Feb ", "Mar ", "Apr ",
                                                                "May ", "Jun ", "Jul ", "Aug ",
                                                                "Sep ", "Oct ", "Nov ", "Dec "};
  for (size_t month = 0; month < kMonths.size(); ++month) {
    if (line.substr(0, 4) != kMonths[month]) continue;
    Cursor cursor(line.substr(4));
    const int64_t day = cursor.Accept(' ') ? cursor.Digits(1, 1, 9) : cursor.Digits(2, 1, 31);
    cursor.Demand(cursor.Accept(' '));
    const int64_t ms = TimeOfDay(cursor);
    if (cursor.failed()) return std::nullopt;
    const size_t text = 4 + TextBehind(cursor, false);
    return At(year, static_cast<int64_t>(month) + 1, day, ms, text);
  }
  return std::nullopt;
}

// "ERROR 09-15 12:06:21 [core.py:99] text" of vLLM, "INFO:2025-09-20 06:29:56,051:jax:9: text".
std::optional<LineTime> TakeLevel(absl::string_view line, int64_t year) {
  static constexpr std::array<absl::string_view, 5> kLevels = {"DEBUG", "INFO", "WARNING", "ERROR",
                                                               "CRITICAL"};
  for (const absl::string_view level : kLevels) {
    if (!absl::StartsWith(line, level) || line.size() < level.size() + 2) continue;
    const char separator = line[level.size()];
    const absl::string_view rest = line.substr(level.size() + 1);
    if (separator == ':') {
      const std::optional<LineTime> time = TakeIso(rest);
      return time ? std::optional(LineTime{time->unix_ms, 0}) : std::nullopt;
    }
    if (separator != ' ') return std::nullopt;
    Cursor cursor(rest);
    const int64_t month = cursor.Digits(2, 1, 12);
    cursor.Demand(cursor.Accept('-'));
    const int64_t day = cursor.Digits(2, 1, 31);
    cursor.Demand(cursor.Accept(' '));
    const int64_t ms = TimeOfDay(cursor);
    if (cursor.failed()) return std::nullopt;
    return At(year, month, day, ms, 0);
  }
  return std::nullopt;
}

}  // namespace

std::optional<LineTime> TakeLineTime(absl::string_view line, int64_t year) {
  if (line.size() < 15) return std::nullopt;
  const char first = line.front();
  if (absl::ascii_isdigit(static_cast<unsigned char>(first)) || first == '[') return TakeIso(line);
  if (absl::ascii_isdigit(static_cast<unsigned char>(line[1]))) {
    const bool severity = first == 'I' || first == 'W' || first == 'E' || first == 'F';
    return severity ? TakeGlog(line, year) : std::nullopt;
  }
  if (!absl::ascii_isupper(static_cast<unsigned char>(first))) return std::nullopt;
  const std::optional<LineTime> time = TakeSyslog(line, year);
  return time ? time : TakeLevel(line, year);
}

int64_t YearOf(int64_t unix_ms) {
  const int64_t days = unix_ms / kMsPerDay;
  int64_t year = 1970 + days / 366;
  while (DaysFromCivil(year + 1, 1, 1) <= days) ++year;
  return year;
}

}  // namespace rapideye::logs
