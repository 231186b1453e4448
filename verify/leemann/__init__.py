"""Leemann, Pawelczyk & Kasneci (2023), "Gaussian membership inference privacy": statements, the laws that decide them, and second routes."""
