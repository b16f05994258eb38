"""What all adapters over HTTP share: send log, errors, rate limits and timeouts."""
