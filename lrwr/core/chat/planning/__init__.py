"""What a question needs: planned by rules or a model, names resolved."""
