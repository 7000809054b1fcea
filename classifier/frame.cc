#include "classifier/frame.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>

namespace rapideye::classifier {
namespace {

constexpr std::string_view kPythonFile = ".py";

// Of Python itself: whatever a thread may wait in, and what stands around a program.
constexpr std::array<std::string_view, 44> kStandardLibrary = {
    "_bootstrap",
    "_collections_abc",
    "_pyio",
    "_weakrefset",
    "abc",
    "ast",
    "asyncio",
    "bdb",
    "bz2",
    "codecs",
    "concurrent",
    "contextlib",
    "copy",
    "ctypes",
    "functools",
    "gzip",
    "http",
    "importlib",
    "inspect",
    "json",
    "logging",
    "lzma",
    "multiprocessing",
    "os",
    "pathlib",
    "pickle",
    "queue",
    "random",
    "re",
    "runpy",
    "selectors",
    "shutil",
    "signal",
    "socket",
    "socketserver",
    "ssl",
    "subprocess",
    "tarfile",
    "tempfile",
    "threading",
    "traceback",
    "urllib",
    "weakref",
    "zipfile",
};

constexpr std::array<std::string_view, 50> kPackages = {
    "absl",
    "aiohttp",
    "apache_beam",
    "array_record",
    "boto3",
    "botocore",
    "chex",
    "clu",
    "cloudpickle",
    "datasets",
    "deepspeed",
    "dm_tree",
    "equinox",
    "etils",
    "fiddle",
    "flax",
    "fsspec",
    "gcsfs",
    "google",
    "grain",
    "grpc",
    "haiku",
    "huggingface_hub",
    "jax",
    "jaxlib",
    "lightning",
    "megatron",
    "ml_collections",
    "numpy",
    "optax",
    "orbax",
    "pandas",
    "pyarrow",
    "qwix",
    "rapideye_progress",
    "requests",
    "s3fs",
    "scipy",
    "seqio",
    "tenacity",
    "tensorboardX",
    "tensorflow",
    "tensorflow_datasets",
    "tensorstore",
    "torch",
    "torch_xla",
    "transformers",
    "tree",
    "urllib3",
    "wandb",
};

// The part of a path before its first slash; a file without its ending.
std::string_view TopOf(std::string_view file) {
  // Paths that the reader of the stack did not shorten.
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = file.rfind(folder);
    if (at != std::string_view::npos) file.remove_prefix(at + folder.size());
  }
  if (!file.empty() && file.front() == '/') {
    const size_t at = file.rfind('/');
    const size_t before = file.rfind('/', at - 1);
    // "/usr/lib/python3.11/threading.py", but no program that lies anywhere else.
    if (before != std::string_view::npos && at > 0 &&
        file.substr(before + 1).starts_with("python")) {
      file.remove_prefix(at + 1);
    }
  }
  std::string_view top = file.substr(0, file.find('/'));
  if (top.ends_with(kPythonFile)) top.remove_suffix(kPythonFile.size());
  return top;
}

template <typename Names>
bool Holds(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "orbax/checkpoint/manager.py:900"; without a number the whole is the file.
void TakeFile(std::string_view text, Frame& frame) {
  frame.file = text;
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return;
  int64_t line = 0;
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data() + colon + 1, end, line);
  if (error != std::errc() || read_to != end) return;
  frame.file = text.substr(0, colon);
  frame.line = line;
}

}  // namespace

bool Frame::IsPython() const { return file.ends_with(kPythonFile) || file.starts_with('<'); }

bool Frame::IsOf(std::string_view package) const { return TopOf(file) == package; }

bool Frame::IsStandardLibrary() const {
  return file.starts_with('<') ||
         (file.ends_with(kPythonFile) && Holds(kStandardLibrary, TopOf(file)));
}

bool Frame::IsProgram() const {
  if (!file.ends_with(kPythonFile)) return false;
  const std::string_view top = TopOf(file);
  return !Holds(kStandardLibrary, top) && !Holds(kPackages, top);
}

Frame ParseFrame(std::string_view text) {
  Frame frame;
  const size_t bracket = text.rfind(" (");
  if (bracket != std::string_view::npos && text.ends_with(')')) {
    frame.function = text.substr(0, bracket);
    TakeFile(text.substr(bracket + 2, text.size() - bracket - 3), frame);
    return frame;
  }
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) {
    frame.function = text;
    return frame;
  }
  TakeFile(text.substr(0, space), frame);
  if (!frame.line.has_value()) return {.function = text, .file = {}, .line = {}};
  frame.function = text.substr(space + 1);
  return frame;
}

Frames ParseFrames(const Stack& stack) {
  Frames frames;
  for (const std::string& text : stack.frames) frames.push_back(ParseFrame(text));
  return frames;
}

const Frame* ProgramFrame(const Frames& frames) {
  const auto it = std::find_if(frames.begin(), frames.end(),
                               [](const Frame& frame) { return frame.IsProgram(); });
  return it == frames.end() ? nullptr : &*it;
}

}  // namespace rapideye::classifier
