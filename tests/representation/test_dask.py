"""Blocks of samples solved by Dask workers: processes on this machine."""

import os
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep

import numpy as np
import pytest
from sklearn.datasets import load_digits

from enhg import ElasticNetHypergraph, HypergraphClustering
from enhg._checkpoint import digest
from enhg.exceptions import InputError
from enhg.representation import scheduling
from enhg.representation.solver import self_representation

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

from enhg.representation import _dask  # noqa: E402 (needs distributed)

X = load_digits().data[:600].astype(np.float32)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(scheduling, "_MAX_BLOCK_ROWS", 50)


def equal(a, b):
    return (a.coefficients != b.coefficients).nnz == 0 and np.array_equal(
        a.certificate, b.certificate
    )


def test_one_worker_equals_two(client):
    two = self_representation(X, scheduler=client)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        one = self_representation(X, scheduler=cluster.get_client())
    assert equal(one, two)
    threads = self_representation(X, scheduler="threads")
    assert two.certificate.max() <= 1e-4
    np.testing.assert_allclose(
        two.coefficients.toarray(), threads.coefficients.toarray(), atol=1e-4
    )


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "norm", "gamma": 5.0},
        {"error_weight": 0.5},
        {"loss": "norm", "gamma": 5.0, "error_weight": 0.5},
        {"dictionary": X[300:]},
        {"gamma": 3000.0, "lam": 0.01, "tol": 1e-6},  # partly in float64
    ],
)
def test_every_problem_equals_threads(client, options):
    ours = self_representation(X[:300], scheduler=client, **options)
    threads = self_representation(X[:300], scheduler="threads", **options)
    difference = np.abs((ours.coefficients - threads.coefficients).toarray())
    assert difference.max() <= 0.02 * np.abs(threads.coefficients.data).max()
    assert ours.certificate.max() <= options.get("tol", 1e-4)
    if threads.sparse_errors is not None:
        np.testing.assert_allclose(
            ours.sparse_errors.toarray(), threads.sparse_errors.toarray(), atol=0.02
        )


def test_an_active_client_is_used(client, monkeypatch):
    used, send = [], _dask.DaskWorkers._send

    def counted(self, array):
        used.append(array.shape)
        return send(self, array)

    monkeypatch.setattr(_dask.DaskWorkers, "_send", counted)
    self_representation(X)
    assert used == []
    with client.as_current():
        self_representation(X)
        assert used == [X.shape, (len(X),), (len(X),)]
        self_representation(X, scheduler="threads")
        model = HypergraphClustering(4, random_state=0).fit(X)
        assert used[3:] == [X.shape, (len(X),), (len(X),)]  # the choice of preprocessing stays here
        model.predict(X[:20])
        assert len(used) == 10


def test_samples_are_not_in_the_tasks(client):
    sizes = []

    class Counting:
        def __getattr__(self, name):
            return getattr(client, name)

        def submit(self, function, *arguments, **options):
            sizes.append(len(distributed.protocol.dumps(arguments)[0]))
            assert not any(isinstance(argument, np.ndarray) for argument in arguments)
            return client.submit(function, *arguments, **options)

    workers = _dask.DaskWorkers(Counting())
    problem = block_problem(X)
    layout = workers.layout(problem)
    assert not layout.stores_gram
    assert len(list(workers.solve(problem, layout, range(12)))) == len(sizes) == 12
    assert not any(client.run(lambda: dict(_dask._open)).values())  # nothing stays


@pytest.fixture
def scattered(monkeypatch):
    """The shapes of the arrays that this process sends."""
    shapes, scatter = [], distributed.Client.scatter

    def counted(self, data, **options):
        shapes.append(data[0].shape)
        return scatter(self, data, **options)

    monkeypatch.setattr(distributed.Client, "scatter", counted)
    return shapes


def test_memory_mapped_samples_are_opened_by_workers(client, tmp_path, scattered):
    np.save(tmp_path / "samples.npy", X)
    mapped = np.load(tmp_path / "samples.npy", mmap_mode="r")
    ours = self_representation(mapped, scheduler=client)
    assert scattered == [(len(X),), (len(X),)]
    assert equal(ours, self_representation(X, scheduler=client))


