"""How fast the engine is: pieces of work, their baselines, and paired interleaved timing."""
