"""Programs of several clients that are drawn, raced, and judged by what no order explains."""
