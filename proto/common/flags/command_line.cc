#include "proto/common/flags/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <type_traits>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "proto/common/flags/flag_value.h"
#include "proto/common/release/release.h"
#include "proto/common/text/likeness.h"

namespace rapideye::program {
namespace {

constexpr size_t kHelpColumn = 34;
// Stands in place of a variable's name: no environment can hold it.
constexpr char kNoVariable[] = "no=variable";

std::string EnvironmentName(const std::string& flag) {
  return absl::StrCat("RAPIDEYE_", absl::AsciiStrToUpper(absl::StrReplaceAll(flag, {{"-", "_"}})));
}

// True if this value came from the environment, not from the command line. When
// both say the same, either answer is right.
bool FromEnvironment(const std::string& flag, const std::string& text) {
  const char* variable = std::getenv(EnvironmentName(flag).c_str());
  return variable != nullptr && text == variable;
}

// Refuses a value, naming whichever of flag and variable it came from.
[[noreturn]] void Refuse(const std::string& flag, const std::string& text, const char* expected) {
  const std::string name = FromEnvironment(flag, text) ? EnvironmentName(flag) : "--" + flag;
  throw CLI::ValidationError(name,
                             absl::StrCat("'", absl::Utf8SafeCEscape(text), "' is not ", expected));
}

// A way of filling a value from the texts given for it.
template <typename T>
struct Binding {
  static constexpr bool kIsList = false;
  static constexpr bool kIsSwitch = std::is_same_v<T, bool>;
  static FlagType Type() { return TypeOf(T{}); }
  static std::string Default(const T& value) { return Show(value); }
  static void Set(const std::string& flag, const std::vector<std::string>& texts, T& value) {
    if (!ParseValue(texts.back(), value)) Refuse(flag, texts.back(), Type().expected);
  }
};

template <typename T>
struct Binding<std::optional<T>> {
  static constexpr bool kIsList = false;
  static constexpr bool kIsSwitch = false;
  static constexpr bool kHasAuto = std::is_same_v<T, absl::Duration>;
  static FlagType Type() {
    if (kHasAuto) return {"auto|DURATION", "'auto' or a duration such as 500ms, 5s or 2m"};
    return TypeOf(T{});
  }
  static std::string Default(const std::optional<T>& value) {
    return value ? Show(*value) : kHasAuto ? "auto" : "";
  }
  static void Set(const std::string& flag, const std::vector<std::string>& texts,
                  std::optional<T>& value) {
    T parsed{};
    if (kHasAuto && texts.back() == "auto") {
      value.reset();
    } else if (ParseValue(texts.back(), parsed)) {
      value = parsed;
    } else {
      Refuse(flag, texts.back(), Type().expected);
    }
  }
};

template <>
struct Binding<std::vector<std::string>> {
  static constexpr bool kIsList = true;
  static constexpr bool kIsSwitch = false;
  static FlagType Type() { return {"TEXT", "text"}; }
  static std::string Default(const std::vector<std::string>& value) { return Show(value); }
  static void Set(const std::string& flag, const std::vector<std::string>& texts,
                  std::vector<std::string>& value) {
    if (texts.size() == 1 && FromEnvironment(flag, texts[0])) {
      value = absl::StrSplit(texts[0], ',', absl::SkipEmpty());
    } else {
      value = texts;
    }
  }
};

// Prints --flag=TYPE, then the help text, the default and the variable of the flag.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kHelpColumn); }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_positional()) return Formatter::make_option_opts(option);
    return option->get_type_name().empty() ? "" : "=" + option->get_type_name();
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    if (option->get_envname().empty()) return text;  // --help and --version themselves
    const std::string value = option->get_default_str();
    const bool repeatable = option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    absl::StrAppend(
        &text, " [", repeatable ? "repeatable; " : "", "default: ", value.empty() ? "none" : value,
        "; ", option->get_envname() == kNoVariable ? "no variable" : option->get_envname(), "]");
    return text;
  }
};

// The command that was called: "rapideye fleet history".
std::string CommandOf(const CLI::App* app) {
  std::string command = app->get_name();
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    absl::StrAppend(&command, " ", app->get_name());
  }
  return command;
}

