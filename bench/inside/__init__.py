"""What runs in child processes of its own."""
