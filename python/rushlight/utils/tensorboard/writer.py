"""SummaryWriter over tensorboardX, which is given NumPy arrays only.

tensorboardX imports torch when it can, for its own conversions; here it is kept from that, as the
import would cost a second and may not be what the program means by torch.
"""

import importlib.util
import os
import sys
import time
import warnings

from .events import new_writer


def _tensorboardx(name=None):
    """tensorboardX, or a module of it."""
    full = f"tensorboardX.{name}" if name else "tensorboardX"
    if sys.modules.get(full) is not None:
        return sys.modules[full]
    missing = object()
    before = sys.modules.get("torch", missing)
    sys.modules["torch"] = None  # `import torch` now raises ImportError, which it expects
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(full)
    except ModuleNotFoundError as error:
        if error.name != "tensorboardX":
            raise
        raise ModuleNotFoundError(
            "No module named 'tensorboardX'\n"
            "SummaryWriter needs it: pip install 'rushlight[tensorboard]'",
            name="tensorboardX",
        ) from None
    finally:
        if before is missing:
            del sys.modules["torch"]
        else:
            sys.modules["torch"] = before


def as_array(value):
    """A tensor (any device, with or without gradient), number or list as a NumPy array."""
    import numpy

    import rushlight

    if isinstance(value, rushlight.Tensor):
        value = value.detach().cpu()
        if value.dtype == rushlight.bfloat16:
            value = value.float()
        return value.numpy()
    if isinstance(value, list | tuple):
        return numpy.stack([as_array(item) for item in value])
    return numpy.asarray(value)


def _set_domains(experiment, domains):
    """Writes the values that hyperparameters can have into the summary of an experiment."""
    held = experiment.value[0].metadata.plugin_data
    data = _tensorboardx("proto.plugin_hparams_pb2").HParamsPluginData.FromString(held.content)
    for info in data.experiment.hparam_infos:
        for value in domains.get(info.name, ()):
            kind = {bool: "bool", str: "string"}.get(type(value), "number")
            info.domain_discrete.values.add(**{f"{kind}_value": value})
    held.content = data.SerializeToString()


def _number(tag, value):
    if isinstance(value, int | float):
        return value
    array = as_array(value)
    if array.size != 1:
        raise AssertionError(
            f"scalar should be 0D\n{tag!r} was given shape {tuple(array.shape)}: write its mean() "
            "or one add_scalar each."
        )
    return array.item()


def _plain(value):
    import rushlight

    return value.item() if isinstance(value, rushlight.Tensor) and value.numel() == 1 else value


def hparams(hparam_dict=None, metric_dict=None, hparam_domain_discrete=None):
    """The three records of a run's hyperparameters, for SummaryWriter's file.

    Args and Raises: as of SummaryWriter.add_hparams; of metric_dict only the names are recorded.
    """
    if type(hparam_dict) is not dict or type(metric_dict) is not dict:
        raise TypeError("hparam_dict and metric_dict should be dictionary.")
    domains = hparam_domain_discrete or {}
    for name, values in domains.items():
        kind = type(hparam_dict.get(name))
        if type(values) is not list or not all(isinstance(v, kind) for v in values):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{name}] should be a list of same type as "
                f"hparam_dict[{name}]."
            )
    parameters = {name: _plain(value) for name, value in hparam_dict.items()}
    experiment, *session = _tensorboardx("summary").hparams(parameters, metric_dict)
    _set_domains(experiment, domains)
    return experiment, *session


