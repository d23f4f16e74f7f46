"""The networks, in flax: perceptrons, and residual networks with convolutions or dense blocks."""

from itertools import pairwise

import jax
import jax.numpy as jnp
from flax import nnx

from trained.configuration import Configuration
from trained.tasks import Task


class Convolution(nnx.Module):
    """A convolution over time as one matrix product of windows: four times as fast on a CPU."""

    def __init__(self, inputs: int, outputs: int, size: int, stride: int, rngs: nnx.Rngs) -> None:
        self.size, self.stride = size, stride
        self.weights = nnx.Linear(size * inputs, outputs, use_bias=False, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Return (n, time/stride, outputs) of x (n, time, inputs), padded with zeros."""
        length = x.shape[1]
        padded = jnp.pad(x, ((0, 0), (self.size // 2, self.size // 2), (0, 0)))
        windows = [padded[:, k : k + length : self.stride] for k in range(self.size)]
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

    def __init__(self, width: int, over_time: bool, batch_norm: bool, rngs: nnx.Rngs) -> None:
        self.norms = nnx.List([_norm(width, batch_norm, rngs) for _ in range(2)])
        self.layers = nnx.List(
            [
                Convolution(width, width, 3, 1, rngs)
                if over_time
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


class Residual(nnx.Module):
    """A stem, blocks, and a linear head: convolutions on signals, dense layers on features."""

    def __init__(self, task: Task, configuration: Configuration, rngs: nnx.Rngs) -> None:
        width = configuration.width
        self.over_time = task.name.startswith("signals")
        self.stem = (
            Convolution(1, width, 5, 2, rngs)
            if self.over_time
            else nnx.Linear(task.n_inputs, width, rngs=rngs)
        )
        self.blocks = nnx.List(
            [
                Block(width, self.over_time, configuration.batch_norm, rngs)
                for _ in range(configuration.depth)
            ]
        )
        self.norm = _norm(width, configuration.batch_norm, rngs)
        self.head = nnx.Linear(width, task.n_classes, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Return the logits (n, K) of x (n, d)."""
        x = self.stem(x[:, :, None] if self.over_time else x)
        for block in self.blocks:
            x = block(x)
        x = nnx.relu(self.norm(x))
        return self.head(x.mean(1) if self.over_time else x)


def build(task: Task, configuration: Configuration, key: int) -> nnx.Module:
    """Return an untrained network."""
    family = {"perceptron": Perceptron, "residual": Residual}[configuration.network]
    return family(task, configuration, nnx.Rngs(key))
