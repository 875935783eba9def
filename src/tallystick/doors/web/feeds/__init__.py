"""Long lists, a window at a time: what was asked for, older when one scrolls, newer when something happens."""
