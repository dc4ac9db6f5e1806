"""A chat app on ChatKit whose conversations rireki keeps: `python -m examples.chatkit_app`."""
