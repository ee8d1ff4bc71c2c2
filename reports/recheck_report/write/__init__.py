"""The only place with markup and escaping."""
