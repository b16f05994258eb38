"""What all commands share: options, output, settings, services and error messages."""
