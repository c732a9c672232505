#!/usr/bin/env bash
# Run the plans, most important parts first; ../workers.sh explains how. Rerun the same command to resume.
#   reproductions/aml/run.sh [part ...]    e.g. "sst.yaml study=learned model=minilm"; without parts: everything, in order
set -uo pipefail
cd "$(dirname "$0")/../.."
export STORE=${STORE:-$HOME/.cache/assay-aml/store}
reproductions/link.sh || exit 1

parts() {
  local plan
  for plan in sst rotten_tomatoes emotion; do echo "$plan.yaml study=baselines,learned model=minilm"; done
  for plan in sst rotten_tomatoes emotion; do echo "$plan.yaml study=papers,hindsight"; done
  echo "sst.yaml study=long_texts"
  echo "emotion.yaml study=ablation"
  echo "sst.yaml study=searches"
  echo "sst.yaml study=baselines,learned model=roberta"
  echo "language.yaml study=baselines,learned"
  echo "sst.yaml study=rationales"
  echo "emotion.yaml study=ablation_refined"
}

if [ $# -gt 0 ]; then printf '%s\n' "$@"; else parts; fi | sed 's|^|reproductions/aml/|' | reproductions/workers.sh
