"""What the package costs, measured in one run: every ratio compares two things measured side by side."""
