"""One server for what the people of a team share: who may read what, and the web app for them."""
