"""Filters of a scan: read, bound to columns, and projected on partitions and bounds."""
