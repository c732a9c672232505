#!/usr/bin/env bash
# The reproduction, in the order in which each part is worth having; two workers of one thread each. It goes on where it
# was: what is in the store is not run again, and a killed training continues from its checkpoint.
#   papers/roar/run.sh [part ...]      e.g. papers/roar/run.sh "sst.yaml recursive 0"; no part: all, in order
# STORE (default ~/.cache/assay-roar/store), WORKERS (2) and PYTHON (python) may be set.
set -uo pipefail
cd "$(dirname "$0")/../.."
export STORE=${STORE:-$HOME/.cache/assay-roar/store} PYTHON=${PYTHON:-python} OMP_NUM_THREADS=1
logs=$(dirname "$STORE")/logs
mkdir -p "$logs"
[ -d ~/.cache/assay-roar/data/imdb ] || "$PYTHON" papers/roar/data.py

parts() {
  for seed in 0 1 2; do echo "sst.yaml recursive $seed"; done
  for seed in 3 4; do echo "sst.yaml recursive $seed"; done
  for seed in 0 1 2 3 4; do echo "sst.yaml roar $seed"; done
  for seed in 0 1 2 3 4; do echo "sst.yaml weighted $seed"; done
  for seed in 0 1 2 3 4; do echo "sst.yaml measurable $seed"; done
  for seed in 0 1 2; do echo "embeddings.yaml unmasked $seed"; done
  for seed in 0 1 2; do echo "babi.yaml recursive $seed on=babi1"; done
  for seed in 0 1; do echo "snli.yaml recursive $seed"; done
  echo "imdb.yaml recursive 0"
  for data in sst snli babi1; do for seed in 0 1; do echo "minilm.yaml recursive $seed on=$data"; done; done
  for seed in 0 1 2; do echo "babi.yaml recursive $seed on=babi2"; done
  for seed in 0 1 2; do echo "sst.yaml one_token $seed"; done
  for seed in 0 1 2; do echo "babi.yaml roar $seed on=babi1"; done
  echo "babi.yaml one_token 0 on=babi1"
  echo "imdb.yaml one_token 0"
  for seed in 0 1; do echo "snli.yaml roar $seed"; done
  echo "imdb.yaml roar 0"
}

one() { # plan, study, seed, and perhaps on=data
  local log="$1/${2%.yaml}-$3-$4${5:+-${5#on=}}.log" more=()
  [ -n "${5:-}" ] && more=(--only "trained_${5}")
  echo "$(date +%H:%M) begins: ${*:2}"
  "$PYTHON" -m assay run "papers/roar/$2" --store "$STORE" --threads 1 --only "study=$3" --only "seed=$4" "${more[@]}" \
    >>"$log" 2>&1
  echo "$(date +%H:%M) ended with $?: ${*:2}"
}
export -f one

if [ $# -gt 0 ]; then printf '%s\n' "$@"; else parts; fi | xargs -P "${WORKERS:-2}" -I{} bash -c "one '$logs' {}"
