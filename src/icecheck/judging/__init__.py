"""Runs checks and turns how they end into verdicts; also passive verdicts without a check."""
