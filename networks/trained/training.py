"""Training by stochastic gradient descent: optax on a flax network, one compiled call an epoch."""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from calbias.engine.seeding import stream
from trained.configuration import Configuration
from trained.models import build
from trained.tasks import Task

BATCH = 128
PREDICTED_AT_ONCE = 500  # rows, whose windows stay in the cache; a divisor of all rows predicted
Predict = Callable[[np.ndarray], np.ndarray]


def _cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels)


def _label_smoothing(logits: jax.Array, labels: jax.Array) -> jax.Array:
    targets = optax.smooth_labels(jax.nn.one_hot(labels, logits.shape[1]), 0.1)
    return optax.softmax_cross_entropy(logits, targets)


def _focal(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """Return -(1 - p)³ log p (Lin et al. 2017; γ = 3 as in Mukhoti et al. 2020)."""
    log_p = -_cross_entropy(logits, labels)
    return -((1 - jnp.exp(log_p)) ** 3) * log_p


def _brier(logits: jax.Array, labels: jax.Array) -> jax.Array:
    difference = jax.nn.softmax(logits) - jax.nn.one_hot(labels, logits.shape[1])
    return (difference**2).sum(1)


LOSSES = {
    "cross_entropy": _cross_entropy,
    "label_smoothing": _label_smoothing,
    "focal": _focal,
    "brier": _brier,
}


def train(task: Task, configuration: Configuration) -> Iterator[tuple[int, Predict]]:
    """Yield (epoch, a function from inputs to logits) after each epoch; the last one is trained."""
    seed, name = configuration.seed, configuration.name
    rows = task.draw(configuration.n_train, stream(seed, "networks", name, "training rows"))
    inputs, labels = jnp.asarray(rows.inputs), jnp.asarray(rows.labels, jnp.int32)
    order = stream(seed, "networks", name, "order")
    steps = configuration.n_train // BATCH
    total = steps * configuration.epochs
    schedule = optax.piecewise_constant_schedule(
        configuration.learning_rate, {total // 2: 0.1, total * 3 // 4: 0.1}
    )
    optimiser = optax.chain(
        optax.add_decayed_weights(configuration.weight_decay),
        optax.sgd(schedule, momentum=0.9, nesterov=True),
    )
    key = int(stream(seed, "networks", name, "weights").integers(2**31))
    graph, weights, statistics = nnx.split(build(task, configuration, key), nnx.Param, ...)
    loss_of = LOSSES[configuration.loss]

    def loss(weights: Any, statistics: Any, batch: jax.Array) -> tuple[jax.Array, Any]:
        network = nnx.merge(graph, weights, statistics, copy=True)
        network.train()
        value = loss_of(network(inputs[batch]), labels[batch]).mean()
        return value, nnx.split(network, nnx.Param, ...)[2]

    def step(carry: Any, batch: jax.Array) -> tuple[Any, None]:
        weights, statistics, state = carry
        gradient, statistics = jax.grad(loss, has_aux=True)(weights, statistics, batch)
        updates, state = optimiser.update(gradient, state, weights)
        return (optax.apply_updates(weights, updates), statistics, state), None

    def epoch(carry: Any, batches: jax.Array) -> Any:
        return jax.lax.scan(step, carry, batches)[0]

    def logits_of(weights: Any, statistics: Any, inputs: jax.Array) -> jax.Array:
        network = nnx.merge(graph, weights, statistics, copy=True)
        network.eval()
        return jax.lax.map(network, inputs)

    compiled_epoch, compiled_logits_of = jax.jit(epoch), jax.jit(logits_of)
    carry = weights, statistics, optimiser.init(weights)
    for number in range(1, configuration.epochs + 1):
        batches = order.permutation(configuration.n_train)[: steps * BATCH].reshape(steps, BATCH)
        carry = compiled_epoch(carry, jnp.asarray(batches))

        def predict(inputs: np.ndarray, carry: Any = carry) -> np.ndarray:
            in_cache = inputs.reshape(-1, PREDICTED_AT_ONCE, inputs.shape[1])
            return np.asarray(compiled_logits_of(*carry[:2], in_cache)).reshape(len(inputs), -1)

        yield number, predict
