#!/usr/bin/env bash
# Training over several processes gives the bytes of one; a rank that dies ends the run within seconds, and the checkpoint goes on with
# another number of ranks. bench/cluster.py does more of the same.
set -euo pipefail
[ -x build/remede-mpi ] && command -v mpirun >/dev/null || { echo "skipped: no MPI"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cd "$folder"
build=$OLDPWD/build
ranks() { local count=$1; shift; mpirun -n "$count" --oversubscribe --bind-to none "$build/remede-mpi" "$@"; }
same() { cmp "$1" "$2" || { echo "expected the bytes of one process, got others: $3"; exit 1; }; }

"$build/remede" generate variable-delay --sequences 300 -q -o class.csv
"$build/remede" generate runoff --sequences 2 -q -o number.csv
for data in class number; do
  "$build/remede" train $data.csv --starts 4 --updates 100 -q -o $data.json
  ranks 3 train $data.csv --starts 4 --updates 100 --threads 1 -v -o shared.json >log 2>err || { cat log err; exit 1; }
  same $data.json shared.json "$data, 3 ranks"
  grep -q '^3 ranks: [1-9][0-9]* jobs were sent' err || { echo "expected jobs to be sent"; cat err; exit 1; }
  [ "$(grep -c '^saved:' log)" = 1 ] || { echo "expected rank 0 alone to speak"; cat log; exit 1; }
done

# Rows over ranks: the bytes of one process that holds them all.
for data in class number; do
  "$build/remede" train $data.csv --shard rows --starts 4 --updates 40 --simplify no -q -o $data.json
  for count in 2 4; do
    ranks $count train $data.csv --shard rows --starts 4 --updates 40 --simplify no --threads $((count / 2)) -o rows.json >log 2>err || { cat log err; exit 1; }
    same $data.json rows.json "$data, rows over $count ranks"
    grep -q "held by $count ranks" err || { echo "expected to hear who holds the rows"; cat err; exit 1; }
  done
done
(sed -n 1p class.csv; sed -n '2,$p' class.csv | sort -t, -k2n) >mixed.csv
if ranks 3 train mixed.csv --shard rows -q >log 2>&1; then echo "expected an error"; exit 1; fi
[ "$(grep -c 'sort the rows by it' log)" = 1 ] || { echo "expected one line"; cat log; exit 1; }
sed '2000s/,[^,]*$/,many,cells/' class.csv >broken.csv
if ranks 3 train broken.csv --shard rows -q >log 2>&1; then echo "expected an error"; exit 1; fi
[ "$(grep -c '^remede: rank [12]: broken.csv from byte' log)" = 1 ] || { echo "expected the rank that found it"; cat log; exit 1; }

# The last rank is killed; in the run that goes on it stands still. Signals reach only processes that are named here.
last_of() { pgrep -P "$1" | tail -n 1; }
state=
declare -A limit=([KILL]=5000 [STOP]=8000)  # ms: mpirun sees a death; silence must last 3 s
for signal in KILL STOP; do
  words=(train number.csv --starts 28 --memory 3 --threads 1 -q -o late.json --checkpoint state)
  [ -z "$state" ] || words=(train --resume state --threads 1 -q)
  mpirun -n 3 --oversubscribe --bind-to none "$build/remede-mpi" "${words[@]}" >log 2>&1 &
  run=$!
  for _ in $(seq 100); do [ ! -e state ] || break; sleep 0.1; done
  sleep 0.5
  killed=$(last_of $run)
  kill -$signal "$killed"
  began=$(date +%s%N)
  if wait $run; then echo "expected the run to fail after $signal"; exit 1; fi
  took=$((($(date +%s%N) - began) / 1000000))
  kill -KILL "$killed" 2>/dev/null || true
  [ $took -lt ${limit[$signal]} ] || { echo "expected the end within ${limit[$signal]} ms after $signal, got $took"; exit 1; }
  grep -q 'rank [12]' log || { echo "expected a line that names the rank"; cat log; exit 1; }
  state=state
done
"$build/remede" train number.csv --starts 28 --memory 3 -q -o whole.json
ranks 2 train --resume state --threads 1 -q >log 2>&1 || { cat log; exit 1; }
same whole.json late.json "resumed with another number of ranks"

# A rank that stands still when the model is there already: the run ends all the same.
mpirun -n 2 --oversubscribe --bind-to none "$build/remede-mpi" train class.csv --starts 4 --updates 100 --threads 1 -q -o end.json >log 2>&1 &
run=$!
killed=
for _ in $(seq 100); do  # the first child alone would be rank 0
  [ "$(pgrep -c -P $run || true)" != 2 ] || { killed=$(last_of $run); break; }
  sleep 0.05
done
while [ ! -e end.json ] && kill -0 $run 2>/dev/null; do :; done
kill -STOP "$killed" 2>/dev/null && stood=yes || stood=no  # no: it was gone already
began=$(date +%s%N)
# Behind MPI_Finalize() only mpirun waits for a rank, and it waits for ever: rank 0 is gone then, and nothing is shown. (Where rank 0
# gives up, mpirun ends the others at once.)
alone=0
while kill -0 $run 2>/dev/null && [ $((($(date +%s%N) - began) / 1000000)) -lt 20000 ]; do
  [ "$(pgrep -P $run || true)" = "$killed" ] && alone=$((alone + 1)) || alone=0
  [ $alone -lt 20 ] || { echo "rank 0 was gone before the other rank stood still"; stood=no; break; }
  sleep 0.1
done
[ $stood = yes ] || { kill -KILL "$killed" 2>/dev/null || true; began=$(date +%s%N); }
if [ $stood = yes ] && kill -0 $run 2>/dev/null; then kill -KILL "$killed" $run; echo "expected the run to end within 20 s"; exit 1; fi
if wait $run && [ $stood = yes ]; then echo "expected the run to say that a rank stood still"; exit 1; fi
took=$((($(date +%s%N) - began) / 1000000))
kill -KILL "$killed" 2>/dev/null || true
[ $took -lt ${limit[STOP]} ] || { echo "expected the end within ${limit[STOP]} ms, got $took"; exit 1; }
[ -s end.json ] || { echo "expected the model"; exit 1; }

# What one rank cannot read, rank 0 says, once.
if ranks 2 train nowhere.csv -q >log 2>&1; then echo "expected an error"; exit 1; fi
[ "$(grep -c nowhere log)" = 1 ] || { echo "expected one line"; cat log; exit 1; }
if mpirun -n 2 --oversubscribe "$build/remede" train class.csv -q >log 2>&1; then echo "expected an error"; exit 1; fi
grep -q '^remede: expected a build with MPI' log || { cat log; exit 1; }
