"""Judges that score answers for `lrwr eval`."""
