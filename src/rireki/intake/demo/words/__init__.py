"""What is said in the demo: invented people, projects and troubles. Data, and no format."""
