"""What several pages share: the frame, addresses, rendered conversations, activity, asks."""
