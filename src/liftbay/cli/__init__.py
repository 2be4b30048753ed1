"""The `liftbay` command: a thin edge that reads options, calls the layers below and shows what they found."""
