"""A second judge of recorded answers, which shares the contract with the first and no code."""
