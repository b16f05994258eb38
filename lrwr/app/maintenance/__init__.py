"""Looking after a library: doctor, repair, backup and restore."""
