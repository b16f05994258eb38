"""What is found for a question, within its bounds."""
