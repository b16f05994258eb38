"""Documents that lrwr writes for the writer to keep."""
