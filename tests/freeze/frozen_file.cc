#include "tests/freeze/frozen_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/freeze/sha256.h"

namespace rapideye::freeze {
namespace {

namespace fs = std::filesystem;

// More would hide the first ones: a change of one renderer touches every line.
constexpr size_t kMostShown = 10;

constexpr size_t kMostOfALine = 600;

bool IsRewrite() { return std::getenv("RAPIDEYE_REWRITE_FROZEN") != nullptr; }

void Write(const fs::path& path, std::string_view bytes) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << bytes;
  out.close();
  ASSERT_TRUE(out) << "cannot write " << path;
}

// The bytes themselves, for those who want to see them.
void Output(const fs::path& name, std::string_view bytes) {
  const char* folder = std::getenv("RAPIDEYE_FROZEN_OUTPUT");
  if (folder != nullptr) Write(fs::path(folder) / name, bytes);
}

// The lines of `from` in [begin, end), each behind `mark`; a few, and not all of a long one.
std::string Excerpt(char mark, const std::vector<std::string>& from, size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end; ++i) {
    if (i == begin + kMostShown) return absl::StrCat(text, "  ... ", end - i, " more\n");
    absl::StrAppend(&text, "  ", std::string(1, mark), from[i].substr(0, kMostOfALine), "\n");
  }
  return text;
}

std::string Value(const std::map<std::string, std::string>& forms, const std::string& form) {
  const auto found = forms.find(form);
  return found == forms.end() ? "nothing" : found->second;
}

// "json (was 01ab..., is 23cd...)"; nothing if they are equal.
std::string Difference(const std::map<std::string, std::string>& frozen,
                       const std::map<std::string, std::string>& made) {
  std::set<std::string> forms;
  for (const auto& [form, digits] : frozen) forms.insert(form);
  for (const auto& [form, digits] : made) forms.insert(form);
  std::vector<std::string> differences;
  for (const std::string& form : forms) {
    const std::string was = Value(frozen, form);
    const std::string is = Value(made, form);
    if (was != is) differences.push_back(absl::StrCat(form, " (was ", was, ", is ", is, ")"));
  }
  return absl::StrJoin(differences, ", ");
}

}  // namespace

std::string FrozenFolder() {
  const char* folder = std::getenv("RAPIDEYE_TEST_DATA");
  return folder == nullptr ? "tests/freeze" : folder;
}

void CompareText(const std::string& name, const std::string& text) {
  const std::string path = absl::StrCat(FrozenFolder(), "/", name);
  Output(name, text);
  if (IsRewrite()) {
    Write(path, text);
    FAIL() << "rewrote " << path << ": look at what differs (tests/freeze/README.md)";
  }
  std::ostringstream committed;
  committed << std::ifstream(path, std::ios::binary).rdbuf();
  if (committed.str() == text) return;
  const std::vector<std::string> was = absl::StrSplit(committed.str(), '\n');
  const std::vector<std::string> is = absl::StrSplit(text, '\n');
  size_t same = 0;
  while (same < std::min(was.size(), is.size()) && was[same] == is[same]) ++same;
  size_t tail = 0;
  while (tail < std::min(was.size(), is.size()) - same &&
         was[was.size() - 1 - tail] == is[is.size() - 1 - tail]) {
    ++tail;
  }
  ADD_FAILURE() << path << ":" << same + 1 << " differs (tests/freeze/README.md)\n"
                << Excerpt('-', was, same, was.size() - tail)
                << Excerpt('+', is, same, is.size() - tail);
}

FrozenFile::FrozenFile(std::string name, std::string comment, size_t digits)
    : name_(std::move(name)),
      path_(absl::StrCat(FrozenFolder(), "/", name_, ".txt")),
      comment_(std::move(comment)),
      digits_(digits) {}

void FrozenFile::Add(const std::string& subject, const std::string& form, std::string_view bytes) {
  ASSERT_EQ(subject.find_first_of(" \n"), std::string::npos) << subject;
  ASSERT_EQ(form.find_first_of(" =\n"), std::string::npos) << form;
  const bool added = made_[subject].emplace(form, Sha256(bytes).substr(0, digits_)).second;
  ASSERT_TRUE(added) << subject << " has two of the form " << form;
  Output(fs::path(name_) / subject / form, bytes);
}

FrozenFile::Subjects FrozenFile::Read() const {
  std::ifstream in(path_, std::ios::binary);
  if (!in) ADD_FAILURE() << path_ << " is missing: run with RAPIDEYE_REWRITE_FROZEN=1";
  Subjects subjects;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    Forms& forms = subjects[words.front()];
    for (size_t i = 1; i < words.size(); ++i) {
      const size_t equals = words[i].rfind('=');
      if (equals == std::string::npos) {
        ADD_FAILURE() << path_ << ": \"" << words[i] << "\" is not <form>=<hex digits>: " << line;
        continue;
      }
      forms[words[i].substr(0, equals)] = words[i].substr(equals + 1);
    }
  }
  return subjects;
}

void FrozenFile::Rewrite() const {
  std::string text = comment_;
  for (const auto& [subject, forms] : made_) {
    absl::StrAppend(&text, subject);
    for (const auto& [form, digits] : forms) absl::StrAppend(&text, " ", form, "=", digits);
    absl::StrAppend(&text, "\n");
  }
  Write(path_, text);
}

void FrozenFile::Compare() const {
  if (IsRewrite()) {
    Rewrite();
    FAIL() << "rewrote " << path_ << ": look at what differs (tests/freeze/README.md)";
  }
  const Subjects frozen = Read();
  std::vector<std::string> failures;
  for (const auto& [subject, forms] : made_) {
    const auto found = frozen.find(subject);
    if (found == frozen.end()) {
      failures.push_back(subject + " is new");
    } else if (const std::string difference = Difference(found->second, forms);
               !difference.empty()) {
      failures.push_back(absl::StrCat(subject, " differs: ", difference));
    }
  }
  for (const auto& [subject, forms] : frozen) {
    if (!made_.contains(subject)) failures.push_back(subject + " is not made any more");
  }
  for (size_t i = 0; i < failures.size() && i < kMostShown; ++i) {
    ADD_FAILURE() << path_ << ": " << failures[i];
  }
  EXPECT_TRUE(failures.empty()) << path_ << ": " << failures.size() << " of " << made_.size()
                                << " differ; tests/freeze/README.md says how to see what";
}

}  // namespace rapideye::freeze
