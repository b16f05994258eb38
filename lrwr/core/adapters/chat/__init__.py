"""Language models that a server offers."""
