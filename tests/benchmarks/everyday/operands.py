"""The tensors of the everyday rows: images of three channels, tables, points, series, words."""


def tensors(t, dtype_name):
    t.manual_seed(0)
    dtype = getattr(t, dtype_name)

    def uniform(*shape):
        return t.rand(*shape).to(dtype)

    def normal(*shape):
        return t.randn(*shape).to(dtype)

    def index(high, *shape):
        return t.randint(0, high, shape)

    names = {
        # images
        "image": uniform(8, 3, 32, 32),
        "target": uniform(8, 3, 32, 32),
        "photo": uniform(1, 3, 224, 224),
        "digits": uniform(64, 1, 28, 28),
        "bytes_": (t.rand(1, 3, 224, 224) * 255).to(t.uint8),
        "pixels": (t.rand(224, 224, 3) * 255).to(t.uint8),
        "six": uniform(8, 6, 16, 16),
        "twelve": uniform(8, 12, 16, 16),
        "sixteen": uniform(8, 16, 16, 16),
        "volume": uniform(2, 1, 8, 16, 16),
        "video": uniform(1, 3, 4, 32, 32),
        "mean": t.tensor([0.4, 0.5, 0.6]).to(dtype).view(3, 1, 1),
        "std": t.tensor([0.2, 0.2, 0.3]).to(dtype).view(3, 1, 1),
        "scores": normal(2, 5, 64, 64),
        "classes": index(5, 2, 64, 64),
        "window": uniform(3, 1, 11, 11),
        "hole": t.rand(8, 1, 32, 32) > 0.8,
        # tables
        "table": uniform(64, 7),
        "wide": uniform(64, 32),
        "label": index(10, 64),
        "category": index(50, 64),
        "value": index(10, 1000),
        "bins": t.linspace(0, 1, 50).to(dtype),
        # points
        "point": uniform(500, 3),
        "other": uniform(500, 3),
        "rotation": uniform(3, 3),
        "matrix": uniform(100, 3, 3) + t.eye(3).to(dtype),
        "neighbour": index(500, 500, 8),
        # series
        "series": uniform(32, 3, 100),
        "channels": uniform(32, 16, 100),
        "steps": uniform(32, 50, 3),
        "line": t.linspace(0, 1, 200).to(dtype),
        # words
        "word": index(1000, 32, 20),
        "kept": t.rand(32, 20) > 0.2,
        "sequence": normal(32, 20, 50),
        "logits": normal(32, 20, 1000),
        "heads": normal(4, 5, 20, 16),
        "shown": t.rand(20, 20) > 0.1,
        "turn": uniform(20, 8),
        "end": index(20, 32),
        "row": t.arange(32),
    }
    one_hot = t.nn.functional.one_hot(names["classes"], 5)
    names["one_hot"] = one_hot.permute(0, 3, 1, 2).to(dtype)
    return names
