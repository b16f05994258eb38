"""Web search through Tavily."""
