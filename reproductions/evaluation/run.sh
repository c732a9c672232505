#!/usr/bin/env bash
# Run the evaluations of results.md: train the models that are missing, evaluate, write the tables. Rerun to resume.
#   reproductions/evaluation/run.sh [all | sst2 | movies | esnli]
# Data and the pretrained MiniLM come from reproductions/data and reproductions/models (../link.sh). TRAINED is the folder
# of the models trained here.
set -euo pipefail
cd "$(dirname "$0")/../.."
reproductions/link.sh
DATA=reproductions/data
ENCODER=reproductions/models/minilm
TRAINED=${TRAINED:-$HOME/.cache/assay-trained}
TABLES=reproductions/evaluation
PATH=$PWD/.venv/bin:$PATH
mkdir -p "$TRAINED"

train() { # folder, options of `assay train`
  [ -f "$TRAINED/$1/training.json" ] || assay train --output "$TRAINED/$1" "${@:2}"
}

evaluate() { # name, options of `assay evaluate`
  assay evaluate "${@:2}" --report "$TABLES/$1.html" --markdown "$TABLES/$1.md"
  sed -i "s#$HOME#~#g" "$TABLES/$1.html" "$TABLES/$1.md" # no home folder in the printed command
}

SELECTED=${1:-all}
selected() { [ "$SELECTED" = all ] || [ "$SELECTED" = "$1" ]; }

if selected sst2; then
  train minilm-sst2-sentences --base "$ENCODER" --data "$DATA/sst2_sentences" --epochs 3 --validate-every 0.5
  evaluate sst2 --model "$TRAINED/minilm-sst2-sentences" --data "$DATA/sst2_sentences/dev.jsonl.gz" --limit 200 \
    --methods "integrated_gradients,occlusion,lime(samples=256),kernel_shap(samples=256),gradient_x_input,gradient,attention_rollout,random" \
    --metrics "sufficiency,comprehensiveness,log_odds,deletion,insertion,top_k_mass(share=0.2)"
fi
if selected esnli; then
  train minilm-snli --base "$ENCODER" --data "$DATA/snli" --limit 20000 --validation-limit 2000 --epochs 2 \
    --learning-rate 1e-4 --max-length 128
  evaluate esnli --model "$TRAINED/minilm-snli" --data "$DATA/esnli/test.jsonl.gz" --limit 300 \
    --methods "integrated_gradients,occlusion,lime(samples=128),kernel_shap(samples=128),gradient,gradient_x_input,attention_rollout,average_attention,random" \
    --metrics "auc,auprc,token_f1,iou_f1,top_k_f1(k=5),top_k_f1(k=5, average=micro)"
fi
if selected movies; then
  train minilm-sst2-sentences --base "$ENCODER" --data "$DATA/sst2_sentences" --epochs 3 --validate-every 0.5
  train minilm-movies --base "$TRAINED/minilm-sst2-sentences" --data "$DATA/eraser_movies" --epochs 2 --batch-size 16 \
    --max-length 256
  for model in minilm-sst2-sentences minilm-movies; do
    evaluate "movies-$model" --model "$TRAINED/$model" --data "$DATA/eraser_movies/test.jsonl.gz" --max-length 256 \
      --methods "integrated_gradients(steps=12),gradient,gradient_x_input,smooth_grad(samples=4),attention_rollout,average_attention,attention_x_gradient,random" \
      --metrics "auc,auprc,token_f1,iou_f1,top_k_f1(k=25),top_k_f1(k=25, average=micro)"
  done
fi