def dask_arrays(client):
    """X as Dask arrays of several kinds."""
    array = da.from_array(X, chunks=(170, 30))
    return {
        "lazy": array,
        "persisted": client.persist(array),
        "unknown": array[array[:, 0] >= 0],
        "fortran": da.from_array(np.asfortranarray(X), chunks=X.shape),
        "integers": array.astype(np.uint8),
    }


@pytest.mark.parametrize("kind", ["lazy", "persisted", "unknown", "fortran", "integers"])
def test_dask_array_is_shared_by_workers(client, scattered, kind):
    ours = self_representation(dask_arrays(client)[kind], scheduler=client)
    assert scattered == [(len(X),), (len(X),)]
    assert ours.samples.dtype == X.dtype
    np.testing.assert_array_equal(ours.samples, X)
    assert equal(ours, self_representation(X, scheduler=client))


def test_no_copy_of_a_dask_array_stays(client):
    array = client.persist(da.from_array(X, chunks=(170, 30)))
    self_representation(array, scheduler=client)
    limit = monotonic() + 30
    while monotonic() < limit:  # copies are removed soon, not at once
        keys = {key for keys in client.has_what().values() for key in keys}
        if len(keys) == array.npartitions:
            return
        sleep(0.05)
    pytest.fail(f"workers have {keys}")


def test_arrays_of_messages_are_aligned():
    message = np.empty(X.nbytes + 1, np.uint8)
    array = message[1:].view(X.dtype).reshape(X.shape)
    array[:] = X
    assert not array.flags.aligned
    opened = _dask._opened(array)
    assert opened.flags.aligned
    assert opened.flags.c_contiguous
    np.testing.assert_array_equal(opened, X)
    assert _dask._opened(opened) is opened


def test_dask_array_as_dictionary(client, scattered):
    dictionary = da.from_array(X[300:], chunks=(100, 64))
    ours = self_representation(X[:300], dictionary=dictionary, scheduler=client)
    assert scattered == [(300, 64), (300,), (300,)]
    assert equal(ours, self_representation(X[:300], dictionary=X[300:], scheduler=client))


def test_zarr_array_is_opened_by_workers(client, tmp_path, scattered):
    zarr = pytest.importorskip("zarr")
    stored = zarr.create_array(tmp_path / "samples.zarr", data=X, chunks=(100, 64))
    ours = self_representation(stored, scheduler=client)
    assert scattered == [(len(X),), (len(X),)]
    assert equal(ours, self_representation(X, scheduler=client))
    scattered.clear()
    assert equal(ours, self_representation(zarr.array(X), scheduler=client))  # in memory: sent
    assert scattered == [X.shape, (len(X),), (len(X),)]


def block_problem(samples):
    problem = scheduling.Problem(10.0, 5.0, "squared", "relative")
    return scheduling.BlockProblem(
        samples, samples, np.arange(len(samples)), np.ones(len(samples)), problem, 1e-4
    )


def test_zarr_array_that_changes(client, tmp_path, scattered):
    zarr = pytest.importorskip("zarr")
    stored = zarr.create_array(tmp_path / "samples.zarr", data=X, chunks=(100, 64))
    workers = _dask.DaskWorkers(client)
    problem = block_problem(workers.read(stored, "X"))
    layout = workers.layout(problem)
    stored[17] = 1.0
    with pytest.raises(InputError, match=r"X must stay as it is .*samples\.zarr") as error:
        list(workers.solve(problem, layout, range(12)))
    assert error.value.parameter == "X"
    shutil.rmtree(tmp_path / "samples.zarr")  # this process has the samples, and sends them
    scattered.clear()
    assert len(list(workers.solve(problem, layout, range(12)))) == 12
    assert scattered == [X.shape, (len(X),), (len(X),)]


