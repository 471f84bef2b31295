"""The network of multilingual-e5-small, in numpy.

Owns: the forward pass and the mean over the pieces. Guarantees: the same numbers for a text alone as among others, to
rounding; memory bounded by rows × longest row of a call, which the caller bounds.
Gives up: the last digits: GELU is taken in its tanh form (within 0.0005 of the exact one; cosines move by less than
0.0002, held by a test against vectors of another implementation).

Source: BERT (Devlin et al., 2019), 12 layers, normalised after each addition; the model card of
intfloat/multilingual-e5-small: mean of the token vectors over the mask, length 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lodestore.adapters.e5_weights import Floats, Sizes, Weights

_FAR_BELOW = np.float32(-1e9)
_GELU_SLOPE = np.float32(0.7978845608)
_GELU_CUBE = np.float32(0.044715)


@dataclass(frozen=True, slots=True)
class _Affine:
    weight: Floats
    bias: Floats

    def __call__(self, rows: Floats) -> Floats:
        product: Floats = rows @ self.weight
        product += self.bias
        return product


@dataclass(frozen=True, slots=True)
class _Norm:
    weight: Floats
    bias: Floats
    epsilon: float

    def __call__(self, rows: Floats) -> Floats:
        """In place."""
        rows -= rows.mean(axis=-1, keepdims=True)
        rows /= np.sqrt((rows * rows).mean(axis=-1, keepdims=True) + np.float32(self.epsilon))
        rows *= self.weight
        rows += self.bias
        return rows


@dataclass(frozen=True, slots=True)
class _Layer:
    queries_keys_values: _Affine
    attended: _Affine
    attended_norm: _Norm
    widen: _Affine
    narrow: _Affine
    norm: _Norm


class Encoder:
    """The network, unpacked: about 85 MB. Raises EmbeddingFailed where a tensor is missing."""

    def __init__(self, weights: Weights) -> None:
        sizes = self._sizes = weights.sizes
        self._weights = weights
        self._positions = weights.floats("emb.pos").reshape(sizes.positions, sizes.hidden)
        self._first_text = weights.floats("emb.type").reshape(-1, sizes.hidden)[0]
        self._norm = _Norm(weights.floats("emb.ln.w"), weights.floats("emb.ln.b"), sizes.epsilon)
        self._layers = [_layer(weights, sizes, number) for number in range(sizes.layers)]

    def mean_vectors(self, rows: Sequence[Sequence[int]]) -> Floats:
        """One vector for each row of piece numbers, special pieces included; not yet of length 1."""
        ids, mask = _padded(rows)
        count, longest = ids.shape
        vectors = self._weights.words(ids.ravel()).reshape(count, longest, -1)
        vectors += self._positions[:longest] + self._first_text
        flat = self._norm(vectors.reshape(count * longest, -1))
        hidden_pads = np.where(mask[:, None, None, :] > 0, np.float32(0), _FAR_BELOW)
        for layer in self._layers:
            flat = self._run(layer, flat, hidden_pads)
        weighted: Floats = flat.reshape(count, longest, -1) * mask[:, :, None]
        return np.asarray(weighted.sum(axis=1) / mask.sum(axis=1, keepdims=True), np.float32)

    def _run(self, layer: _Layer, rows: Floats, hidden_pads: Floats) -> Floats:
        rows = layer.attended_norm(
            rows + layer.attended(self._attend(layer.queries_keys_values(rows), hidden_pads))
        )
        return layer.norm(rows + layer.narrow(_gelu(layer.widen(rows))))

    def _attend(self, mixed: Floats, hidden_pads: Floats) -> Floats:
        count, longest, heads = hidden_pads.shape[0], hidden_pads.shape[-1], self._sizes.heads
        width = self._sizes.hidden // heads
        queries, keys, values = mixed.reshape(count, longest, 3, heads, width).transpose(2, 0, 3, 1, 4)
        shares: Floats = queries @ keys.swapaxes(-1, -2)
        shares *= np.float32(width**-0.5)
        shares += hidden_pads
        shares -= shares.max(axis=-1, keepdims=True)
        np.exp(shares, out=shares)
        shares /= shares.sum(axis=-1, keepdims=True)
        return np.asarray(
            (shares @ values).transpose(0, 2, 1, 3).reshape(count * longest, heads * width), np.float32
        )


def _layer(weights: Weights, sizes: Sizes, number: int) -> _Layer:
    def affine(name: str, columns: int, rows: int) -> _Affine:
        packed = weights.matrix(f"l{number}.{name}.w", rows, columns)
        return _Affine(np.ascontiguousarray(packed.T), weights.floats(f"l{number}.{name}.b"))

    def norm(name: str) -> _Norm:
        named = f"l{number}.{name}"
        return _Norm(weights.floats(f"{named}.w"), weights.floats(f"{named}.b"), sizes.epsilon)

    wide = sizes.hidden
    parts = [affine(name, wide, wide) for name in ("q", "k", "v")]
    mixed = _Affine(
        np.ascontiguousarray(np.concatenate([part.weight for part in parts], axis=1)),
        np.concatenate([part.bias for part in parts]),
    )
    return _Layer(
        mixed,
        affine("ao", wide, wide),
        norm("aln"),
        affine("fi", wide, sizes.inner),
        affine("fo", sizes.inner, wide),
        norm("oln"),
    )


def _padded(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], Floats]:
    ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
    mask = np.zeros(ids.shape, np.float32)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        mask[number, : len(row)] = 1
    return ids, mask


def _gelu(rows: Floats) -> Floats:
    """In a new array: x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))."""
    inner = rows * rows
    inner *= rows
    inner *= _GELU_CUBE
    inner += rows
    inner *= _GELU_SLOPE
    np.tanh(inner, out=inner)
    inner += 1
    inner *= rows
    inner *= np.float32(0.5)
    return inner
