"""Language models, embeddings and upstream tools: adapters for the ports of `turns` and the gate."""
