"""Who reads documents elsewhere: containers at Modal."""
