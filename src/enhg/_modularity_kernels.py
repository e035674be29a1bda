"""Compiled loops of the maximization of modularity."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from enhg._numba import kernel

# Smallest gain, relative to the sum of degrees, for which a vertex moves: above rounding.
_MIN_GAIN = 1e-10


@kernel(nogil=True)
def move(indptr, indices, data, degrees, resolution, order, labels):
    """Move single vertices to the neighboring cluster of the largest gain until none gains.

    `labels`, below the number of vertices, is changed in place. Vertices are visited in the given
    order; those next to a vertex that moved are visited again. Vertices that are not in the order
    stay where they are.
    """
    # Loops in place of sums, masks and slices, which take two seconds to compile.
    n = labels.shape[0]
    total, volumes, sizes = 0.0, np.zeros(n), np.zeros(n, np.int64)
    for i in range(n):
        total += degrees[i]
        volumes[labels[i]] += degrees[i]
        sizes[labels[i]] += 1
    empty, n_empty = np.empty(n, np.int64), 0  # a stack of labels without vertices
    for c in range(n):
        if sizes[c] == 0:
            empty[n_empty] = c
            n_empty += 1
    queue, head, count = np.empty(n, np.int64), 0, order.shape[0]
    waiting = np.ones(n, np.bool_)  # also those that are never visited
    for p in range(count):
        queue[p] = order[p]
    links, touched = np.zeros(n), np.empty(n, np.int64)  # from one vertex to clusters
    while count > 0:
        i = queue[head]
        head = (head + 1) % n
        count -= 1
        waiting[i] = False
        n_touched = 0
        for p in range(indptr[i], indptr[i + 1]):
            c = labels[indices[p]]
            if indices[p] != i:
                if links[c] == 0.0:
                    touched[n_touched] = c
                    n_touched += 1
                links[c] += data[p]
        own = labels[i]
        expected = resolution * degrees[i] / total
        stay = links[own] - expected * (volumes[own] - degrees[i])
        best, largest = own, stay + _MIN_GAIN * total
        if sizes[own] > 1 and largest < 0.0:
            best, largest = empty[n_empty - 1], 0.0
        for t in range(n_touched):
            c = touched[t]
            gain = links[c] - expected * volumes[c]
            if c != own and gain > largest:
                best, largest = c, gain
            links[c] = 0.0
        if best == own:
            continue
        if sizes[best] == 0:
            n_empty -= 1
        sizes[own] -= 1
        volumes[own] -= degrees[i]
        if sizes[own] == 0:
            volumes[own] = 0.0
            empty[n_empty] = own
            n_empty += 1
        sizes[best] += 1
        volumes[best] += degrees[i]
        labels[i] = best
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if not waiting[j] and labels[j] != best:
                waiting[j] = True
                queue[(head + count) % n] = j
                count += 1


@kernel(nogil=True)
def sum_links(indptr, indices, data, clusters, order, starts):
    """Sum the links between each two clusters: data, indices and indptr of their CSR array.

    `order` lists the vertices of cluster c at the positions starts[c] … starts[c + 1] − 1.
    """
    count = starts.shape[0] - 1
    summed = np.empty(data.shape[0])
    targets = np.empty(data.shape[0], np.int64)
    ends = np.zeros(count + 1, np.int64)
    place = np.full(count, -1)  # of a cluster in the row, if not before the row
    n_entries = 0
    for c in range(count):
        for q in range(starts[c], starts[c + 1]):
            i = order[q]
            for p in range(indptr[i], indptr[i + 1]):
                target = clusters[indices[p]]
                if place[target] < ends[c]:
                    place[target] = n_entries
                    targets[n_entries] = target
                    summed[n_entries] = 0.0
                    n_entries += 1
                summed[place[target]] += data[p]
        ends[c + 1] = n_entries
    return summed[:n_entries].copy(), targets[:n_entries].copy(), ends
