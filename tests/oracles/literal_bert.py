"""DecompX, ALTI and GlobEnc on a post-norm BERT, one text at a time, term by term as the papers write them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import gelu

Layer = dict[str, Tensor]  # what one block computed


def forward(hf, ids):
    """(hidden states L+1 x (T,D), per block its parts) of one text, in plain matrix algebra."""
    hidden = hf.bert.embeddings(input_ids=ids)[0]
    states, layers = [hidden], []
    for block in hf.bert.encoder.layer:
        layers.append(block_parts(block, states[-1]))
        states.append(layers[-1]["out"])
    return states, layers


def block_parts(block, x) -> Layer:
    att = block.attention.self
    heads, width = att.num_attention_heads, att.attention_head_size

    def split(t):
        return t.view(len(t), heads, width).transpose(0, 1)  # (H,T,d)

    q, k, v = (split(layer(x)) for layer in (att.query, att.key, att.value))
    a = (q @ k.transpose(1, 2) / width**0.5).softmax(-1)
    mixed = (a @ v).transpose(0, 1).flatten(1)
    s1 = block.attention.output.dense(mixed) + x
    y = block.attention.output.LayerNorm(s1)
    u = block.intermediate.dense(y)
    s2 = block.output.dense(gelu(u)) + y
    return {"x": x, "a": a, "v": v, "s1": s1, "y": y, "u": u, "s2": s2, "out": block.output.LayerNorm(s2)}


def shared(vectors, bias, rule):
    """X_ij + w_ij b, j by j."""
    out = vectors.clone()
    for i, row in enumerate(vectors):
        b = bias[i] if bias.dim() == 2 else bias
        if rule == "absdot":
            w = torch.stack([torch.dot(v, b).abs() for v in row])
        elif rule == "abssim":
            w = torch.stack([torch.dot(v, b).abs() / (v.norm() * b.norm() + 1e-300) for v in row])
        elif rule == "norm":
            w = torch.stack([v.norm() for v in row])
        elif rule == "equal":
            w = torch.stack([(v.norm() != 0).to(v) for v in row])
        else:  # cls
            w = torch.eye(len(row), dtype=row.dtype)[0]
        w = w / w.sum()
        for j in range(len(row)):
            out[i, j] += w[j] * b
    return out


def ln_pieces(vectors, norm, real):
    """gain (X_ij - mean X_ij) / sqrt(var(real_i) + eps)"""
    spread = (real.var(-1, unbiased=False) + norm.eps).sqrt()
    return norm.weight * (vectors - vectors.mean(-1, keepdim=True)) / spread[:, None, None]


def single_sources(block, parts: Layer):
    """sum_h A^h_ij W_O^h v^h_j + [i = j] x_i, values with their bias: (T,T,D)"""
    heads, width = parts["v"].shape[0], parts["v"].shape[2]
    w_o = block.attention.output.dense.weight
    tokens, d = parts["x"].shape
    out = torch.zeros(tokens, tokens, d, dtype=parts["x"].dtype)
    for i in range(tokens):
        for j in range(tokens):
            for h in range(heads):
                out[i, j] += parts["a"][h, i, j] * (w_o[:, h * width : (h + 1) * width] @ parts["v"][h, j])
        out[i, i] += parts["x"][i]
    return out


def attended(block, parts: Layer, vectors):
    """X_ij + sum_h sum_k A^h_ik W_O^h W_V^h X_kj"""
    heads, width = parts["v"].shape[0], parts["v"].shape[2]
    w_o, w_v = block.attention.output.dense.weight, block.attention.self.value.weight
    out = vectors.clone()
    for h in range(heads):
        part = slice(h * width, (h + 1) * width)
        out += torch.einsum("ik,kjd->ijd", parts["a"][h], vectors @ w_v[part].T @ w_o[:, part].T)
    return out


def decompx(hf, ids, rule, activation):
    """(T,C) class scores, (L x (T,T,D)) vectors."""
    states, layers = forward(hf, ids)
    vectors, seen = None, []
    for block, parts in zip(hf.bert.encoder.layer, layers, strict=True):
        dense = block.attention.output.dense
        if vectors is None:
            x, bias = single_sources(block, parts), dense.bias
        else:
            x, bias = attended(block, parts, vectors), dense.weight @ block.attention.self.value.bias + dense.bias
        x = shared(x, bias, rule)
        norm = block.attention.output.LayerNorm
        x = shared(ln_pieces(x, norm, parts["s1"]), norm.bias, rule)
        z = shared(x @ block.intermediate.dense.weight.T, block.intermediate.dense.bias, rule)
        z = straightened(z, parts["u"], gelu, activation, rule)
        z = shared(z @ block.output.dense.weight.T, block.output.dense.bias, rule)
        vectors = shared(ln_pieces(x + z, block.output.LayerNorm, parts["s2"]), block.output.LayerNorm.bias, rule)
        seen.append(vectors)
    row, pooler = vectors[:1], hf.bert.pooler.dense
    row = shared(row @ pooler.weight.T, pooler.bias, rule)
    row = straightened(row, pooler(states[-1][:1]), torch.tanh, activation, rule)
    return shared(row @ hf.classifier.weight.T, hf.classifier.bias, rule)[0], seen


def straightened(z, u, act, activation, rule):
    """An activation as a slope per unit, and for tangents an offset shared like a bias."""
    if activation == "zero_origin":
        return z * (act(u) / u)[:, None]
    leaf = u.detach().requires_grad_()
    with torch.enable_grad():
        (slope,) = torch.autograd.grad(act(leaf).sum(), leaf)
    return shared(z * slope[:, None], act(u) - slope * u, rule)


def alti(hf, ids, p=1):
    """L x (T,T) rows of contributions."""
    out = []
    _, layers = forward(hf, ids)
    for block, parts in zip(hf.bert.encoder.layer, layers, strict=True):
        pieces = ln_pieces(single_sources(block, parts), block.attention.output.LayerNorm, parts["s1"])
        y = parts["y"]
        c = torch.zeros(len(y), len(y), dtype=y.dtype)
        for i in range(len(y)):
            for j in range(len(y)):
                c[i, j] = max(0.0, float(y[i].norm(p) - (y[i] - pieces[i, j]).norm(p)))
        out.append(c / c.sum(-1, keepdim=True))
    return out


def globenc(hf, ids):
    """L x (T,T) norms."""
    out = []
    _, layers = forward(hf, ids)
    for block, parts in zip(hf.bert.encoder.layer, layers, strict=True):
        pieces = ln_pieces(single_sources(block, parts), block.attention.output.LayerNorm, parts["s1"])
        out.append(ln_pieces(pieces, block.output.LayerNorm, parts["s2"]).norm(dim=-1))
    return out


def value_norms(hf, ids):
    """L x (T,T) lengths of what attention carries, without the residual."""
    out = []
    _, layers = forward(hf, ids)
    for block, parts in zip(hf.bert.encoder.layer, layers, strict=True):
        own = torch.diag_embed(parts["x"].T).permute(1, 2, 0)  # (T,T,D) x_i on the diagonal
        out.append((single_sources(block, parts) - own).norm(dim=-1))
    return out
