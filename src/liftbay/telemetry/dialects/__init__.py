"""One file a dialect: what a span means, in the words of the conventions that it follows."""
