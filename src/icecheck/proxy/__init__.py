"""A recording reverse proxy before a catalog: the traffic of any engine, judged as it passes."""
