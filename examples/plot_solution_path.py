"""
Lasso and elastic net: the path of one sample
=============================================

The coefficients of one sample over the others as the l1 penalty falls (LARS-EN). With a ridge
penalty correlated samples enter together, and more of them are members of the hyperedge.
"""

# %%
# A handwritten 5 over 199 other digits, without and with a ridge penalty.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from enhg import elastic_net_path, plotting
from enhg.preprocessing import SampleNormalizer

X = SampleNormalizer().fit_transform(load_digits().data[:200])
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
for ax, (name, ridge) in zip(axes, (("lasso", 0.0), ("elastic net", 1.0)), strict=True):
    path = elastic_net_path(X, 5, ridge)
    plotting.plot_path(path, ax=ax)
    ax.set_title(name)
    z = path.at(0.1)
    first = [event.atom for event in path.events if event.kind == "enter"][:5]
    print(f"{name}: {len(path.alphas)} breakpoints, {(z != 0).sum()} non-zeros at alpha = 0.1,")
    print(f"    the first atoms to enter are {first}")
