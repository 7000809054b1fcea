#include "proto/program/command_line.h"

#include <cctype>

namespace rapideye::program {
namespace {

std::string EnvironmentName(const std::string& flag) {
  std::string name = "RAPIDEYE_";
  for (char c : flag) name += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return name;
}

}  // namespace

template <typename T>
CLI::Option* AddFlag(CLI::App& app, const std::string& name, T& value, const std::string& help) {
  CLI::Option* option;
  if constexpr (std::is_same_v<T, bool>) {
    option = app.add_flag("--" + name, value, help);
  } else if constexpr (std::is_same_v<T, absl::Duration>) {
    option = app.add_option_function<std::string>(
        "--" + name,
        [&value, name](const std::string& text) {
          if (!absl::ParseDuration(text, &value) || value < absl::ZeroDuration()) {
            throw CLI::ValidationError("--" + name, "'" + text + "' is no duration such as 5s");
          }
        },
        help);
    option->default_str(absl::FormatDuration(value));
  } else {
    option = app.add_option("--" + name, value, help)->capture_default_str();
  }
  return option->envname(EnvironmentName(name));
}

template CLI::Option* AddFlag(CLI::App&, const std::string&, std::string&, const std::string&);
template CLI::Option* AddFlag(CLI::App&, const std::string&, bool&, const std::string&);
template CLI::Option* AddFlag(CLI::App&, const std::string&, int&, const std::string&);
template CLI::Option* AddFlag(CLI::App&, const std::string&, absl::Duration&, const std::string&);
template CLI::Option* AddFlag(CLI::App&, const std::string&, std::vector<std::string>&,
                              const std::string&);

void ConfigureApp(CLI::App& app) { app.set_version_flag("--version", Version()); }

std::optional<int> Parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
}

std::string Version() { return RAPIDEYE_VERSION; }

}  // namespace rapideye::program
