"""The claims of Leemann, Pawelczyk & Kasneci (2023), each judged over its domain."""
