"""Conversations taken out of an archive: as documents, into files and folders, to a collector, to people."""
