"""The room where the writer asks and the manuscript answers."""
