"""What a writer is told, in words: the same in commands and on screens."""
