"""What the product knows and does, without a terminal."""
