"""Watch a manuscript folder and keep the library up to date."""
