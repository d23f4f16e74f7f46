"""How far a run is, and how long the jobs take that are left."""

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field


@dataclass
class Job:
    """A job that runs."""

    rule: str
    name: str
    logs: list[str]
    started: float


@dataclass
class Work:
    """The jobs of a run: how many of each rule are left, which run, how long the others took."""

    total: int = 0
    done: int = 0
    queued: bool = False  # in groups, on a cluster, where most of a job's time is waiting
    left: Counter[str] = field(default_factory=Counter)
    running: dict[int, Job] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def finish(self, number: int, now: float) -> Job | None:
        """Count a job as done; return it."""
        self.done += 1
        job = self.running.pop(number, None)
        if job:
            self.left[job.rule] -= 1
            self.seconds[job.rule].append(now - job.started)
        return job

    def seconds_left(self, elapsed: float, now: float) -> float:
        """Return how long the jobs that are left take, by the means of those that are done.

        A rule without a finished job gets the mean of all. A job that runs for longer than its
        rule's mean may end at any time. In a queue nothing is known of what waits, and the jobs
        that are left take as long as those that are done took. NaN before anything is done.
        """
        spent = {rule: math.fsum(seconds) for rule, seconds in self.seconds.items()}
        count = sum(map(len, self.seconds.values()))
        if not count or not elapsed:
            return math.nan
        if self.queued:
            return elapsed * (self.total - self.done) / self.done
        mean = math.fsum(spent.values()) / count
        means = {rule: spent[rule] / len(self.seconds[rule]) for rule in spent}
        work = math.fsum(number * means.get(rule, mean) for rule, number in self.left.items())
        ages = [(now - job.started, means.get(job.rule, mean)) for job in self.running.values()]
        begun = math.fsum(min(age, expected) for age, expected in ages)
        at_once = (math.fsum(spent.values()) + math.fsum(age for age, _ in ages)) / elapsed
        return max(work - begun, 0.0) / max(at_once, 1e-9)
