"""The writing room: the terminal application of `lrwr chat`, built with Textual."""
