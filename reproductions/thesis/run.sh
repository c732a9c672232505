#!/usr/bin/env bash
# The reproduction, in the order in which each part is worth having; ../workers.sh says how it is run.
#   papers/thesis/run.sh [part ...]    e.g. papers/thesis/run.sh "mnli.yaml study=probability model=bert"; no part: all
set -uo pipefail
cd "$(dirname "$0")/../.."
export STORE=${STORE:-$HOME/.cache/assay-thesis}

SIZES="t5_1 t5_2 t5_3 t5_4"
ARCHITECTURES="bert roberta llama t5"

parts() {
  local model seed data
  for seed in 0 1 2; do
    for model in $SIZES $ARCHITECTURES; do
      echo "augmented_sst.yaml study=probability,logit,randomisation model=$model(seed=$seed)"
    done
  done
  for model in $SIZES $ARCHITECTURES; do echo "augmented_sst.yaml study=attack model=$model(seed=0)"; done
  for data in esnli mnli; do
    for model in $ARCHITECTURES; do echo "$data.yaml study=probability,logit model=$model"; done
  done
  for model in $SIZES $ARCHITECTURES; do echo "augmented_sst.yaml study=attack_logit model=$model(seed=0)"; done
  for seed in 1 2; do
    for model in $SIZES; do echo "augmented_sst.yaml study=attack model=$model(seed=$seed)"; done
  done
  for seed in 0 1 2; do
    for model in $SIZES $ARCHITECTURES; do echo "augmented_sst.yaml study=randomisation_logit model=$model(seed=$seed)"; done
  done
  for data in esnli mnli; do
    for model in $ARCHITECTURES; do echo "$data.yaml study=randomisation,randomisation_logit model=$model"; done
  done
  for data in esnli mnli; do
    for model in $ARCHITECTURES; do echo "$data.yaml study=attack,attack_logit model=$model"; done
  done
}

if [ $# -gt 0 ]; then printf '%s\n' "$@"; else parts; fi | sed 's|^|papers/thesis/|' | papers/workers.sh
