#!/usr/bin/env bash
# Run the plans, most important parts first; ../workers.sh explains how. Rerun the same command to resume.
#   reproductions/smat/run.sh [part ...]    e.g. "sst.yaml study=students"; without parts: everything, in order
set -uo pipefail
cd "$(dirname "$0")/../.."
export STORE=${STORE:-$HOME/.cache/assay-smat/store}
reproductions/link.sh || exit 1
"${PYTHON:-python}" -m reproductions.smat.models || exit 1

parts() {
  echo "sst.yaml study=students"
  echo "movies.yaml"
  echo "sst.yaml study=others"
  echo "sst.yaml study=softmax,entmax15,no_normaliser"
  echo "cifar.yaml"
  echo "mlqe.yaml"
  echo "sst.yaml study=more_texts"
  echo "sst.yaml study=weaker"
}

if [ $# -gt 0 ]; then printf '%s\n' "$@"; else parts; fi | sed 's|^|reproductions/smat/|' | reproductions/workers.sh
