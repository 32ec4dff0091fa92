#include "remede/executor/cuda/compile.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

#include "remede/base/arithmetic.h"
#include "remede/base/cache.h"
#include "remede/objective/objective.h"

namespace remede::cuda {
namespace {

// The few functions of NVRTC that are used, by the names in its library.
struct Nvrtc {
  int (*create)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile)(void*, int, const char* const*) = nullptr;
  int (*log_size)(void*, std::size_t*) = nullptr;
  int (*log)(void*, char*) = nullptr;
  int (*code_size)(void*, std::size_t*) = nullptr;
  int (*code)(void*, char*) = nullptr;
  int (*destroy)(void**) = nullptr;
  int (*version)(int*, int*) = nullptr;
  std::string why;  // it cannot be used

  Nvrtc() {
    void* library = nullptr;
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"})
      if (library == nullptr) library = dlopen(name, RTLD_NOW);
    if (library == nullptr) {
      why = "libnvrtc is not installed";
      return;
    }
    const auto find = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr) why = fmt::format("libnvrtc has no {}", name);
    };
    find("nvrtcCreateProgram", create);
    find("nvrtcCompileProgram", compile);
    find("nvrtcGetProgramLogSize", log_size);
    find("nvrtcGetProgramLog", log);
    find("nvrtcGetCUBINSize", code_size);
    find("nvrtcGetCUBIN", code);
    find("nvrtcDestroyProgram", destroy);
    find("nvrtcVersion", version);
  }
};

const Nvrtc& nvrtc() {
  static const Nvrtc library;
  return library;
}

// What the sources use of the standard library.
constexpr SourceFile kStandard[] = {
    {"cstdint",
     "namespace std { using int8_t = signed char; using uint8_t = unsigned char; using int32_t = int; "
     "using uint32_t = unsigned int; using int64_t = long long; using uint64_t = unsigned long long; }\n"},
    {"cstddef", "namespace std { using size_t = unsigned long; using ptrdiff_t = long; }\n"},
};

std::string list(std::span<const float> numbers) {
  std::string text;
  for (const float x : numbers) text += fmt::format("{:.9e}F, ", x);
  return text;
}

// The constants that the device shares with the rest of the library.
std::string constants() {
  using T = TanhConstants;
  using E = ExpConstants;
  return fmt::format(
      "namespace remede {{\n"
      "struct TanhConstants {{\n"
      "  static constexpr float kLimit = {:.9e}F, kP[6] = {{{}}}, kQ[4] = {{{}}};\n"
      "}};\n"
      "struct ExpConstants {{\n"
      "  static constexpr float kLowest = {:.9e}F, kHighest = {:.9e}F;\n"
      "}};\n"
      "inline constexpr int kMostQuantiles = {};\n"
      "}}\n",
      T::kLimit, list(T::kP), list(T::kQ), E::kLowest, E::kHighest, kMostQuantiles);
}

std::vector<std::string> options_for(const std::string& architecture) {
  std::vector<std::string> options = {"--gpu-architecture=" + architecture, "--std=c++20", "-default-device"};
  // For whoever works on the kernels: they print how long each phase takes.
  if (std::getenv("REMEDE_CUDA_PROFILE") != nullptr) options.emplace_back("-DREMEDE_CUDA_PROFILE");
  return options;
}

}  // namespace

