#include "proto/common/logging/log_line.h"

#include <spdlog/pattern_formatter.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/text/unsafe.h"
#include "proto/common/text/utf8.h"

namespace rapideye::program {
namespace {

// Escapes characters that a line must not hold as they are; for JSON, of text already in quotes.
std::string Escape(std::string_view text, LogFormat format) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view rest = text;
    // A byte that is no character of UTF-8 is no control character either.
    const uint32_t c = text::TakeCharacter(text).value_or(0xFFFD);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (format == LogFormat::kText && (c < 0x20 || c == 0x7F)) {
      absl::StrAppend(&out, "\\x", absl::Hex(c, absl::kZeroPad2));
    } else if (c >= 0x10000 && text::IsUnsafe(c)) {
      // JSON wants such a character as two surrogates.
      absl::StrAppend(&out, "\\u", absl::Hex(0xD7C0 + (c >> 10)), "\\u",
                      absl::Hex(0xDC00 + (c & 0x3FF)));
    } else if (text::IsUnsafe(c)) {
      absl::StrAppend(&out, "\\u", absl::Hex(c, absl::kZeroPad4));
    } else {
      out += rest.substr(0, rest.size() - text.size());
    }
  }
  return out;
}

// The message as JSON wants it inside quotes; bytes that are not UTF-8 become
// U+FFFD, because one of them would make a reader refuse the line.
std::string JsonContent(std::string_view text) {
  const std::string quoted =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return Escape(quoted.substr(1, quoted.size() - 2), LogFormat::kJson);
}

// %* of the pattern: the message, escaped.
class EscapedMessage : public spdlog::custom_flag_formatter {
 public:
  explicit EscapedMessage(LogFormat format) : format_(format) {}

  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const std::string_view text(message.payload.data(), message.payload.size());
    const std::string escaped =
        format_ == LogFormat::kJson ? JsonContent(text) : EscapeControls(text);
    out.append(escaped.data(), escaped.data() + escaped.size());
  }

  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<EscapedMessage>(format_);
  }

 private:
  const LogFormat format_;
};

// %& of the pattern: the level as Cloud Logging names it.
class Severity : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const std::string_view name = NameOf(message.level);
    out.append(name.data(), name.data() + name.size());
  }

  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<Severity>();
  }

 private:
  static std::string_view NameOf(spdlog::level::level_enum level) {
    switch (level) {
      case spdlog::level::info:
        return "INFO";
      case spdlog::level::warn:
        return "WARNING";
      case spdlog::level::err:
        return "ERROR";
      case spdlog::level::critical:
        return "CRITICAL";
      default:
        return "DEBUG";
    }
  }
};

}  // namespace

std::string EscapeControls(std::string_view text) { return Escape(text, LogFormat::kText); }

std::unique_ptr<spdlog::formatter> MakeFormatter(LogFormat format) {
  const char* pattern =
      format == LogFormat::kJson
          ? R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","severity":"%&","level":"%l","program":"%n","message":"%*"})"
          : "%Y-%m-%dT%H:%M:%S.%fZ %l %n: %*";
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<EscapedMessage>('*', format).add_flag<Severity>('&').set_pattern(pattern);
  return formatter;
}

bool LineBudget::Admit(int64_t second, int64_t& suppressed) {
  if (second != second_) {
    second_ = second;
    written_ = 0;
  }
  if (written_ >= lines_per_second_) {
    ++suppressed_;
    return false;
  }
  ++written_;
  suppressed = std::exchange(suppressed_, 0);
  return true;
}

}  // namespace rapideye::program
