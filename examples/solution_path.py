"""Lasso against elastic net: how a digit's rebuilders enter along the LARS-EN path."""

from sklearn.datasets import load_digits

from enhg import elastic_net_path, normalize_samples

X = normalize_samples(load_digits().data[:200])
for name, ridge in (("lasso", 0.0), ("elastic net", 1.0)):
    path = elastic_net_path(X, 5, ridge)
    z = path.at(0.1)
    first = [event.atom for event in path.events if event.kind == "enter"][:5]
    print(f"{name}: {len(path.alphas)} breakpoints, {(z != 0).sum()} rebuilders at a = 0.1, ")
    print(f"    the first to enter are samples {first}")
