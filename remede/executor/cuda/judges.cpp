// The losses of starts on their validation data, by the kernels that take any shape.
#include <algorithm>
#include <limits>
#include <map>

#include "remede/executor/cuda/members.h"

namespace remede::cuda {
namespace {

constexpr std::size_t kLossBlocks = 264;  // two for each multiprocessor of a large GPU

// Chunks begin .. end of the validation data; data: null where all of each start's are on the device.
struct JudgedPart {
  std::size_t begin = 0, end = std::numeric_limits<std::size_t>::max();
  const Sequences* data = nullptr;
};

// The starts' averages and sides of missing values on the device, and their descriptions, in the order of shapes.
class Judges {
 public:
  Judges(std::span<const Member> members, CrewMemory& memory)
      : members_(members), memory_(memory), order_(by_shape(members)) {
    std::vector<float> image;
    for (const Member& m : members) {
      at_.push_back(image.size());
      const Trainer::Moving moving = m.trainer->moving();
      image.insert(image.end(), moving.average.begin(), moving.average.end());
      image.resize(at_.back() + total_of(m) + nodes_of(m));
      std::copy(m.trainer->parameters().missing_right.begin(), m.trainer->parameters().missing_right.end(),
                reinterpret_cast<std::uint8_t*>(image.data() + at_.back() + total_of(m)));
    }
    put_all(image, memory_.judged_state);
  }

  // ADDS the losses on a part of the data to those of all starts.
  void judge(const JudgedPart& part, std::vector<BatchLoss>& losses) {
    std::vector<Start> starts;
    for (const std::size_t i : order_) {
      const Member& m = members_[i];
      Start s = describe(m);
      s.data = part.data != nullptr ? *part.data : m.data->validation.on_device();
      s.continues = nullptr;
      s.average = memory_.judged_state.as<float>() + at_[i];
      s.missing_right = reinterpret_cast<std::uint8_t*>(s.average + total_of(m));
      s.chunks = m.data->judged_chunks.as<Chunk>();
      s.entries = m.data->judged_entries.as<Entry>();
      starts.push_back(s);
    }
    put_all(starts, memory_.judged_starts);
    each_shape(members_, order_, [&](const LoadedShape& shape, std::size_t first, std::size_t count) {
      judge_shape(shape.shape, first, count, part, losses);
    });
  }

 private:
  void judge_shape(const DeviceShape& shape, std::size_t first, std::size_t count, const JudgedPart& part,
                   std::vector<BatchLoss>& losses) {
    std::vector<LossJob> jobs;
    const auto record = static_cast<std::size_t>(shape.layout.record);
    const std::size_t arena = shape.variant.shared ? 0 : up_to_line(static_cast<std::size_t>(shape.layout.arena));
    std::size_t steps = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      const FitData& data = *members_[order_[i]].data;
      for (std::size_t c = part.begin; c < std::min(part.end, data.judged.chunks.size()); ++c)
        jobs.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(c)});
      const std::size_t sequences = data.validation.count();
      steps = std::max(steps, up_to_line(data.validation.most_steps(sequences, {kJudgedSteps, sequences})));
    }
    if (jobs.empty()) return;
    const std::size_t blocks = std::min(jobs.size(), kLossBlocks), each = steps * (record + 2) + arena;
    memory_.judged_scratch.reserve(blocks * each * sizeof(float));
    put_all(jobs, memory_.jobs);
    memory_.losses.reserve(jobs.size() * sizeof(Totals));
    float* const base = memory_.judged_scratch.as<float>();
    const LossScratch blocks_memory = {base,
                                       reinterpret_cast<std::int32_t*>(base + blocks * steps * record),
                                       reinterpret_cast<std::uint32_t*>(base + blocks * steps * (record + 1)),
                                       base + blocks * steps * (record + 2),
                                       steps * record,
                                       steps,
                                       arena};
    cuda::losses(shape.variant, shape.layout, memory_.judged_starts.as<Start>(), memory_.jobs.as<LossJob>(),
                 jobs.size(), blocks, blocks_memory, memory_.losses.as<Totals>());
    synchronise();
    std::vector<Totals> of_jobs(jobs.size());
    memory_.losses.get(of_jobs.data(), of_jobs.size() * sizeof(Totals));
    for (std::size_t i = 0; i < jobs.size(); ++i)
      losses[order_[jobs[i].start]] += {of_jobs[i].loss, 0.0, of_jobs[i].correct};
  }

  std::span<const Member> members_;
  CrewMemory& memory_;
  std::vector<std::size_t> order_, at_;
};

// Starts on the same data, of which `part` bytes are loaded at a time.
void judge_in_parts(const FitData& data, std::span<const Member> members, std::size_t part, CrewMemory& memory,
                    std::vector<BatchLoss>& losses) {
  Judges judges(members, memory);
  const std::vector<Chunk>& chunks = data.judged.chunks;
  for (std::size_t begin = 0, end = 0; begin < chunks.size(); begin = end) {
    std::size_t bytes = 0;
    for (; end < chunks.size(); ++end) {
      bytes += chunks[end].steps * data.validation.step_bytes();
      if (bytes > part && end > begin) break;
    }
    const Entry* const first = data.judged.entries.data() + chunks[begin].first;
    const Entry* const last = data.judged.entries.data() + chunks[end - 1].first + chunks[end - 1].count;
    const std::span<const Entry> entries[] = {{first, last}};
    data.validation.load(entries, memory.judged_part, memory.streams.copies());
    memory.streams.wait_for_copies();
    judges.judge({begin, end, &memory.judged_part.at}, losses);
  }
}

}  // namespace

std::vector<BatchLoss> validation_losses(std::span<const Member> members, std::size_t part, CrewMemory& memory) {
  std::vector<BatchLoss> all(members.size());
  std::map<const FitData*, std::vector<std::size_t>> in_parts;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (!members[i].data->validation.resident()) in_parts[members[i].data].push_back(i);
  for (const auto& [data, numbers] : in_parts) {
    std::vector<Member> some;
    std::vector<BatchLoss> losses(numbers.size());
    for (const std::size_t i : numbers) some.push_back(members[i]);
    judge_in_parts(*data, some, part, memory, losses);
    for (std::size_t k = 0; k < numbers.size(); ++k) all[numbers[k]] = losses[k];
  }
  if (in_parts.empty()) Judges(members, memory).judge({}, all);
  for (std::size_t i = 0; i < members.size(); ++i) all[i].weight = members[i].data->validation.weight();
  return all;
}

}  // namespace remede::cuda
