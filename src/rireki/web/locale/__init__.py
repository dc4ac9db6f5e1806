"""What pages say in the language of their reader: which language, its words, its dates."""
