"""A thin slice of torch's samples; `python -m tests.oracle` runs them all."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")

from tests.oracle import batches, meta, ops
from tests.oracle.absent import reason
from tests.oracle.campaign import run

# Each op here must pass on every sample that is drawn. An op joins once its table row is clean.
CLEAN = (
    "abs add addcmul argmax argmin atan2 clamp cos cummax cummin cumsum div eq exp "
    "flatten flip floor fmax ge lerp log logaddexp logical_and logsumexp "
    "masked_fill maximum mean min minimum mul neg nn.functional.relu permute pow "
    "prod reshape select sigmoid sign sin softplus sqrt squeeze stack std sub sum "
    "tanh topk transpose tril triu unbind unsqueeze var view where "
    "addr arange cdist cov cross diagonal_scatter dist kthvalue linspace logspace median "
    "nanquantile narrow put quantile select_scatter sinc "
    "aminmax gather linalg.eigh linalg.householder_product linalg.svd linalg.vander log_softmax "
    "matrix_exp nextafter nonzero pca_lowrank softmax special.i1 svd_lowrank take_along_dim "
    "tensordot zero_"
).split()

FUNCTIONAL = (
    "adaptive_avg_pool3d avg_pool2d avg_pool3d batch_norm conv2d conv_transpose2d "
    "cosine_similarity cross_entropy ctc_loss embedding fractional_max_pool2d gelu "
    "grid_sample interpolate linear local_response_norm logsigmoid max_pool3d "
    "max_unpool2d multilabel_margin_loss pad pdist rrelu scaled_dot_product_attention "
    "softplus softshrink"
).split()


def test_what_is_absent_has_a_reason():
    for op in ops.entries():
        if ops.ours(op) is ops.ABSENT:
            assert reason(ops.title(op)), f"{ops.title(op)} is absent"


@pytest.mark.parametrize("name", CLEAN + ["nn.functional." + name for name in FUNCTIONAL])
def test_samples(name):
    for op in ops.entries([name]):
        report = run(op, limit=2)
        assert report is not None, f"{name} is absent"
        assert not report.failures, report.failures[:3]
        assert report.passed == report.samples


@pytest.mark.parametrize("name", ("add", "gather", "index_put", "linalg.svd", "nonzero_static"))
def test_shapes_on_meta(name):
    (op,) = ops.entries([name])
    before = meta.DEVICE[0]
    try:
        report = meta.run(op, limit=2)
    finally:
        meta.DEVICE[0] = before
    assert report.samples
    assert not report.failures, report.failures[:3]


@pytest.mark.parametrize("name", CLEAN[::3] + ["nn.functional." + n for n in FUNCTIONAL])
def test_under_vmap(name):
    for op in ops.entries([name]):
        found = batches.run(op, limit=1)
        assert found is None or not found[1], found[1]
