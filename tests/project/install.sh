#!/usr/bin/env bash
# What `cmake --install` puts into a prefix is enough to build against: with find_package, and with pkg-config. Manual pages and
# completions are there, one page per verb.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/prefix
cmake --install build --prefix "$prefix" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }

"$prefix/bin/remede" --version | grep -q '^remede [0-9]'
for verb in $("$prefix/bin/remede" manual --list); do
  page=$prefix/share/man/man1/remede-$verb.1
  [ -s "$page" ] || { echo "expected $page"; exit 1; }
done
for file in man/man1/remede.1 bash-completion/completions/remede zsh/site-functions/_remede fish/vendor_completions.d/remede.fish; do
  [ -s "$prefix/share/$file" ] || { echo "expected $prefix/share/$file"; exit 1; }
done

# No installed header includes a file that is not installed.
while IFS=: read -r header include; do
  included=$(sed 's/.*"\(.*\)".*/\1/' <<<"$include")
  [ -e "$prefix/include/$included" ] || { echo "$header: includes $included, which is not installed"; exit 1; }
done < <(grep -rH '^ *#include "remede/' "$prefix/include")

mkdir "$folder/program"
cat >"$folder/program/main.cpp" <<'CPP'
#include <cstdio>

#include "remede/data/tasks.h"
#include "remede/model/file.h"
#include "remede/stream/stream.h"

int main(int, char** arguments) {
  const remede::Model model = remede::load_model(arguments[1]);
  remede::Stream stream(model);
  const remede::Dataset data = remede::generate("fixed-delay", {.sequences = 3});
  float sum = 0;
  for (const float x : data.sequences.x) sum += stream.step({&x, 1})[0];
  std::printf("%zu steps, %.3f\n", data.sequences.steps(), static_cast<double>(sum));
}
CPP
cat >"$folder/program/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(program LANGUAGES CXX)
find_package(remede 0.1 REQUIRED)
add_executable(program main.cpp)
target_link_libraries(program PRIVATE remede::remede)
CMAKE
"$prefix/bin/remede" generate fixed-delay --sequences 40 -o "$folder/data.csv" -q
"$prefix/bin/remede" train "$folder/data.csv" --recipe paper --updates 50 -o "$folder/model.json" -q

cmake -G Ninja -S "$folder/program" -B "$folder/program/build" -DCMAKE_PREFIX_PATH="$prefix" >"$folder/log" 2>&1 &&
  cmake --build "$folder/program/build" >>"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
by_cmake=$("$folder/program/build/program" "$folder/model.json")

export PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name remede.pc)")
c++ "$folder/program/main.cpp" $(pkg-config --cflags --libs remede) -o "$folder/by_pkg_config"
by_pkg_config=$("$folder/by_pkg_config" "$folder/model.json")
[[ $by_cmake == *" steps, "* && $by_cmake == "$by_pkg_config" ]] || { echo "expected the same figures twice, got '$by_cmake' and '$by_pkg_config'"; exit 1; }

# The C interface, from C alone.
mkdir "$folder/c"
cp examples/live.c "$folder/c/"
cat >"$folder/c/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(live LANGUAGES C)
find_package(remede-c 0.1 REQUIRED)
add_executable(live live.c)
target_link_libraries(live PRIVATE remede::c)
CMAKE
cmake -G Ninja -S "$folder/c" -B "$folder/c/build" -DCMAKE_PREFIX_PATH="$prefix" >"$folder/log" 2>&1 &&
  cmake --build "$folder/c/build" >>"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
by_cmake=$(printf '0.5\n0\n1\n' | "$folder/c/build/live" "$folder/model.json")
cc "$folder/c/live.c" $(pkg-config --cflags --libs remede-c) -o "$folder/c/live"
by_pkg_config=$(printf '0.5\n0\n1\n' | LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name libremede_c.so)") "$folder/c/live" "$folder/model.json")
[[ $by_cmake == -1,0,1* && $by_cmake == "$by_pkg_config" ]] || { echo "expected the same answers twice, got '$by_cmake' and '$by_pkg_config'"; exit 1; }
