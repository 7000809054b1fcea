#include "tests/support/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

namespace rapideye::cli {

std::string Slurp(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

namespace {

// The files of this process's tests, until it ends.
class Folder {
 public:
  Folder() { std::filesystem::create_directories(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("rapideye_cli_" + std::to_string(getpid()));
};

}  // namespace

std::string TempPath(const std::string& name) {
  static const Folder folder;
  return folder.path() / name;
}

std::string File(const std::string& name, const std::string& content) {
  std::string path = TempPath(name);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

Result RunProgram(std::vector<std::string> command, int stdout_fd, const std::string& input) {
  const std::string out = TempPath("out");
  const std::string err = TempPath("err");
  std::vector<char*> argv;
  for (std::string& arg : command) argv.push_back(arg.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kCreate = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
  if (stdout_fd < 0) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), kCreate, 0600);
  } else {
    posix_spawn_file_actions_adddup2(&actions, stdout_fd, STDOUT_FILENO);
  }
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), kCreate, 0600);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);

  Result result;
  int status = 0;
  if (error != 0 || waitpid(pid, &status, 0) != pid) return result;
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (stdout_fd < 0) result.out = Slurp(out);
  result.err = Slurp(err);
  return result;
}

std::string RapideyePath() { return RAPIDEYE_BINARY; }

Result Rapideye(std::vector<std::string> args, int stdout_fd, const std::string& input) {
  args.insert(args.begin(), RapideyePath());
  return RunProgram(std::move(args), stdout_fd, input);
}

std::vector<nlohmann::ordered_json> JsonLines(const std::string& text) {
  std::vector<nlohmann::ordered_json> objects;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    objects.push_back(nlohmann::ordered_json::parse(line));
  }
  return objects;
}

}  // namespace rapideye::cli
