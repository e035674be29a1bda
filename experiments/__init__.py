"""The paper's protocol, and what the library's own choices rest on (paper, V)."""
