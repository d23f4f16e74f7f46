"""All cells: data of known truth, that is distributions of scores with calibration curves.

``beta``       two Beta distributions with four curves, on which intervals of others run too
``design``     the design half, which may be looked at while a method is changed, and random worlds
``blind_2026``  123 cells whose author had not seen the interval that they judge; ``blind`` is their
               form, ``populations_2026`` has distributions with curves
``clusters``   rows that depend on each other
``subgroups``  scores with columns of subgroups; ``streams``  rows in time, for the monitor
``classes``    probabilities of all classes with maps that make them miscalibrated
``samples``    draws of scenarios, and subsamples of genuine rows

The judging half is ``reproduction.judging``: an estimator's page is measured on it too. The league
and the tests of calibration run on scenarios of ``evidence.league``.
"""
