"""Attacks on a broker, by kind; abuse.py measures what they do."""
