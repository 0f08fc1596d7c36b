"""What must hold of the matcher on any graph, for any requests, in any order."""
