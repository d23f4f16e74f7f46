"""Claims of the papers on trained networks; ``over_networks`` makes them."""
