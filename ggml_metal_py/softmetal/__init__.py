"""softmetal: the part of Apple's Metal that ggml calls, in software, for machines without it."""
