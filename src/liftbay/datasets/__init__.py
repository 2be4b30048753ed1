"""Data files in and out: JSON Lines, folders and archives."""
