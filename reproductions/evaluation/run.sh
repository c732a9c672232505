#!/usr/bin/env bash
# The evaluations of docs/results/evaluation.md: trains what is missing, evaluates, writes the page. Resumes.
#   bash papers/evaluation/run.sh [all | sst2 | movies | esnli | page]
# MODELS holds trained models, ENCODER is a pretrained MiniLM (../shared/models/get_models.sh), DATA the data sets.
set -euo pipefail
cd "$(dirname "$0")/../.."
DATA=${DATA:-../shared/data}
MODELS=${MODELS:-$HOME/.cache/assay-trained}
ENCODER=${ENCODER:-$HOME/.cache/assay-models/hf/minilm}
PARTS=docs/results/evaluation
PATH=$PWD/.venv/bin:$PATH
mkdir -p "$MODELS" "$PARTS"

train() { # folder, then the options of `assay train`
  [ -f "$MODELS/$1/training.json" ] || assay train --output "$MODELS/$1" "${@:2}"
}

evaluate() { # name, then the options of `assay evaluate`
  assay evaluate "${@:2}" --report "$PARTS/$1.html" --markdown "$PARTS/$1.md"
  sed -i "s#$HOME#~#g" "$PARTS/$1.html" "$PARTS/$1.md" # the command as anyone may type it
}

WHAT=${1:-all}
asked() { [ "$WHAT" = all ] || [ "$WHAT" = "$1" ]; }

if asked sst2; then
  train minilm-sst2-sentences --base "$ENCODER" --data "$DATA/sst2_sentences" --epochs 3 --validate-every 0.5
  evaluate sst2 --model "$MODELS/minilm-sst2-sentences" --data "$DATA/sst2_sentences/dev.jsonl.gz" --limit 200 \
    --methods "integrated_gradients,occlusion,lime(samples=256),kernel_shap(samples=256),gradient_x_input,gradient,attention_rollout,random" \
    --metrics "sufficiency,comprehensiveness,log_odds,deletion,insertion,top_share_mass(share=0.2)"
fi
if asked esnli; then
  train minilm-snli --base "$ENCODER" --data "$DATA/snli" --limit 20000 --validation-limit 2000 --epochs 2 \
    --learning-rate 1e-4 --max-length 128
  evaluate esnli --model "$MODELS/minilm-snli" --data "$DATA/esnli/test.jsonl.gz" --limit 300 \
    --methods "integrated_gradients,occlusion,lime(samples=128),kernel_shap(samples=128),gradient,gradient_x_input,attention_rollout,average_attention,random" \
    --metrics "auc,auprc,token_f1,iou_f1,top_k_f1(k=5),top_k_f1(k=5, average=micro)"
fi
if asked movies; then
  train minilm-sst2-sentences --base "$ENCODER" --data "$DATA/sst2_sentences" --epochs 3 --validate-every 0.5
  train minilm-movies --base "$MODELS/minilm-sst2-sentences" --data "$DATA/eraser_movies" --epochs 2 --batch-size 16 \
    --max-length 256
  for model in minilm-sst2-sentences minilm-movies; do
    evaluate "movies-$model" --model "$MODELS/$model" --data "$DATA/eraser_movies/test.jsonl.gz" --max-length 256 \
      --methods "integrated_gradients(steps=12),gradient,gradient_x_input,smooth_grad(samples=4),attention_rollout,average_attention,attention_x_gradient,random" \
      --metrics "auc,auprc,token_f1,iou_f1,top_k_f1(k=25),top_k_f1(k=25, average=micro)"
  done
fi
