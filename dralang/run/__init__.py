"""One scenario played: the cluster with its clock, its components and its trace."""
