"""Driving agents that speak the Agent Client Protocol."""
