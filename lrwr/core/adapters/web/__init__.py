"""The web, through a service that searches it."""
