"""A language model as the judge: what it is asked, how its answer is read, votes and kept answers."""
