"""One server: its warehouses, its routes, its faults, and who may do what."""
