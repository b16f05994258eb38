"""Model servers that a writer may be running on this machine."""
