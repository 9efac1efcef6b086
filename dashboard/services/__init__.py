"""What can a person ask for? Plain functions behind every page and every command; none of them knows a page."""
