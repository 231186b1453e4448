"""Second, independent routes to what the laws say."""
