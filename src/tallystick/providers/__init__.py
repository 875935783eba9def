"""Models, embeddings and upstream servers behind the ports that the turns name."""
