"""The generated golden cases, one module per chapter of rules."""
