// Reads a frame of a stack: its function, its file, and whether the program or a library
// holds it.
//
// Facts: "function (file:line)", as py-spy prints a stack, and "file:line function", elfutils'
// "function (library)"; names of Python's standard library and of the
// packages that programs on JAX and PyTorch use.
#ifndef RAPIDEYE_CLASSIFIER_HOST_FRAME_H_
#define RAPIDEYE_CLASSIFIER_HOST_FRAME_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "proto/v1/evidence.h"

namespace rapideye::classifier {

// Refers into the text that it was read from.
struct Frame {
  std::string_view function;  // empty: not told
  std::string_view file;      // of Python, or a shared library; empty: not told
  std::optional<int64_t> line;

  bool IsPython() const;
  // Python that belongs to none of the known libraries, hence to the program.
  bool IsProgram() const;
  // True for Python's own modules, in which all programs wait.
  bool IsStandardLibrary() const;
  // The file is that of a package, "jax" for "jax/_src/array.py"; likewise a module that is
  // one file, "threading" for "threading.py".
  bool IsOf(std::string_view package) const;
};

Frame ParseFrame(std::string_view text);

// Innermost first; they refer into the stack.
using Frames = std::vector<Frame>;
Frames ParseFrames(const Stack& stack);

// The innermost frame that is of the program; null: none.
const Frame* ProgramFrame(const Frames& frames);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HOST_FRAME_H_
