#!/usr/bin/env bash
# Runs parts of plans, read from standard input, with two workers of one thread each:
#   echo "papers/roar/sst.yaml study=recursive seed=0" | STORE=~/.cache/assay-roar/store papers/workers.sh
# A line is a plan and what `assay run --only` takes of it. It goes on where it was: what is in the store is not run
# again, and a killed training continues from its checkpoint. WORKERS (2) and PYTHON (python) may be set. What the runs
# print is in the folder logs beside the store.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)

one() { # a plan, and name=value ...
  local log only=() value
  for value in "${@:2}"; do only+=(--only "$value"); done
  log="$(dirname "$STORE")/logs/$(echo "$*" | tr -c 'A-Za-z0-9_\n' '-').log"
  echo "$(date +%H:%M) begins: $*"
  "$PYTHON" -m assay run "$1" --store "$STORE" --threads 1 "${only[@]}" >>"$log" 2>&1
  echo "$(date +%H:%M) ended with $?: $*"
}

cd "$here/.."
export STORE=${STORE:?set STORE to the folder of finished work} PYTHON=${PYTHON:-python} OMP_NUM_THREADS=1
if [ "${1:-}" = --one ]; then
  one "${@:2}"
else
  mkdir -p "$(dirname "$STORE")/logs"
  xargs -P "${WORKERS:-2}" -L 1 "$here/workers.sh" --one
fi
