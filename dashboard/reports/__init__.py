"""What leaves this program to be read elsewhere: traces, reports, bundles."""
