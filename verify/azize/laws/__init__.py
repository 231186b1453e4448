"""The exact laws that only these statements need."""
