"""Scan planning: finds the files that a scan has to read in the table's own manifests."""
