#include "classifier/host/frame.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>

namespace rapideye::classifier {
namespace {

constexpr std::string_view kPythonFile = ".py";

// Modules of Python itself: those in which a thread may wait, and those that call a program.
constexpr std::array<std::string_view, 67> kStandardLibrary = {
    "_bootstrap",
    "_collections_abc",
    "_pyio",
    "_strptime",
    "_weakrefset",
    "abc",
    "ast",
    "asyncio",
    "bdb",
    "bz2",
    "cmd",
    "codecs",
    "concurrent",
    "contextlib",
    "copy",
    "csv",
    "ctypes",
    "datetime",
    "email",
    "fileinput",
    "ftplib",
    "functools",
    "getpass",
    "glob",
    "gzip",
    "hashlib",
    "http",
    "imaplib",
    "importlib",
    "inspect",
    "json",
    "linecache",
    "logging",
    "lzma",
    "multiprocessing",
    "os",
    "pathlib",
    "pdb",
    "pickle",
    "pprint",
    "queue",
    "random",
    "re",
    "runpy",
    "selectors",
    "shelve",
    "shutil",
    "signal",
    "smtplib",
    "socket",
    "socketserver",
    "sqlite3",
    "ssl",
    "subprocess",
    "tarfile",
    "tempfile",
    "threading",
    "tokenize",
    "traceback",
    "urllib",
    "uuid",
    "warnings",
    "weakref",
    "xml",
    "xmlrpc",
    "zipfile",
    "zipimport",
};

constexpr std::array<std::string_view, 85> kPackages = {
    "absl",
    "accelerate",
    "aiohttp",
    "anyio",
    "apache_beam",
    "array_record",
    "boto3",
    "botocore",
    "chex",
    "cloudpickle",
    "clu",
    "comet_ml",
    "cv2",
    "datasets",
    "debugpy",
    "deepspeed",
    "dill",
    "dm_tree",
    "equinox",
    "etils",
    "fiddle",
    "fire",
    "flax",
    "fsspec",
    "gcsfs",
    "google",
    "grain",
    "grpc",
    "h5py",
    "haiku",
    "httpcore",
    "httpx",
    "huggingface_hub",
    "hydra",
    "IPython",
    "jax",
    "jaxlib",
    "joblib",
    "kubernetes",
    "lightning",
    "megatron",
    "ml_collections",
    "mlflow",
    "neptune",
    "numba",
    "numpy",
    "omegaconf",
    "optax",
    "orbax",
    "pandas",
    "paramiko",
    "PIL",
    "prometheus_client",
    "psutil",
    "psycopg2",
    "pyarrow",
    "qwix",
    "rapideye_progress",
    "ray",
    "redis",
    "requests",
    "s3fs",
    "safetensors",
    "scipy",
    "sentencepiece",
    "sentry_sdk",
    "seqio",
    "sklearn",
    "sqlalchemy",
    "tenacity",
    "tensorboardX",
    "tensorflow",
    "tensorflow_datasets",
    "tensorstore",
    "tokenizers",
    "torch",
    "torch_xla",
    "tqdm",
    "transformers",
    "tree",
    "triton",
    "urllib3",
    "wandb",
    "yaml",
    "zarr",
};

// The part of a path before its first slash; for a file, the name without its ending.
std::string_view TopOf(std::string_view file) {
  // Some readers of stacks do not shorten paths.
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = file.rfind(folder);
    if (at != std::string_view::npos) file.remove_prefix(at + folder.size());
  }
  if (!file.empty() && file.front() == '/') {
    const size_t at = file.rfind('/');
    const size_t before = file.rfind('/', at - 1);
    // Shortens "/usr/lib/python3.11/threading.py", but no path of a program in another folder.
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

// Reads "orbax/checkpoint/manager.py:900"; without a number, the whole text is the file.
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