class SummaryWriter:
    """Writes what TensorBoard shows.

    Args:
        log_dir: folder of the event files; `runs/DATE_TIME_HOST` + `comment` if None.
        comment: end of the default folder's name.
        purge_step: what was written at this step and later by an earlier run is not shown.
        max_queue: entries that are kept before they are written.
        flush_secs: seconds after which they are written anyway.
        filename_suffix: end of the file's name.

    Raises:
        ModuleNotFoundError: tensorboardX is not installed; the message names the extra.

    Example:
        >>> import tempfile
        >>> from rushlight.utils.tensorboard import SummaryWriter
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with SummaryWriter(folder) as writer:
        ...         writer.add_scalar("loss", torch.tensor(0.5), 1)
        ...     print(writer.get_logdir() == folder)
        True
    """

    def __init__(
        self,
        log_dir=None,
        comment="",
        purge_step=None,
        max_queue=10,
        flush_secs=120,
        filename_suffix="",
    ):
        _tensorboardx()
        if not log_dir:
            import socket

            begin = time.strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{begin}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self._new = lambda folder: new_writer(
            _tensorboardx, folder, purge_step, max_queue, flush_secs, filename_suffix
        )
        self._writer = self._new(self.log_dir)
        self._curves = {}  # one writer a curve of add_scalars

    def __getattr__(self, name):
        from rushlight._version import __version__

        raise AttributeError(
            f"'SummaryWriter' object has no attribute {name!r}\n"
            f"SummaryWriter.{name} is not in rushlight {__version__}."
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def file_writer(self):
        """tensorboardX's writer of the event file."""
        return self._get_file_writer()

    def _get_file_writer(self):
        return self._writer._get_file_writer()

    def get_logdir(self):
        """The folder of the event files."""
        return self.log_dir

    def add_scalar(
        self,
        tag,
        scalar_value,
        global_step=None,
        walltime=None,
        new_style=False,
        double_precision=False,
    ):
        """Add a scalar.

        Args:
            tag: name of the curve; "group/name" groups.
            scalar_value: number, or tensor of one element on any device.
            global_step: its x coordinate.
            walltime: its time, in seconds since 1970; now if None.
            new_style: write it as a tensor, as TensorFlow 2 does.
            double_precision: of 64 bits, where it is written as a tensor.

        Raises:
            AssertionError: more than one element.
        """
        if new_style:
            self._add_tensor(tag, _number(tag, scalar_value), global_step, walltime,
                             double_precision)  # fmt: skip
            return
        self._writer.add_scalar(tag, _number(tag, scalar_value), _plain(global_step), walltime)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        """Add several curves to one diagram.

        Args:
            main_tag: name of the diagram.
            tag_scalar_dict: number by name of the curve.
        """
        for tag, value in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            if folder not in self._curves:
                self._curves[folder] = self._new(folder)
            number = _number(tag, value)
            self._curves[folder].add_scalar(main_tag, number, _plain(global_step), walltime)

    def add_histogram(
        self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None
    ):
        """Add the distribution of a tensor's elements.

        Args:
            values: tensor, array or list.
            bins: "tensorflow", "auto", ..., as numpy.histogram takes them.
            max_bins: limit of their number.
        """
        values = as_array(values).ravel()
        self._writer.add_histogram(tag, values, _plain(global_step), bins, walltime, max_bins)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        """Add an image: bytes, or floats in [0, 1].

        Args:
            img_tensor: tensor or array with dimensions as `dataformats` says.
            dataformats: "CHW", "HWC" or "HW".
        """
        image = as_array(img_tensor)
        self._writer.add_image(tag, image, _plain(global_step), walltime, dataformats)

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        """Add a batch of images side by side; `dataformats` "NCHW" or "NHWC"."""
        if isinstance(img_tensor, list | tuple) and len(dataformats) == 3:
            dataformats = f"N{dataformats}"
        images = as_array(img_tensor)
        self._writer.add_images(tag, images, _plain(global_step), walltime, dataformats)

    def add_image_with_boxes(
        self,
        tag,
        img_tensor,
        box_tensor,
        global_step=None,
        walltime=None,
        rescale=1,
        dataformats="CHW",
        labels=None,
    ):
        """Add an image with rectangles (x0, y0, x1, y1) drawn on it."""
        self._writer.add_image_with_boxes(
            tag,
            as_array(img_tensor),
            as_array(box_tensor),
            _plain(global_step),
            walltime,
            rescale=rescale,
            dataformats=dataformats,
            labels=labels,
        )

    def add_figure(self, tag, figure, global_step=None, close=True, walltime=None):
        """Add a matplotlib figure, or a list of them, as an image; `close` frees it."""
        self._writer.add_figure(tag, figure, _plain(global_step), close, walltime)

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        """Add a text, which TensorBoard reads as Markdown."""
        self._writer.add_text(tag, text_string, _plain(global_step), walltime)

    def _add_tensor(self, tag, value, global_step, walltime, double):
        summary = _tensorboardx("proto.summary_pb2")
        tensor = _tensorboardx("proto.tensor_pb2").TensorProto(
            dtype="DT_DOUBLE" if double else "DT_FLOAT",
            **{"double_val" if double else "float_val": [value]},
        )
        plugin = summary.SummaryMetadata.PluginData(plugin_name="scalars")
        entry = summary.Summary.Value(
            tag=tag, tensor=tensor, metadata=summary.SummaryMetadata(plugin_data=plugin)
        )
        self._get_file_writer().add_summary(
            summary.Summary(value=[entry]), _plain(global_step), walltime
        )

    def add_graph(self, model, input_to_model=None, verbose=False, use_strict_trace=True):
        """Add the graph of a module, drawn from one forward pass.

        Args:
            model: a Module.
            input_to_model: tensor, or tuple of the arguments, for that pass.
            verbose: print the nodes too.

        Raises:
            TypeError: no input was given.
        """
        from .graph import trace

        if input_to_model is None:
            raise TypeError(
                "add_graph() needs input_to_model: a tensor, or a tuple of tensors, that the "
                "model can be called with"
            )
        event_pb2 = _tensorboardx("proto.event_pb2")
        graph = trace(model, input_to_model, _tensorboardx)
        if verbose:
            print(graph)
        event = event_pb2.Event(graph_def=graph.SerializeToString())
        self._get_file_writer().add_event(event)

    def add_embedding(
        self,
        mat,
        metadata=None,
        label_img=None,
        global_step=None,
        tag="default",
        metadata_header=None,
    ):
        """Add points for the projector.

        Args:
            mat: (points, dimensions).
            metadata: a label each.
            label_img: (points, channels, height, width), an image each.
        """
        self._writer.add_embedding(
            as_array(mat),
            metadata,
            None if label_img is None else as_array(label_img),
            _plain(global_step),
            tag,
            metadata_header,
        )

    def add_pr_curve(
        self,
        tag,
        labels,
        predictions,
        global_step=None,
        num_thresholds=127,
        weights=None,
        walltime=None,
    ):
        """Add a precision-recall curve.

        Args:
            labels: 0 or 1 each.
            predictions: probability of 1 each.
            num_thresholds: points of the curve.
            weights: weight each.
        """
        self._writer.add_pr_curve(
            tag,
            as_array(labels).ravel(),
            as_array(predictions).ravel(),
            _plain(global_step),
            num_thresholds,
            None if weights is None else as_array(weights).ravel(),
            walltime,
        )

    def add_hparams(
        self,
        hparam_dict,
        metric_dict,
        hparam_domain_discrete=None,
        run_name=None,
        global_step=None,
    ):
        """Add a run's hyperparameters and what came of them.

        Args:
            hparam_dict: bool, str, float, int or None by name.
            metric_dict: number by name.
            hparam_domain_discrete: by name, the list of all values that it can have.
            run_name: folder of the run; the time if None.

        Raises:
            TypeError: no dicts, or a list of other types than the hyperparameter's.
        """
        records = hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        metrics = {name: _number(name, value) for name, value in metric_dict.items()}
        folder = os.path.join(self.log_dir, run_name or str(time.time()))
        with SummaryWriter(folder) as run:
            for summary in records:
                run.file_writer.add_summary(summary, _plain(global_step))
            for name, value in metrics.items():
                run.add_scalar(name, value, global_step)

    def add_custom_scalars(self, layout):
        """Arrange curves in diagrams: {category: {title: ["Multiline" or "Margin", [tags]]}}."""
        self._writer.add_custom_scalars(layout)

    def add_custom_scalars_multilinechart(self, tags, category="default", title="untitled"):
        """Arrange the curves `tags` in one diagram."""
        self._writer.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(self, tags, category="default", title="untitled"):
        """Arrange three curves `tags`, value, lower and upper bound, in one diagram."""
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
        self._writer.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_mesh(
        self, tag, vertices, colors=None, faces=None, config_dict=None, global_step=None,
        walltime=None,
    ):  # fmt: skip
        """Add points in space, or a surface.

        Args:
            vertices: (B, N, 3) places.
            colors: (B, N, 3) values from 0 to 255.
            faces: (B, M, 3) numbers of the vertices of triangles.
            config_dict: settings of the display, three.js' classes and their arguments.
        """
        parts = [None if x is None else as_array(x) for x in (vertices, colors, faces)]
        self._writer.add_mesh(tag, *parts, config_dict, _plain(global_step), walltime)

    def add_audio(self, tag, snd_tensor, global_step=None, sample_rate=44100, walltime=None):
        """Add sound: `snd_tensor` (1, L), of values from -1 to 1."""
        import io
        import wave

        sound = as_array(snd_tensor).squeeze()
        if sound.ndim != 1:
            raise AssertionError(f"input tensor should be 1 dimensional, got {sound.shape}.")
        with io.BytesIO() as file:
            with wave.open(file, "wb") as written:
                written.setnchannels(1)
                written.setsampwidth(2)
                written.setframerate(sample_rate)
                written.writeframes((sound.clip(-1, 1) * 32767).astype("<i2").tobytes())
            content = file.getvalue()
        summary = _tensorboardx("proto.summary_pb2").Summary
        audio = summary.Audio(
            sample_rate=sample_rate, num_channels=1, length_frames=sound.size,
            encoded_audio_string=content, content_type="audio/wav",
        )  # fmt: skip
        entry = summary.Value(tag=tag, audio=audio)
        self._get_file_writer().add_summary(summary(value=[entry]), _plain(global_step), walltime)

    def add_video(self, tag, vid_tensor, global_step=None, fps=4, walltime=None):
        """Add a film, `vid_tensor` (N, T, C, H, W): bytes, or floats in [0, 1]. It needs moviepy,
        and says so where that is not installed.
        """
        if importlib.util.find_spec("moviepy") is None:
            print("add_video needs package moviepy")
            return
        self._writer.add_video(tag, as_array(vid_tensor), _plain(global_step), fps, walltime)

    def flush(self):
        """Write what is kept."""
        for writer in (self._writer, *self._curves.values()):
            writer.flush()

    def close(self):
        """Write what is kept and close the files; what is added later opens a new file."""
        for writer in (self._writer, *self._curves.values()):
            writer.close()
        self._curves = {}
