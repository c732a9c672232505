#!/usr/bin/env bash
# Run the plans, most important parts first; ../workers.sh explains how. Rerun the same command to resume.
#   reproductions/thesis/run.sh [part ...]    e.g. "mnli.yaml study=probability model=bert"; without parts: everything
set -uo pipefail
cd "$(dirname "$0")/../.."
export STORE=${STORE:-$HOME/.cache/assay-thesis/store}
reproductions/link.sh || exit 1

SIZES="t5_1 t5_2 t5_3 t5_4"
ARCHITECTURES="bert roberta llama t5"

parts() {
  local model data
  for model in $SIZES $ARCHITECTURES; do echo "augmented_sst.yaml study=probability,controls,ranked,randomisation model=$model"; done
  for model in $SIZES $ARCHITECTURES; do echo "augmented_sst.yaml study=attack model=$model"; done
  for data in esnli mnli; do
    for model in $ARCHITECTURES; do echo "$data.yaml study=probability,controls,ranked model=$model"; done
  done
  for model in $SIZES $ARCHITECTURES; do echo "augmented_sst.yaml study=attack_gradient,logit,randomisation_logit,attack_logit model=$model"; done
  for data in esnli mnli; do
    for model in $ARCHITECTURES; do echo "$data.yaml study=randomisation,attack,logit,randomisation_logit,attack_logit model=$model"; done
  done
}

if [ $# -gt 0 ]; then printf '%s\n' "$@"; else parts; fi | sed 's|^|reproductions/thesis/|' | reproductions/workers.sh
