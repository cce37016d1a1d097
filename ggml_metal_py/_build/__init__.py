"""Builds the library of one upstream row: fetch, unpack, generate, compile, link. Called by build.sh."""
