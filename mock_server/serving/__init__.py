"""One server: its warehouses, its routes, its faults, and the permissions of its callers."""