def test_dask_array_that_is_computed_anew_must_be_the_same(client):
    with pytest.raises(InputError, match="X must be the same whenever it is computed") as error:
        client.submit(_dask._require_digest, X, digest(X + 1), "X").result()
    assert error.value.parameter == "X"


def test_dask_array_that_is_lost_is_sent(client, scattered):
    workers = _dask.DaskWorkers(client)
    problem = block_problem(workers.read(da.from_array(X, chunks=(170, 30)), "X"))
    client.cancel(workers._sources[0][1])
    assert len(list(workers.solve(problem, workers.layout(problem), range(12)))) == 12
    assert scattered == [X.shape, (len(X),), (len(X),)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda array: array[:, 0], "X must have 2 dimensions, samples × features, got dim 1"),
        (lambda array: array[None], "X must have 2 dimensions, samples × features, got dim 3"),
        (lambda array: array.astype(object), "X must hold real numbers, got dtype object"),
        (lambda array: array.astype(str), "X must hold real numbers, got dtype <U32"),
        (lambda array: array * 1j, "X must hold real numbers, got dtype complex64"),
        (lambda array: array[:, array[0] > 0], "X must have a known number of features, got"),
        (lambda array: da.where(array > 15, np.nan, array), "X must hold finite numbers, got NaN"),
        (lambda array: array[:1], "X must have at least 2 samples, got 1"),
    ],
)
def test_unusable_dask_array(client, change, message):
    array = change(da.from_array(X, chunks=(170, 30)))
    with pytest.raises(InputError, match=message) as error:
        self_representation(array, scheduler=client)
    assert error.value.parameter == "X"


def test_errors_of_the_computation_of_a_dask_array_arrive(client):
    def fail(block):
        raise ArithmeticError("of the block")

    array = da.from_array(X, chunks=(170, 30)).map_blocks(fail, meta=X[:0])
    with pytest.raises(ArithmeticError, match="of the block"):
        self_representation(array, scheduler=client)


def test_a_killed_worker_costs_only_its_blocks(monkeypatch, tmp_path):
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        client = cluster.get_client()
        plain = self_representation(X, scheduler=client)
        victims = list(client.run(os.getpid).values())
        done = []

        def kill_one(n_done, total):
            done.append(n_done)
            if len(done) == 2:
                os.kill(victims[0], signal.SIGKILL)

        assert equal(plain, self_representation(X, scheduler=client, progress=kill_one))
        assert done[-1] == len(X)
        assert len(done) == 12  # every block arrives once


@pytest.mark.parametrize("kind", ["memory", "dask"])
def test_all_workers_killed(kind):
    samples = X if kind == "memory" else da.from_array(X, chunks=(170, 30))
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        client = cluster.get_client()
        plain = self_representation(X, scheduler=client)
        done = []

        def kill_all(n_done, total):
            done.append(n_done)
            if len(done) == 3:
                for process in client.run(os.getpid).values():
                    os.kill(process, signal.SIGKILL)

        # The nanny starts another worker, which receives or computes the samples again.
        assert equal(plain, self_representation(samples, scheduler=client, progress=kill_all))
        assert len(done) == 12


def test_workers_killed_before_a_result_is_fetched(monkeypatch):
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        client = cluster.get_client()
        plain = self_representation(X, scheduler=client)
        killed, done = [], []

        def and_kill(futures, **options):
            for number, future in enumerate(distributed.as_completed(futures, **options)):
                if number == 3 and not killed:
                    assert future.status == "finished"
                    killed.extend(client.run(os.getpid).values())
                    os.kill(killed[0], signal.SIGKILL)
                yield future

        monkeypatch.setattr(_dask, "as_completed", and_kill)
        again = self_representation(X, scheduler=client, progress=lambda n, _: done.append(n))
        assert equal(plain, again)
        assert len(killed) == 1
        assert len(done) == 12


def test_checkpoint_of_workers(client, tmp_path):
    plain = self_representation(X, scheduler=client, checkpoint=tmp_path)
    for name in ("float32-3.npz", "float32-7.npz"):
        (tmp_path / "representation" / name).unlink()
    assert equal(plain, self_representation(X, scheduler=client, checkpoint=tmp_path))


