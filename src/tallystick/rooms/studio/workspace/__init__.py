"""The author's files: the tree, reading, patches against a base, snapshots, history."""
