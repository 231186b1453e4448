"""The claims about Izzo, Yoon, Arik & Zou, "Provable Membership Inference Privacy" (TMLR 2024)."""
