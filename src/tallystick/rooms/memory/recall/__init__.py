"""Step 4, recall: questions answered from the projection, with the evidence behind each answer."""
