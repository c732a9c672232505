#!/usr/bin/env bash
# Run the plans, most important parts first; ../workers.sh explains how. Rerun the same command to resume.
#   reproductions/aml/run.sh [part ...]    e.g. "encoders.yaml study=learned_sst"; without parts: everything, in order
set -uo pipefail
cd "$(dirname "$0")/../.."
export STORE=${STORE:-$HOME/.cache/assay-aml/store}
reproductions/link.sh || exit 1

parts() {
  local data
  for data in sst emotion rotten; do echo "encoders.yaml study=baselines_$data,learned_$data,hindsight_$data"; done
  echo "encoders.yaml study=ablation"
  echo "language.yaml study=baselines,ranking,learned"
  echo "encoders.yaml study=long_texts,slow"
  echo "encoders.yaml study=rationales"
  echo "encoders.yaml study=texts,ablation_refined"
  echo "language.yaml study=more_texts"
  echo "encoders.yaml study=searches,paper_rate"
  echo "encoders.yaml study=other_models"
  echo "encoders.yaml study=distilbert"
}

run() { sed 's|^|reproductions/aml/|' | reproductions/workers.sh; }

if [ $# -gt 0 ]; then
  printf '%s\n' "$@" | run
else
  echo "encoders.yaml study=weights" | run  # first and alone: all other parts of the plan need the model or the weights
  parts | run
fi
