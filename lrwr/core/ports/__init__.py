"""The promises that adapters keep, one protocol a file."""
