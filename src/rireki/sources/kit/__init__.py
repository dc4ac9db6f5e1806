"""Tools that several readers share; none of them knows a source."""
