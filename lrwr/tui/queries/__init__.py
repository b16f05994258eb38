"""Functions that screens run in the service thread to read and change the library."""
