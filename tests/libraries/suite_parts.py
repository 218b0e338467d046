"""What tests.libraries.suites runs: where each library's tests are, and which of them."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Suite:
    """A part of a library's tests."""

    package: str  # on PyPI
    repository: str  # on GitHub
    ref: str  # a tag, or a commit where versions have no tag
    part: str  # in words
    files: str
    version: str = ""  # of the package, where its newest is not that of the tests
    keywords: str = ""  # of pytest's -k
    folder: str = "."  # where pytest runs
    needs: str = ""  # packages besides the library
    variables: dict = dataclasses.field(default_factory=dict)  # of the environment


TIMM = """resnet10t mobilenetv3_small_050 lcnet_035 ghostnet_050 efficientvit_b0 mobilevit_xxs
    tinynet_e pit_ti_224 levit_128s- edgenext_xx_small repvit_m0_9 regnetx_002 regnety_002
    mnasnet_small semnasnet_050 xcit_nano_12_p16_224 convit_tiny resmlp_12 pvt_v2_b0 mambaout_femto
    convnext_atto- convnextv2_atto efficientformerv2_s0 starnet_s050 shvit_s1 fasternet_t0
    botnet26t repghostnet_050 dla46_c test_vit test_resnet test_byobnet test_coatnet test_convnext
    test_efficientnet test_mambaout test_maxvit test_nfnet""".split()
METRICS = """bases/test_metric.py bases/test_aggregation.py bases/test_composition.py
    bases/test_collections.py bases/test_hashing.py bases/test_saving_loading.py
    regression/test_pearson.py regression/test_r2.py regression/test_spearman.py
    regression/test_cosine_similarity.py regression/test_explained_variance.py
    regression/test_kl_divergence.py pairwise wrappers/test_minmax.py wrappers/test_tracker.py
    wrappers/test_classwise.py wrappers/test_running.py utilities/test_utilities.py
    clustering/test_mutual_info_score.py classification/test_cohen_kappa.py""".split()
ACCELERATE = """accelerator big_modeling cpu data_loader dataclasses hooks imports kwargs_handlers
    logging memory_utils modeling_utils offload optimizer scheduler utils""".split()

TRANSFORMERS = "bert gpt2 llama t5 vit whisper clip mistral".split()

SUITES = {
    "accelerate": Suite(
        "accelerate",
        "huggingface/accelerate",
        "v1.14.0",
        f"{len(ACCELERATE)} files, CPU",
        " ".join(f"tests/test_{file}.py" for file in ACCELERATE),
        needs="parameterized pytest-subtests",
    ),
    "einops": Suite(
        "einops",
        "arogozhnikov/einops",
        "v0.8.2",
        "all",
        "einops/tests",
        variables={"EINOPS_TEST_BACKENDS": "numpy,torch"},
    ),
    "lightning": Suite(
        "lightning",
        "Lightning-AI/pytorch-lightning",
        "2.6.5",
        "tests_pytorch/trainer, CPU",
        "tests_pytorch/trainer",
        version="2.6.5",
        folder="tests",
        needs="scikit-learn cloudpickle psutil tensorboard tensorboardX pytest-random-order xoscar",
    ),
    "safetensors": Suite(
        "safetensors",
        "huggingface/safetensors",
        "v0.8.0-rc.0",
        "test_simple.py, test_handle.py, test_pt_*.py, test_threadable.py",
        "bindings/python/tests --ignore-glob=*_flax_* --ignore-glob=*_tf_*",
        needs="huggingface_hub",
    ),
    "timm": Suite(
        "timm",
        "huggingface/pytorch-image-models",
        "v1.0.28",
        f"test_models.py, names with one of {len(TIMM)} words",
        "tests/test_models.py",
        f"({' or '.join(TIMM)}) and not inference and not pretrained and not torchscript"
        " and not non_std",
    ),
    "timm_parts": Suite(
        "timm",
        "huggingface/pytorch-image-models",
        "v1.0.28",
        "layers, schedulers",
        "tests/test_layers.py tests/test_layers_drop.py tests/test_layers_pool.py"
        " tests/test_utils.py tests/test_scheduler.py",
    ),
    "torchdiffeq": Suite(
        "torchdiffeq",
        "rtqichen/torchdiffeq",
        "a88aac53cae738addee44251288ce5be9a018af3",
        "API, events, norms",
        "tests/api_tests.py tests/event_tests.py tests/norm_tests.py",
    ),
    "torchinfo": Suite(
        "torchinfo",
        "TylerYep/torchinfo",
        "v1.8.0",
        "all but the models of other libraries",
        "tests --no-output --ignore=tests/torchinfo_xl_test.py",  # needs other libraries' models
    ),
    "torchmetrics": Suite(
        "torchmetrics",
        "Lightning-AI/torchmetrics",
        "v1.9.0",
        f"{len(METRICS)} files, one process, no gradcheck",
        " ".join(f"unittests/{file}" for file in METRICS),
        "not ddp-True and not half and not differentiability",
        folder="tests",
        needs="scikit-learn scipy cachier pympler pytest-doctestplus pytest-rerunfailures",
    ),
    "transformers": Suite(
        "transformers",
        "huggingface/transformers",
        "fe95f5423d65951cf63055d519dd7fa5ae12eb8d",  # what v5.15.0 was made from
        f"test_modeling_*.py of {', '.join(TRANSFORMERS)}",
        " ".join(f"tests/models/{name}/test_modeling_{name}.py" for name in TRANSFORMERS),
        version="5.15.0",
        needs="parameterized pytest-subtests pytest-order pytest-xdist requests pillow scipy"
        " sentencepiece accelerate datasets xoscar",
    ),
    "vit_pytorch": Suite("vit-pytorch", "lucidrains/vit-pytorch", "v0.35.8", "all", "tests"),
}
