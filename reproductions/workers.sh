#!/usr/bin/env bash
# Run parts of plans, read from standard input, with two workers of one thread each:
#   echo "reproductions/roar/sst.yaml study=recursive seed=0" | STORE=~/.cache/assay-roar/store reproductions/workers.sh
# A line is a plan and the values for `assay run --only`. Rerun the same command to resume: finished jobs are skipped, and
# trainings continue from their checkpoint. Set WORKERS (2) and PYTHON (python) to change the defaults. The output of the
# runs is in the folder logs beside the store.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)

run_part() { # plan, name=value ...
  local log only=() value
  for value in "${@:2}"; do only+=(--only "$value"); done
  log="$(dirname "$STORE")/logs/$(echo "$*" | tr -c 'A-Za-z0-9_\n' '-').log"
  echo "$(date +%H:%M) started: $*"
  "$PYTHON" -m assay run "$1" --store "$STORE" --threads 1 "${only[@]}" >>"$log" 2>&1
  local code=$?  # before the date below replaces it
  echo "$(date +%H:%M) finished with exit code $code: $*"
}

cd "$here/.."
export STORE=${STORE:?Set STORE to the store folder.} PYTHON=${PYTHON:-python} OMP_NUM_THREADS=1
if [ "${1:-}" = --part ]; then
  run_part "${@:2}"
else
  mkdir -p "$(dirname "$STORE")/logs"
  xargs -P "${WORKERS:-2}" -L 1 "$here/workers.sh" --part
fi
