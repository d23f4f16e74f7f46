"""All cells: data of known truth, that is distributions of scores with calibration curves.

``beta``          two Beta distributions with four curves, on which intervals of others run too
``halves``        the design half, which may be looked at while a method is changed, the judging
                  half, which is read once at its end, and random worlds
``blind_2025``    36 cells by an author who had not seen the interval of that year
``clusters``      rows that depend on each other
``common``, ``wave``  distributions and curves that several studies use

``evidence.blind.cells_2026`` has 123 cells by an author who has not seen the present interval.
"""
