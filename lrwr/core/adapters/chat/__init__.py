"""Language models behind OpenAI's API: OpenAI itself, and servers with the same API."""
