"""The writing room: the Textual application of `lrwr chat`."""
