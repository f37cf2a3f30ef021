"""The objects that a run made: the ledger, and the guard that lets it change nothing else."""
