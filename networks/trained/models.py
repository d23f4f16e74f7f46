"""The networks, in flax: perceptrons, and residual networks with convolutions or dense blocks.

Convolutions are matrix products of windows: four times as fast on a CPU.
"""

from itertools import pairwise, product

import jax
import jax.numpy as jnp
from flax import nnx

from trained.configuration import Configuration
from trained.tasks import Task


class Convolution(nnx.Module):
    """A convolution over one axis, time, or over the two of a picture."""

    def __init__(
        self, inputs: int, outputs: int, size: int, stride: int, rngs: nnx.Rngs, n_axes: int = 1
    ) -> None:
        self.size, self.stride, self.n_axes = size, stride, n_axes
        self.weights = nnx.Linear(size**n_axes * inputs, outputs, use_bias=False, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Return (n, length/stride, …, outputs) of x (n, length, …, inputs), padded with zeros."""
        around = (self.size // 2, self.size // 2)
        padded = jnp.pad(x, ((0, 0), *[around] * self.n_axes, (0, 0)))
        windows = [
            padded[:, *(slice(k, k + x.shape[1], self.stride) for k in offsets)]
            for offsets in product(range(self.size), repeat=self.n_axes)
        ]
        return self.weights(jnp.concatenate(windows, axis=-1))


def _identity(x: jax.Array) -> jax.Array:
    return x


def _norm(width: int, batch_norm: bool, rngs: nnx.Rngs) -> nnx.Module:
    """Return batch normalisation, or a module that changes nothing."""
    if batch_norm:
        return nnx.BatchNorm(width, momentum=0.9, rngs=rngs)
    return nnx.Sequential(_identity)


class Perceptron(nnx.Module):
    """Dense layers with ReLU, each with batch normalisation before it where asked for."""

    def __init__(self, task: Task, configuration: Configuration, rngs: nnx.Rngs) -> None:
        widths = [task.n_inputs] + configuration.depth * [configuration.width]
        self.layers = nnx.List([nnx.Linear(a, b, rngs=rngs) for a, b in pairwise(widths)])
        self.norms = nnx.List([_norm(w, configuration.batch_norm, rngs) for w in widths[1:]])
        self.head = nnx.Linear(widths[-1], task.n_classes, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Return the logits (n, K) of x (n, d)."""
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = nnx.relu(norm(layer(x)))
        return self.head(x)


class Block(nnx.Module):
    """Two layers around which the input passes by, each after normalisation and ReLU."""

    def __init__(self, width: int, n_axes: int, batch_norm: bool, rngs: nnx.Rngs) -> None:
        self.norms = nnx.List([_norm(width, batch_norm, rngs) for _ in range(2)])
        self.layers = nnx.List(
            [
                Convolution(width, width, 3, 1, rngs, n_axes)
                if n_axes
                else nnx.Linear(width, width, rngs=rngs)
                for _ in range(2)
            ]
        )

    def __call__(self, x: jax.Array) -> jax.Array:
        """Return an array of x's shape."""
        change = x
        for layer, norm in zip(self.layers, self.norms, strict=True):
            change = layer(nnx.relu(norm(change)))
        return x + change


N_AXES = {"signals": 1, "pictures": 2}


class Residual(nnx.Module):
    """A stem, blocks and a linear head: convolutions on signals and pictures, dense on features."""

    def __init__(self, task: Task, configuration: Configuration, rngs: nnx.Rngs) -> None:
        width = configuration.width
        self.n_axes = N_AXES.get(task.name.rstrip("0123456789"), 0)
        self.side = round(task.n_inputs ** (1 / max(1, self.n_axes)))
        self.stem = (
            Convolution(1, width, 5, 2, rngs, self.n_axes)
            if self.n_axes
            else nnx.Linear(task.n_inputs, width, rngs=rngs)
        )
        self.blocks = nnx.List(
            [
                Block(width, self.n_axes, configuration.batch_norm, rngs)
                for _ in range(configuration.depth)
            ]
        )
        self.norm = _norm(width, configuration.batch_norm, rngs)
        self.head = nnx.Linear(width, task.n_classes, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Return the logits (n, K) of x (n, d)."""
        if self.n_axes:
            x = x.reshape(len(x), *[self.side] * self.n_axes, 1)
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        x = nnx.relu(self.norm(x))
        return self.head(x.mean(tuple(range(1, 1 + self.n_axes))))


def build(task: Task, configuration: Configuration, key: int) -> nnx.Module:
    """Return an untrained network."""
    family = {"perceptron": Perceptron, "residual": Residual}[configuration.network]
    return family(task, configuration, nnx.Rngs(key))
