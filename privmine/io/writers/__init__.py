"""Exact copies of the data out."""
