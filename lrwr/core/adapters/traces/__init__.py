"""Where traces are kept: nowhere, or at LangSmith."""
