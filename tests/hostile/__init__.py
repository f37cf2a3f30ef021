"""Servers that lie, drip, flood or vanish: what a run does about them, and what it keeps safe."""
