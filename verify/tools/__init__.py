"""The public suite: mechanisms with known violations, judged by the referee."""
