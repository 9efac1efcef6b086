"""Where are runs kept? In one DuckDB file, with the log of every run beside it."""
