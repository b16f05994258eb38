"""The application layer: builds services from settings and runs use cases."""
