"""Which module is at fault, what to replay to confirm it, why two runs differ. No input or output."""
