"""Scripts for those who work on lrwr; not part of what is installed."""
