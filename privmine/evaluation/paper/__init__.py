"""The experiments of the PrivBasis paper (Section 5) done again, and a page that says how they compare."""
