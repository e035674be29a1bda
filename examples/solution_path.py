"""Lasso and elastic net: the solution path of the coefficients of one digit (LARS-EN)."""

from sklearn.datasets import load_digits

from enhg import elastic_net_path
from enhg.preprocessing import SampleNormalizer

X = SampleNormalizer().fit_transform(load_digits().data[:200])
for name, ridge in (("lasso", 0.0), ("elastic net", 1.0)):
    path = elastic_net_path(X, 5, ridge)
    z = path.at(0.1)
    first = [event.atom for event in path.events if event.kind == "enter"][:5]
    print(f"{name}: {len(path.alphas)} breakpoints, {(z != 0).sum()} non-zeros at alpha = 0.1, ")
    print(f"    the first atoms to enter are {first}")
