"""The way in for devices of the local network: encrypted, and each with a token of its own."""
