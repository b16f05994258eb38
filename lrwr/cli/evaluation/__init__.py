"""What `lrwr eval` and its subcommands do."""