def test_checkpoint_does_not_depend_on_where_samples_are(client, tmp_path, scattered):
    zarr = pytest.importorskip("zarr")
    plain = self_representation(X, scheduler=client, checkpoint=tmp_path / "checkpoint")
    (tmp_path / "checkpoint" / "representation" / "float32-3.npz").unlink()
    scattered.clear()
    array = da.from_array(X, chunks=(170, 30))
    again = self_representation(array, scheduler=client, checkpoint=tmp_path / "checkpoint")
    assert equal(plain, again)
    assert scattered == [(len(X),), (len(X),)]
    stored = zarr.create_array(tmp_path / "samples.zarr", data=X, chunks=(100, 64))
    again = self_representation(stored, scheduler=client, checkpoint=tmp_path / "checkpoint")
    assert equal(plain, again)
    assert scattered == [(len(X),), (len(X),)]  # all blocks are solved: nothing is sent
    with pytest.raises(InputError, match="got one of other samples"):
        self_representation(array + 1, scheduler=client, checkpoint=tmp_path / "checkpoint")


def test_errors_of_workers_arrive(client, monkeypatch):
    problem = scheduling.BlockProblem(
        X, X[:, :5], np.arange(len(X)), np.ones(len(X)),
        scheduling.Problem(10.0, 5.0, "squared", "relative"), 1e-4,
    )  # fmt: skip
    with pytest.raises(ValueError, match="matmul"):
        list(_dask.DaskWorkers(client).solve(problem, scheduling.Layout(50, 100, False), [0]))


def test_structures_use_the_client(client):
    with client.as_current():
        ours = ElasticNetHypergraph().fit(X)
    threads = ElasticNetHypergraph().fit(X)
    difference = np.abs((ours.graph_.incidence - threads.graph_.incidence).toarray())
    assert difference.mean() < 1e-3 * threads.graph_.incidence.toarray().mean()


def test_learners_take_a_dask_array(client):
    array = client.persist(da.from_array(X, chunks=(170, 30)))
    with client.as_current():
        ours = HypergraphClustering(4, random_state=0).fit(array)
        plain = HypergraphClustering(4, random_state=0).fit(X)
    np.testing.assert_array_equal(ours.labels_, plain.labels_)
    np.testing.assert_array_equal(ours.structure_.samples_, X)


def test_a_client_that_could_not_connect_is_not_active():
    with pytest.raises((OSError, ValueError)):
        distributed.Client("tcp://127.0.0.1:9", timeout=0.5)
    assert scheduling.active_client() is None
    assert self_representation(X).certificate.max() <= 1e-4


def test_scheduler_must_be_one():
    with pytest.raises(InputError, match="scheduler must be") as error:
        self_representation(X, scheduler="processes")
    assert error.value.parameter == "scheduler"
    with pytest.raises(InputError, match="a client of dask"), ThreadPoolExecutor() as pool:
        self_representation(X, scheduler=pool)


def test_client_without_workers():
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster,
        pytest.raises(InputError, match="must have workers, got a Dask client without any"),
    ):
        self_representation(X, scheduler=cluster.get_client())


def test_workers_of_another_version(client, monkeypatch):
    monkeypatch.setattr(_dask, "__version__", "0.0.1")
    with pytest.raises(InputError, match=r"workers with enhg 0\.0\.1, as here, got enhg 0\."):
        self_representation(X, scheduler=client)


def test_workers_without_the_package(client):
    def hide():
        import sys

        sys.modules["enhg._version"] = None

    def show():
        import sys

        del sys.modules["enhg._version"]

    client.run(hide)
    try:
        with pytest.raises(InputError, match=r"got one without it .*enhg\._version"):
            self_representation(X, scheduler=client)
    finally:
        client.run(show)


def test_a_client_that_is_closed(client):
    closed = type(client)(client.scheduler.address, set_as_default=False)
    closed.close()
    with pytest.raises(InputError, match="must be a client that is connected, got one that is"):
        self_representation(X, scheduler=closed)
