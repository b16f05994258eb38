"""What every command shares: options, output, sessions and error reports."""
