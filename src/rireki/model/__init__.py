"""What a conversation is: pure values without input or output."""