// The command itself, below those that only hold commands.
const CLI::App* Deepest(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

std::vector<std::string> FlagsOf(const CLI::App* app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

// The first argument that nobody takes, and the command before which it stands (its own parent), or
// to which it was given.
struct Extra {
  const CLI::App* at = nullptr;
  std::string text;
  std::string called;  // "rapideye fleet": the commands up to `at`
};

Extra FindExtra(const CLI::App* app) {
  Extra extra;
  std::string called = app->get_name();
  while (true) {
    const std::vector<std::string> rest = app->remaining();
    // "--" stands before a command of the user's, and is none.
    const auto taken =
        std::find_if(rest.begin(), rest.end(), [](const auto& one) { return one != "--"; });
    if (taken != rest.end()) {
      extra = {app, *taken, called};
      break;
    }
    if (app->get_subcommands().empty()) break;
    app = app->get_subcommands().front();
    absl::StrAppend(&called, " ", app->get_name());
  }
  return extra;
}

struct Complaint {
  std::string text;
  std::string command;  // whose --help leads further
};

// Says of an argument that nobody takes what it is, where it stands, and what was probably meant.
Complaint OfExtra(const CLI::App* top) {
  const Extra extra = FindExtra(top);
  if (extra.at == nullptr) return {"an argument was not expected", CommandOf(top)};
  const std::string flag = extra.text.substr(0, extra.text.find('='));
  const std::string shown = absl::Utf8SafeCEscape(flag);
  if (!flag.starts_with("-")) {
    return {
        absl::StrCat(extra.called, ": takes no argument '", absl::Utf8SafeCEscape(extra.text), "'"),
        extra.called};
  }
  const bool before = !extra.at->get_subcommands().empty();
  const std::vector<std::string> known = FlagsOf(Deepest(extra.at));
  if (before && std::find(known.begin(), known.end(), flag) != known.end()) {
    return {absl::StrCat(extra.called, ": ", shown, " stands behind the command: ", CommandOf(top),
                         " ", shown, extra.text == flag ? "" : "=…"),
            CommandOf(top)};
  }
  const std::string meant = text::ProbablyMeant(flag, before ? FlagsOf(extra.at) : known);
  return {absl::StrCat(extra.called, ": there is no flag ", shown,
                       before ? " before a command; the flags of a command stand behind it" : "",
                       meant.empty() ? "" : absl::StrCat("; did you mean ", meant, "?")),
          extra.called};
}

Complaint ComplaintOf(const CLI::App* app, const CLI::Error& error) {
  const auto is = [&error](CLI::ExitCodes code) {
    return error.get_exit_code() == static_cast<int>(code);
  };
  // What is required may be missing because of it.
  const bool extra = FindExtra(app).at != nullptr;
  if (is(CLI::ExitCodes::ExtrasError) || (is(CLI::ExitCodes::RequiredError) && extra)) {
    return OfExtra(app);
  }
  const std::string command = CommandOf(app);
  const auto commands = Deepest(app)->get_subcommands([](const CLI::App*) { return true; });
  if (is(CLI::ExitCodes::RequiredError) && !commands.empty()) {
    return {absl::StrCat(command, ": a command is missing: ",
                         absl::StrJoin(commands, ", ",
                                       [](std::string* out, const CLI::App* one) {
                                         out->append(one->get_name());
                                       })),
            command};
  }
  return {absl::StrCat(app->get_name(), ": ", error.what()), command};
}

std::string FailureMessage(const CLI::App* app, const CLI::Error& error) {
  const Complaint complaint = ComplaintOf(app, error);
  return absl::StrCat(complaint.text, "\nRun '", complaint.command, " --help' for more.\n");
}

void ConfigureLevel(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.failure_message(FailureMessage);
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    // With this callback a command's flags are read from the environment only if the command is
    // called: another command may not know the value.
    command->parse_complete_callback([] {});
    ConfigureLevel(*command);
  }
}

}  // namespace

AddedOption& AddedOption::Among(const std::vector<std::string>& texts) {
  CLI::Validator among = CLI::IsMember(texts);  // whose description the help shows
  among.operation([texts, option = option_](const std::string& text) -> std::string {
    if (std::find(texts.begin(), texts.end(), text) != texts.end()) return "";
    const char* variable = std::getenv(option->get_envname().c_str());
    return absl::StrCat("'", absl::Utf8SafeCEscape(text), "'",
                        variable != nullptr && text == variable
                            ? absl::StrCat(" of the variable ", option->get_envname())
                            : "",
                        " is none of ", absl::StrJoin(texts, ", "));
  });
  option_->check(among);
  return *this;
}

AddedOption& AddedOption::Required() {
  option_->required();
  return *this;
}

AddedOption& AddedOption::DefaultText(const std::string& text) {
  option_->default_str(text);
  return *this;
}

AddedOption& AddedOption::TypeText(const std::string& text) {
  option_->type_name(text);
  return *this;
}

AddedOption& AddedOption::WithoutVariable() {
  option_->envname(kNoVariable);
  return *this;
}

bool AddedOption::Given() const { return option_->count() > 0; }

template <typename T>
AddedOption AddFlag(CLI::App& app, const std::string& name, T& value, const std::string& help) {
  using Flag = Binding<T>;
  CLI::Option* option = nullptr;
  if constexpr (Flag::kIsSwitch) {
    // The flag is not bound to the variable: CLI11 would report 'maybe' as an error
    // without a name, and take '2' for true.
    option = app.add_flag("--" + name, help)->each([&value, name](const std::string& text) {
      Flag::Set(name, {text}, value);
    });
  } else {
    const CLI::callback_t set = [&value, name](const CLI::results_t& texts) {
      Flag::Set(name, texts, value);
      return true;
    };
    option = app.add_option("--" + name, set, help)->expected(1)->allow_extra_args(false);
  }
  option->multi_option_policy(Flag::kIsList ? CLI::MultiOptionPolicy::TakeAll
                                            : CLI::MultiOptionPolicy::TakeLast);
  return AddedOption(*option->type_name(Flag::Type().label)
                          ->default_str(Flag::Default(value))
                          ->envname(EnvironmentName(name)));
}

