#!/usr/bin/env bash
# Link the data sets and pretrained models that the plans name, as reproductions/data and reproductions/models:
#   ASSAY_DATA=/path/to/data ASSAY_MODELS=/path/to/models reproductions/link.sh
# README.md lists what the two folders must hold. Git ignores both links.
set -euo pipefail
cd "$(dirname "$0")"

link() { # name, path or nothing, variable
  [ -d "$1" ] && return
  [ -n "$2" ] || { echo "reproductions/$1 is missing. Set $3 to the folder and run reproductions/link.sh; README.md says what it holds." >&2; exit 1; }
  [ -d "$2" ] || { echo "$3=$2 is not a folder." >&2; exit 1; }
  ln -sfn "$(cd "$2" && pwd)" "$1"
}

models=${ASSAY_MODELS:-}
[ -d "$models/hf" ] && models=$models/hf  # the tests name the folder above it
link data "${ASSAY_DATA:-}" ASSAY_DATA
link models "$models" ASSAY_MODELS
