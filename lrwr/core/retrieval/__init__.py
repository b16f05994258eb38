"""Finding passages: shared below the rooms."""
