"""Every pipeline getter of every row against a model of its rules that knows nothing of the library."""
