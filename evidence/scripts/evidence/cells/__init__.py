"""All cells: data of known truth, that is distributions of scores with calibration curves.

``beta``       two Beta distributions with four curves, on which intervals of others run too
``halves``     the design half, which may be looked at while a method is changed, the judging half,
               which is read once at its end, and random worlds
``blind_2026``  123 cells whose author had not seen the interval that they judge; ``blind`` is their
               form, ``populations_2026`` has distributions with curves
``clusters``   rows that depend on each other
``subgroups``  scores with columns of subgroups; ``streams``  rows in time, for the monitor
``classes``    probabilities of all classes with maps that make them miscalibrated
``samples``    data sets of scores and hits: samples, draws of scenarios, subsamples of genuine rows

The league and the tests of calibration run on scenarios of ``evidence.league``.
"""
