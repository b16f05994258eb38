"""The values that everything else is told in: frozen, with units."""
