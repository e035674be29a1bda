"""Doctests are collected in the pages, not in what makes the site, nor in what was made."""

collect_ignore = ["_build", "_ext", "api", "check_links.py", "conf.py", "gallery", "project"]
