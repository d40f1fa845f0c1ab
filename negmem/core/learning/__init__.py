"""What is learned beside memories: learned knowledge, entities, profiles; who shares it, who approves it."""
