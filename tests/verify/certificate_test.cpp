// Certificates against the independent checker: right ones pass, and those that are wrong by construction do not.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "remede/base/file.h"
#include "remede/model/file.h"
#include "support/random_model.h"
#include "verify/random_property.h"

namespace remede::test {
namespace {

using Json = nlohmann::ordered_json;

// Runs tools/check_certificate.py; whether it says that all is right.
class CertificateFolder {
 public:
  CertificateFolder() {
    char name[] = "/tmp/remede_certificate_XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~CertificateFolder() { std::filesystem::remove_all(folder_); }
  CertificateFolder(const CertificateFolder&) = delete;
  CertificateFolder& operator=(const CertificateFolder&) = delete;

  void save(const Model& model) const { save_model(model, folder_ + "/m.json"); }
  bool accepts(const std::string& certificate) const {
    write_file(folder_ + "/c.json", certificate);
    const std::string line = "python3 -B " REMEDE_TESTS_DIR "/../tools/check_certificate.py " + folder_ + "/m.json " +
                             folder_ + "/c.json > " + folder_ + "/out 2>&1";
    return std::system(line.c_str()) == 0;
  }
  std::string output() const { return read_file(folder_ + "/out"); }

 private:
  std::string folder_;
};

bool holds(const Json& slots, const Configuration& at) {
  for (std::size_t i = 0; i < at.slot.size(); ++i) {
    const Json& range = slots[i];
    if (std::isnan(at.slot[i])) {
      if (!range[2].get<bool>()) return false;
      continue;
    }
    const auto end = [](const Json& v) {
      return v.is_string() ? (v == "inf" ? HUGE_VAL : -HUGE_VAL) : v.get<double>();
    };
    if (range[0].is_null() || at.slot[i] < end(range[0]) || at.slot[i] > end(range[1])) return false;
  }
  return true;
}

// Takes a configuration that is really reached out of all boxes: by removing them, by moving an end of theirs, or by
// changing their counters. Or turns the property round, which was true at the first step.
Json spoiled(Random& random, const Json& right, const Configuration& reached) {
  Json wrong = right;
  Json& proof = wrong["properties"][0];
  const auto kind = random.below(reached.monitor.empty() ? 3 : 4);
  if (kind == 0) {
    proof["nodes"].push_back({{"op", "not"}, {"of", {proof["root"]}}});
    proof["root"] = proof["nodes"].size() - 1;
    return wrong;
  }
  Json kept = Json::array();
  for (Json state : proof["states"]) {
    if (state["monitor"] != Json(reached.monitor) || !holds(state["slots"], reached)) {
      kept.push_back(state);
      continue;
    }
    if (kind == 1 || reached.slot.empty()) continue;
    if (kind == 3) {
      state["monitor"][0] = state["monitor"][0].get<int>() + 1000;
      kept.push_back(state);
      continue;
    }
    const std::size_t slot = random.below(reached.slot.size());
    if (!std::isfinite(reached.slot[slot])) continue;
    const bool low = random.below(2) == 0;
    state["slots"][slot][low ? 0 : 1] = std::nextafter(reached.slot[slot], low ? 1e38F : -1e38F);
    kept.push_back(state);
  }
  proof["states"] = kept;
  return wrong;
}

void try_certificates(std::uint64_t seed, int proofs, int wrong_each, int& accepted, int& rejected) {
  Random random(seed);
  const CertificateFolder folder;
  RandomModelOptions options;
  options.most_trees = 2;
  options.most_inner = 6;
  options.objectives = true;
  for (int found = 0; found < proofs;) {
    const Model model = random_model(random, options);
    VerifyOptions how;
    how.effort = 0.02;
    const std::string text = likely_property(random, model);
    const Verification result = verify(model, {text}, how)[0];
    constexpr std::size_t kMostBoxes = 60;
    if (result.verdict != Decision::kHolds || result.invariant.size() > kMostBoxes) continue;
    ++found;
    folder.save(model);
    const std::string certificate = certificate_json(model, {&result});
    const bool right = folder.accepts(certificate);
    accepted += right ? 1 : 0;
    if (!right) std::printf("not accepted: %s: %s", text.c_str(), folder.output().substr(0, 600).c_str());
    for (int i = 0; i < wrong_each; ++i) {
      ConcreteRunner runner(*result.system);
      Configuration at = runner.start();
      for (std::size_t t = random.below(6); t > 0; --t) runner.step(random_input(random, model), at);
      const Json wrong = spoiled(random, Json::parse(certificate), at);
      const bool passed = folder.accepts(wrong.dump());
      rejected += passed ? 0 : 1;
      EXPECT_FALSE(passed) << text << "\n" << wrong.dump().substr(0, 2000) << "\n" << folder.output();
    }
  }
}

TEST(CertificateSlow, RightOnesPassAndWrongOnesDoNot) {
  int accepted = 0, rejected = 0;
  try_certificates(1, 8, 2, accepted, rejected);
  EXPECT_GE(accepted, 8);
  EXPECT_EQ(rejected, 16);
}

TEST(CertificateLong, AThousandWrongOnes) {
  int accepted = 0, rejected = 0;
  try_certificates(2, 200, 5, accepted, rejected);
  std::printf("certificates: %d of 200 accepted, %d of 1000 wrong ones rejected\n", accepted, rejected);
  EXPECT_GE(accepted, 200);
}

}  // namespace
}  // namespace remede::test
