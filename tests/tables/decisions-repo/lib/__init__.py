"""The package of the table's Python rows."""
