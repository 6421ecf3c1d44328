"""Facts about a module. Nothing here changes it."""
