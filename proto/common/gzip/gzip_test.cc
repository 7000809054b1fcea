#include "proto/common/gzip/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <vector>

namespace rapideye::gzip {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// Bytes that cannot be compressed.
std::string Noise(size_t size) {
  std::string noise(size, '\0');
  uint64_t state = 1;
  for (char& c : noise) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(state >> 56);
  }
  return noise;
}

std::string Lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "step " + std::to_string(i * 7919) + "\n";
  return text;
}

std::string Compressed(const std::vector<std::string>& pieces, int level = 6) {
  Compressor compressor(level);
  for (const std::string& piece : pieces) EXPECT_TRUE(compressor.Add(piece).ok());
  return compressor.Finish().value_or("");
}

// Reads one member as zlib itself does.
std::string Inflated(std::string gzip, size_t room) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string text(room + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(gzip.data());
  stream.avail_in = static_cast<uInt>(gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0u);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

TEST(CompressorTest, ZlibReadsWhatItWrites) {
  const std::string noise = Noise(300'000);
  const std::string lines = Lines(50'000);
  EXPECT_EQ(Inflated(Compressed({}), 0), "");
  EXPECT_EQ(Inflated(Compressed({"", "a", ""}), 1), "a");
  EXPECT_EQ(Inflated(Compressed({noise, lines, noise}), 2'000'000), noise + lines + noise);
  EXPECT_EQ(Inflated(Compressed({lines}, 1), lines.size()), lines);
}

TEST(CompressorTest, TheSamePiecesGiveTheSameBytes) {
  const std::string lines = Lines(1'000);
  EXPECT_EQ(Compressed({lines, "x"}), Compressed({lines, "x"}));
  // No name, no time: nothing but the system stands in the header.
  EXPECT_EQ(Compressed({lines}).substr(0, 9), std::string("\x1f\x8b\x08\0\0\0\0\0\0", 9));
}

TEST(CompressorTest, NeverExceedsItsLimit) {
  constexpr size_t kLimit = 1 << 20;
  Compressor compressor(4, kLimit);
  const std::string piece = Noise(100'000);
  size_t added = 0;
  absl::Status status = compressor.Add(piece);
  for (; status.ok(); status = compressor.Add(piece)) added += piece.size();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_GT(added, kLimit / 2);
  const std::string output = compressor.Finish().value_or("");
  EXPECT_LE(output.size(), kLimit);
  EXPECT_THAT(Inflated(output, added), SizeIs(added));
}

TEST(DecompressorTest, TakesPiecesOfAnySize) {
  const std::string lines = Lines(2'000);
  const std::string gzip = Compressed({lines}) + Compressed({"second member"});
  for (const size_t step : {size_t{1}, size_t{7}, size_t{1'000}, gzip.size()}) {
    for (const size_t room : {1, 100, 100'000}) {
      Decompressor decompressor;
      std::string text;
      std::string output(room, '\0');
      for (size_t at = 0; at < gzip.size(); at += step) {
        std::string_view input = std::string_view(gzip).substr(at, step);
        size_t written = 0;
        do {
          ASSERT_TRUE(decompressor.Run(input, output.data(), room, written).ok());
          text.append(output, 0, written);
        } while (written > 0);
        ASSERT_TRUE(input.empty());
      }
      EXPECT_TRUE(decompressor.Finish().ok());
      EXPECT_EQ(text, lines + "second member") << step << " " << room;
    }
  }
}

TEST(DecompressTest, EveryCutIsNoticed) {
  const std::string gzip = Compressed({Lines(20)});
  for (size_t size = 0; size < gzip.size(); ++size) {
    const auto text = Decompress(gzip.substr(0, size), 1'000'000);
    EXPECT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument) << size;
    EXPECT_THAT(std::string(text.status().message()), HasSubstr("gzip: the file is cut short"));
  }
  EXPECT_EQ(Decompress(gzip, 1'000'000).value_or(""), Lines(20));
}

TEST(DecompressTest, RefusesWhatIsBroken) {
  const std::string gzip = Compressed({"text"});
  std::string check = gzip;
  check[check.size() - 8] ^= 1;
  for (const std::string& broken : {check, gzip + "and more", std::string("not gzip at all")}) {
    const auto text = Decompress(broken, 1'000'000);
    EXPECT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(text.status().message()), HasSubstr("gzip: broken data (incorrect "));
  }
}

TEST(DecompressTest, TakesNoMoreThanIsAllowed) {
  const std::string bomb = Compressed({std::string(100'000, ' ')});
  EXPECT_EQ(Decompress(bomb, 100'000).value_or(""), std::string(100'000, ' '));
  EXPECT_EQ(Decompress(bomb, 99'999).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Decompress(Compressed({""}), 0).value_or("x"), "");
}

}  // namespace
}  // namespace rapideye::gzip
