"""Izzo, Yoon, Arik & Zou (2024), "Provable membership inference privacy": statements, the laws that decide them, and second routes."""
