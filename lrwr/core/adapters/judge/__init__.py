"""Judges that score answers for `lrwr eval`, with a language model."""
