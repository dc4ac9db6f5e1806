"""What people and programs touch; the faces do not know each other."""
