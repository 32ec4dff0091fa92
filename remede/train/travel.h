// Models, parameters and scores as bytes, exact bits, for the jobs of a shared fit. The fields of a type are listed
// once, in fields(); put_all() and get_all() follow. Both sides are the same program, so there is no version.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "remede/data/dataset.h"
#include "remede/executor/bytes.h"
#include "remede/executor/laws/parameters.h"
#include "remede/executor/parameters.h"
#include "remede/model/model.h"
#include "remede/train/score.h"

namespace remede {

template <typename T, typename Of>
concept MaybeConst = std::is_same_v<std::remove_const_t<T>, Of>;

template <MaybeConst<LeafForm> T>
void fields(T& f, auto&& each) {
  each(f.write_rule, f.write_reads, f.write_bias, f.leaf_output, f.output_order, f.memory);
}
template <MaybeConst<SeenRange> T>
void fields(T& r, auto&& each) {
  each(r.low, r.high);
}
template <MaybeConst<Cells> T>
void fields(T& c, auto&& each) {
  each(c.law, c.bias, c.input, c.earlier, c.tap, c.tap_input, c.tap_level, c.tap_leaf, c.first, c.linear,
       c.leaf_linear);
}
template <MaybeConst<Tree> T>
void fields(T& t, auto&& each) {
  each(t.n_x, t.n_m, t.n_y, t.form, t.feature, t.threshold, t.missing_right, t.left, t.right, t.output, t.linear,
       t.gate, t.write, t.bias, t.blend, t.cells, t.cell_name, t.level_range, t.share_range);
}
// Of a model only what training changes: schema and settings are those of the fit.
template <MaybeConst<Model> T>
void fields(T& m, auto&& each) {
  each(m.fill, m.input_range, m.trees);
}
template <MaybeConst<Shape> T>
void fields(T& s, auto&& each) {
  each(s.depth, s.n_x, s.n_m, s.n_y, s.form);
}
template <MaybeConst<Parameters<float>> T>
void fields(T& p, auto&& each) {
  each(p.shape, p.values, p.missing_right);
}
// Of data what a fit reads: not the ids and the like.
template <MaybeConst<Schema> T>
void fields(T& s, auto&& each) {
  each(s.task, s.inputs, s.targets, s.classes);
}
template <MaybeConst<Sequences> T>
void fields(T& s, auto&& each) {
  each(s.n_x, s.n_y, s.offset, s.x, s.label, s.value, s.weight);
}
template <MaybeConst<Dataset> T>
void fields(T& d, auto&& each) {
  each(d.schema, d.sequences, d.group, d.groups);
}
template <MaybeConst<UnitScores> T>
void fields(T& u, auto&& each) {
  each(u.loss, u.wrong, u.weight);
}

namespace laws {
template <MaybeConst<Shape> T>
void fields(T& s, auto&& each) {
  each(s.depth, s.n_x, s.n_y, s.leaf_linear, s.law, s.first);
}
template <MaybeConst<Parameters> T>
void fields(T& p, auto&& each) {
  each(p.shape, p.values, p.used, p.missing_right, p.side);
}
}  // namespace laws

template <typename T>
struct IsList : std::false_type {};
template <typename T>
struct IsList<std::vector<T>> : std::true_type {};

template <typename T>
struct IsColumn : std::false_type {};
template <typename T>
struct IsColumn<Column<T>> : std::true_type {};

template <typename T>
void put_all(ByteWriter& to, const T& value) {
  if constexpr (std::is_enum_v<T>) {
    to.put(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    to.put(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    to.put(std::string_view(value));
  } else if constexpr (IsColumn<T>::value) {
    to.put(
        std::string_view(reinterpret_cast<const char*>(value.data()), value.size() * sizeof(typename T::value_type)));
  } else if constexpr (IsList<T>::value) {
    if constexpr (Plain<typename T::value_type>) {
      to.put(value);
    } else {
      to.put(static_cast<std::uint64_t>(value.size()));
      for (const auto& item : value) put_all(to, item);
    }
  } else {
    fields(value, [&to](const auto&... field) { (put_all(to, field), ...); });
  }
}

template <typename T>
void get_all(ByteReader& from, T& value) {
  if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(from.get<std::underlying_type_t<T>>());
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    from.get(value);
  } else if constexpr (IsColumn<T>::value) {
    std::string bytes;
    from.get(bytes);
    value.resize(bytes.size() / sizeof(typename T::value_type));
    if (!bytes.empty()) std::memcpy(value.data(), bytes.data(), value.size() * sizeof(typename T::value_type));
  } else if constexpr (IsList<T>::value) {
    if constexpr (Plain<typename T::value_type>) {
      from.get(value);
    } else {
      value.clear();
      for (auto left = from.get<std::uint64_t>(); left > 0; --left) get_all(from, value.emplace_back());
    }
  } else {
    fields(value, [&from](auto&... field) { (get_all(from, field), ...); });
  }
}

template <typename T>
T get_all(ByteReader& from) {
  T value{};
  get_all(from, value);
  return value;
}

// Several values, one after the other.
template <typename... T>
std::string bytes_of(const T&... values) {
  ByteWriter to;
  (put_all(to, values), ...);
  return to.take();
}
template <typename... T>
void take_bytes(std::string_view bytes, T&... values) {
  ByteReader from(bytes, "answer of a peer");
  (get_all(from, values), ...);
  from.expect_end();
}

}  // namespace remede