AddedOption AddShortcut(CLI::App& app, const std::string& name, std::string& target,
                        const std::string& value, const std::string& help) {
  CLI::Option* option =
      app.add_flag("--" + name, help)->each([&target, name, value](const std::string& text) {
        bool chosen = false;
        Binding<bool>::Set(name, {text}, chosen);
        if (chosen) target = value;
      });
  option->default_str("false");
  option->envname(kNoVariable);
  return AddedOption(*option);
}

template <typename T>
AddedOption AddArgument(CLI::App& app, const std::string& name, T& value, const std::string& help) {
  return AddedOption(*app.add_option(name, value, help));
}
template AddedOption AddArgument(CLI::App&, const std::string&, std::string&, const std::string&);
template AddedOption AddArgument(CLI::App&, const std::string&, std::vector<std::string>&,
                                 const std::string&);

CLI::App& AddCommand(CLI::App& app, const std::string& name, const std::string& help) {
  return *app.add_subcommand(name, help);
}

void RequireCommand(CLI::App& app) { app.require_subcommand(1); }

bool Chosen(const CLI::App& command) { return command.parsed(); }

#define RAPIDEYE_FLAG_TYPE(...) \
  template AddedOption AddFlag(CLI::App&, const std::string&, __VA_ARGS__&, const std::string&)
RAPIDEYE_FLAG_TYPE(std::string);
RAPIDEYE_FLAG_TYPE(bool);
RAPIDEYE_FLAG_TYPE(int32_t);
RAPIDEYE_FLAG_TYPE(int64_t);
RAPIDEYE_FLAG_TYPE(uint32_t);
RAPIDEYE_FLAG_TYPE(uint64_t);
RAPIDEYE_FLAG_TYPE(double);
RAPIDEYE_FLAG_TYPE(absl::Duration);
RAPIDEYE_FLAG_TYPE(ByteSize);
RAPIDEYE_FLAG_TYPE(std::optional<int32_t>);
RAPIDEYE_FLAG_TYPE(std::optional<int64_t>);
RAPIDEYE_FLAG_TYPE(std::optional<std::string>);
RAPIDEYE_FLAG_TYPE(std::optional<absl::Duration>);
RAPIDEYE_FLAG_TYPE(std::vector<std::string>);
#undef RAPIDEYE_FLAG_TYPE

void ConfigureApp(CLI::App& app, std::optional<int> protocol) {
  // Debian's abseil is built to watch the order in which all mutexes are locked, gRPC's
  // too: each lock costs more, what it notes of mutexes that are gone adds up with every
  // connection, and an order that it dislikes ends the process.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  app.set_version_flag("-V,--version", VersionText(app.get_name(), protocol));
  ConfigureLevel(app);
}

// `--flag=$UNSET` would take the next argument for its value.
std::optional<std::string> EmptyFlag(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--") break;
    if (argument.size() > 3 && argument.starts_with("--") && argument.ends_with("=") &&
        argument.find('=') == argument.size() - 1) {
      return argument;
    }
  }
  return std::nullopt;
}

namespace {

std::optional<int> ParseOrSay(CLI::App& app, int argc, char** argv, std::ostream& errors) {
  try {
    if (const std::optional<std::string> flag = EmptyFlag(argc, argv)) {
      throw CLI::ValidationError(
          *flag, "has no value; leave it out for the default, or give it one after the =");
    }
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, errors) == 0 ? kExitOk : kExitUsage;
  }
}

}  // namespace

std::optional<int> Parse(CLI::App& app, int argc, char** argv) {
  return ParseOrSay(app, argc, argv, std::cerr);
}

std::optional<int> Parse(CLI::App& app, int argc, char** argv, std::string& problem) {
  std::ostringstream errors;
  const std::optional<int> exit_code = ParseOrSay(app, argc, argv, errors);
  problem = errors.str();
  return exit_code;
}

std::string Version() { return Release(); }

std::string VersionText(const std::string& program, std::optional<int> protocol) {
  std::vector<std::string> origin;
  if (!Commit().empty()) origin.push_back("commit " + Commit());
  if (protocol.has_value()) origin.push_back(absl::StrCat("protocol ", *protocol));
  const std::string text = absl::StrCat(program, " ", Release());
  return origin.empty() ? text : absl::StrCat(text, " (", absl::StrJoin(origin, ", "), ")");
}

}  // namespace rapideye::program
