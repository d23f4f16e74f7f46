"""What backs the promises of calbias: league, coverage, power, predicted bias, peers, benchmark."""
