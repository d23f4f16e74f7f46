"""All cells: data of known truth, that is distributions of scores with calibration curves.

``beta``       two Beta distributions with four curves, on which intervals of others run too
``halves``     the design half, which may be looked at while a method is changed, the judging half,
               which is read once at its end, and random worlds
``clusters``   rows that depend on each other
``subgroups``  scores with columns of subgroups; ``streams``  rows in time, for the monitor
``classes``    probabilities of all classes with maps that make them miscalibrated
``league``     what the league and the tests of calibration run on
``sets``       the sets on which the audit's interval is read, each with its half
``curves``, ``samples``  curves and data sets that several of them use

``evidence.blind`` has 36 cells of 2025 and 123 of 2026, by authors who had not seen the interval
that they judge.
"""
