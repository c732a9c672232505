#!/usr/bin/env bash
# Run the plans, most important parts first; ../workers.sh explains how. Rerun the same command to resume.
#   reproductions/roar/run.sh [part ...]    e.g. "sst.yaml study=recursive seed=0"; without parts: everything, in order
set -uo pipefail
cd "$(dirname "$0")/../.."
export STORE=${STORE:-$HOME/.cache/assay-roar/store} PYTHON=${PYTHON:-python}
reproductions/link.sh || exit 1
[ -d ~/.cache/assay-roar/data/imdb ] || "$PYTHON" -m reproductions.roar.data || exit 1
"$PYTHON" -m assay unpack reproductions/roar/records.jsonl.xz --store "$STORE"

each() { # seeds, rest of the part
  local seed
  for seed in $1; do echo "$2 seed=$seed"; done
}

parts() { # one training of everything first, then more seeds
  each "0 1 2" "sst.yaml study=recursive"
  each "0" "babi.yaml study=recursive trained_on=babi1"
  each "0" "babi.yaml study=predicted trained_on=babi1"
  for data in sst babi1 snli; do each "0" "minilm.yaml study=recursive trained_on=$data"; done
  each "0 1 2" "sst.yaml study=measurable"
  for study in roar weighted; do each "0" "sst.yaml study=$study"; done
  for study in recursive roar; do each "0" "imdb.yaml study=$study"; done
  each "0" "snli.yaml study=recursive"
  each "3 4" "sst.yaml study=recursive"
  each "1 2" "babi.yaml study=recursive trained_on=babi1"
  for study in roar weighted; do each "1 2" "sst.yaml study=$study"; done
  each "0" "sst.yaml study=words"
  each "0" "imdb.yaml study=words"
  for study in words roar; do each "0" "babi.yaml study=$study trained_on=babi1"; done
  each "0 1 2" "embeddings.yaml study=unmasked"
  each "0" "snli.yaml study=roar"
  for data in sst snli babi1; do each "0" "minilm.yaml study=roar trained_on=$data"; done
  each "0" "babi.yaml study=recursive trained_on=babi2"
  for data in sst babi1 snli; do each "1" "minilm.yaml study=recursive trained_on=$data"; done
  for study in roar weighted measurable; do each "3 4" "sst.yaml study=$study"; done
  each "1 2" "sst.yaml study=words"
  each "1 2" "babi.yaml study=roar trained_on=babi1"
  each "1 2" "babi.yaml study=recursive trained_on=babi2"
}

if [ $# -gt 0 ]; then printf '%s\n' "$@"; else parts; fi | sed 's|^|reproductions/roar/|' | reproductions/workers.sh
