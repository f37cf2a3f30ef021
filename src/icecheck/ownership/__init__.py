"""What a run has made: the ledger, and the guard that lets it change nothing else."""
