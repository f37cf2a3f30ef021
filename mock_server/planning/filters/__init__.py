"""Filters of a scan: reads them, binds them to columns, projects them on partitions and bounds."""
