"""What is seen: one page to a file; parts/ holds what pages share."""
