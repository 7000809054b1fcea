// The folder of rules is what it says: one rule a file, none knows another, and the
// index names them all.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace rapideye {
namespace {

namespace fs = std::filesystem;

fs::path Classifier() {
  const char* const tests = std::getenv("RAPIDEYE_TEST_DATA");
  return fs::path(tests == nullptr ? "tests" : tests).parent_path() / "classifier";
}

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<fs::path> Rules() {
  std::vector<fs::path> rules;
  for (const auto& entry : fs::directory_iterator(Classifier() / "rules")) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".cc") && !name.ends_with("_test.cc")) rules.push_back(entry.path());
  }
  return rules;
}

TEST(Rules, NoneKnowsAnother) {
  ASSERT_GE(Rules().size(), 9U);
  for (const fs::path& rule : Rules()) {
    const std::string text = ReadAll(rule);
    size_t at = 0;
    while ((at = text.find("#include \"classifier/rules/", at)) != std::string::npos) {
      const size_t end = text.find('\n', at);
      EXPECT_EQ(text.substr(at, end - at), "#include \"classifier/rules/rules.h\"") << rule;
      at = end;
    }
  }
}

TEST(Rules, EachSaysWhatItEstablishes) {
  for (const fs::path& rule : Rules()) {
    EXPECT_TRUE(ReadAll(rule).starts_with("// ")) << rule << " begins without a comment";
    EXPECT_NE(ReadAll(rule).find("//\n// Facts: "), std::string::npos)
        << rule << " does not say from which facts";
  }
}

TEST(Rules, TheIndexNamesThemAll) {
  const std::string index = ReadAll(Classifier() / "README.md");
  ASSERT_FALSE(index.empty());
  for (const fs::path& rule : Rules()) {
    EXPECT_NE(index.find("rules/" + rule.filename().string()), std::string::npos) << rule;
  }
}

}  // namespace
}  // namespace rapideye
