"""What memory is measured by: evidence recall, poisoning and honest streams, speed with a million observations."""