std::string kernel_text(const DeviceShape& shape) {
  static_assert(sizeof(Layout) % sizeof(int) == 0 && alignof(Layout) == alignof(int));
  const Layout& layout = shape.layout;
  const Variant& variant = shape.variant;
  // A Layout is a row of numbers of four bytes: it is written as such, but for the slope.
  std::string numbers;
  std::vector<int> words(sizeof(Layout) / sizeof(int));
  std::memcpy(words.data(), &layout, sizeof(Layout));
  const std::size_t slope = offsetof(Layout, slope) / sizeof(int), begin = offsetof(Layout, begin) / sizeof(int);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i == begin) numbers += "{";
    numbers += i == slope ? fmt::format("{:.9e}F", layout.slope) : fmt::format("{}", words[i]);
    if (i == begin + kGroups) numbers += "}";
    numbers += ", ";
  }
  if (shape.step.threads > 0)
    return fmt::format(
        "#include \"remede/executor/cuda/stepwise.cuh\"\n"
        "struct Compiled {{\n"
        "  static constexpr remede::cuda::Layout l = {{{}}};\n"
        "  static constexpr remede::cuda::Stepper p = remede::cuda::stepper(l, {}, {}, {});\n"
        "  static constexpr remede::Loss loss = static_cast<remede::Loss>({});\n"
        "}};\n"
        "extern \"C\" __global__ void __launch_bounds__({}, {}) remede_advance(const remede::cuda::Start* starts) {{\n"
        "  remede::cuda::advance_stepwise<Compiled>(starts);\n"
        "}}\n",
        numbers, shape.batch, shape.longest, shape.shared, static_cast<int>(shape.loss), shape.step.threads,
        kStepThreads / shape.step.threads);
  return fmt::format(
      "#include \"remede/executor/cuda/kernels.cuh\"\n"
      "extern \"C\" __global__ void __launch_bounds__({}) remede_advance(const remede::cuda::Start* starts) {{\n"
      "  const remede::cuda::Layout l = {{{}}};\n"
      "  remede::cuda::advance_block<{}, {}, {}>(l, starts);\n"
      "}}\n",
      kThreads, numbers, variant.lanes, variant.cells, variant.shared ? "true" : "false");
}

std::string compile(const DeviceShape& shape, const std::string& architecture, std::string& why) {
  const Nvrtc& rtc = nvrtc();
  why = rtc.why;
  if (!why.empty()) return {};
  std::vector<const char*> texts, names;
  for (const SourceFile& file : kernel_sources()) {
    names.push_back(file.name);
    texts.push_back(file.text);
  }
  for (const SourceFile& file : kStandard) {
    names.push_back(file.name);
    texts.push_back(file.text);
  }
  const std::string numbers = constants();
  names.push_back("constants.h");
  texts.push_back(numbers.c_str());
  const std::string text = kernel_text(shape);
  void* program = nullptr;
  rtc.create(&program, text.c_str(), "remede.cu", static_cast<int>(names.size()), texts.data(), names.data());
  const std::vector<std::string> options = options_for(architecture);
  std::vector<const char*> words;
  words.reserve(options.size());
  for (const std::string& option : options) words.push_back(option.c_str());
  const int failed = rtc.compile(program, static_cast<int>(words.size()), words.data());
  std::size_t size = 0;
  std::string result;
  if (failed != 0) {
    rtc.log_size(program, &size);
    why.resize(size);
    rtc.log(program, why.data());
    why = "NVRTC: " + why.substr(0, why.find('\n'));
  } else {
    rtc.code_size(program, &size);
    result.resize(size);
    rtc.code(program, result.data());
  }
  rtc.destroy(&program);
  return result;
}

std::string cache_key(const DeviceShape& shape, const std::string& architecture, const std::string& driver) {
  int major = 0, minor = 0;
  if (nvrtc().why.empty()) nvrtc().version(&major, &minor);
  std::string key = fmt::format("{} NVRTC {}.{} driver {}\n", architecture, major, minor, driver);
  for (const std::string& option : options_for(architecture)) key += option + "\n";
  key += kernel_text(shape) + constants();
  for (const SourceFile& file : kernel_sources()) key += file.text;
  return key;
}

// Compiling takes seconds, and kernels serve any number of fits: they are kept as long as the process lives, and their
// code in files. No result depends on what is there.
const void* compiled_kernel(const DeviceShape& shape, std::string& why) {
  struct Kernel {
    std::once_flag made;
    const void* kernel = nullptr;
    std::string why;
  };
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Kernel>> known;
  Kernel* found = nullptr;
  {
    const std::lock_guard lock(mutex);
    auto& place = known[kernel_text(shape)];
    if (place == nullptr) place = std::make_unique<Kernel>();
    found = place.get();
  }
  std::call_once(found->made, [&] {
    const std::string folder = cache_folder(), key = cache_key(shape, architecture(), driver_version());
    if (const auto code = read_cached(folder, key)) found->kernel = load_kernel(*code, "remede_advance");
    if (found->kernel != nullptr) return;
    const std::string code = compile(shape, architecture(), found->why);
    if (code.empty()) return;
    found->kernel = load_kernel(code, "remede_advance");
    if (found->kernel != nullptr)
      write_cached(folder, key, code);
    else
      found->why = "the driver does not take what NVRTC compiled";
  });
  why = found->why;
  return found->kernel;
}

}  // namespace remede::cuda
