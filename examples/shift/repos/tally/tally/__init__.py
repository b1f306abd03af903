"""Totals of orders."""
