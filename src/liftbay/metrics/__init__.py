"""One file per metric; the name of the file is the id of the metric."""
