"""What memory can know: attributes of people, places, organisations, things and events, from one data file."""
