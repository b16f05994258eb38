"""Web search for one question, and the citation marks of web pages."""
