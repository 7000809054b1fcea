// Compares the output of a build with the SHA-256 sums of a committed file.
#ifndef RAPIDEYE_TESTS_FREEZE_FROZEN_FILE_H_
#define RAPIDEYE_TESTS_FREEZE_FROZEN_FILE_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace rapideye::freeze {

// RAPIDEYE_TEST_DATA, where the committed files lie, or tests/freeze.
std::string FrozenFolder();

// Holds `text` against the committed file FrozenFolder()/<name>, with the same two
// variables; a failure shows the first lines that differ.
void CompareText(const std::string& name, const std::string& text);

// The generators of scenarios and simulations draw several random numbers in one call, in
// an order that is the compiler's choice: what they make is frozen as g++ makes it.
#ifdef __clang__
inline constexpr bool kGeneratesAsFrozen = false;
#else
inline constexpr bool kGeneratesAsFrozen = true;
#endif
inline constexpr char kGeneratesOtherwise[] =
    "this compiler draws the generators' random numbers in another order than g++";

// A committed file has one line per subject, sorted:
//   <subject> <form>=<hex digits> <form>=<hex digits> ...
// Lines that begin with # and empty lines mean nothing.
//
// Of the environment it reads
//   RAPIDEYE_REWRITE_FROZEN  set: Compare() writes the file anew, and fails
//   RAPIDEYE_FROZEN_OUTPUT   a folder: Add() writes the bytes themselves to
//                            <folder>/<name>/<subject>/<form>
class FrozenFile {
 public:
  // `name` of the file in FrozenFolder(), without ".txt". `comment`
  // is its first lines, each beginning with #. `digits` of each SHA-256 are kept.
  FrozenFile(std::string name, std::string comment, size_t digits = kAllDigits);

  // What was made for `subject`, in one of its forms. Neither may hold blanks, and a
  // pair is added once. A form may carry the ending of a file.
  void Add(const std::string& subject, const std::string& form, std::string_view bytes);

  // A non-fatal failure of GoogleTest per subject that is new, missing or different
  // (the first few; then how many), which names the forms that differ.
  void Compare() const;

  static constexpr size_t kAllDigits = 64;

 private:
  using Forms = std::map<std::string, std::string>;  // digits by form
  using Subjects = std::map<std::string, Forms>;

  Subjects Read() const;
  void Rewrite() const;

  const std::string name_;
  const std::string path_;
  const std::string comment_;
  const size_t digits_;
  Subjects made_;
};

}  // namespace rapideye::freeze

#endif  // RAPIDEYE_TESTS_FREEZE_FROZEN_FILE_H_
