"""The mock against an independent oracle: the handlers of Iceberg's own Java library."""
