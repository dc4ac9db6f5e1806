"""One archive told to another: between the machines of a person, or to a team's server."""
