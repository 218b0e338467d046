"""Small programs, whole steps of them: each function prepares one and returns what is timed."""

import copy
import itertools

PROGRAMS = {}


def program(prepare):
    PROGRAMS[prepare.__name__.replace("_", " ")] = prepare
    return prepare


def perceptron(t, *sizes, activation="ReLU"):
    layers = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [t.nn.Linear(inputs, outputs), getattr(t.nn, activation)()]
    return t.nn.Sequential(*layers[:-1])


def convolutional(t):
    nn = t.nn
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10),
    )  # fmt: skip


@program
def gradient_penalty(t):
    critic, x = perceptron(t, 64, 128, 128, 1, activation="LeakyReLU"), t.randn(64, 64)

    def step():
        given = x.clone().requires_grad_()
        score = critic(given)
        (slope,) = t.autograd.grad(score, given, t.ones_like(score), create_graph=True)
        ((slope.norm(2, dim=1) - 1) ** 2).mean().backward()

    return step


@program
def adversarial_images(t):
    net, x, y = convolutional(t).eval(), t.randn(8, 3, 32, 32), t.arange(8)

    def step():
        image = x.clone()
        for _ in range(3):
            image = image.detach().requires_grad_()
            loss = t.nn.functional.cross_entropy(net(image), y)
            (slope,) = t.autograd.grad(loss, image)
            image = (image + 0.01 * slope.sign()).clamp(0, 1)

    return step


@program
def meta_learning(t):
    net, x = perceptron(t, 1, 40, 40, 1), t.randn(10, 1)

    def error(parameters):
        return ((t.func.functional_call(net, parameters, (x,)) - t.sin(x)) ** 2).mean()

    def step():
        own = dict(net.named_parameters())
        slopes = t.autograd.grad(error(own), list(own.values()), create_graph=True)
        moved = {k: v - 0.01 * g for (k, v), g in zip(own.items(), slopes, strict=True)}
        error(moved).backward()

    return step


@program
def gradients_of_each_sample(t):
    net, x, y = perceptron(t, 20, 32, 1), t.randn(32, 20), t.randn(32, 1)
    parameters = {k: v.detach() for k, v in net.named_parameters()}

    def loss(p, a, b):
        return ((t.func.functional_call(net, p, (a.unsqueeze(0),)).squeeze(0) - b) ** 2).sum()

    each = t.func.vmap(t.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: each(parameters, x, y)


@program
def jacobian(t):
    net, x = perceptron(t, 10, 32, 5, activation="Tanh"), t.randn(10)
    return lambda: t.func.jacrev(net)(x)


@program
def hessian(t):
    x, w = t.randn(8), t.randn(8, 8)
    return lambda: t.func.hessian(lambda v: (w @ v).tanh().pow(2).sum())(x)


def optimizer(name):
    def prepare(t):
        shapes = [(64, 64), (64,)] * 30
        parameters = [t.nn.Parameter(t.randn(shape)) for shape in shapes]
        for p in parameters:
            p.grad = t.randn(p.shape)
        return getattr(t.optim, name)(parameters, lr=1e-3).step

    PROGRAMS[f"step of {name}"] = prepare


for kind in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam"):
    optimizer(kind)


@program
def clipped_gradients(t):
    parameters = [t.nn.Parameter(t.randn(64, 64)) for _ in range(30)]
    for p in parameters:
        p.grad = t.ones(64, 64)
    return lambda: t.nn.utils.clip_grad_norm_(parameters, 1.0)


@program
def moving_average_of_weights(t):
    average = t.optim.swa_utils.AveragedModel(convolutional(t))
    net = convolutional(t)
    return lambda: average.update_parameters(net)


@program
def weights_loaded(t):
    net, state = convolutional(t), convolutional(t).state_dict()
    return lambda: net.load_state_dict(state)


@program
def network_copied(t):
    net = convolutional(t)
    return lambda: copy.deepcopy(net)


@program
def network_built(t):
    return lambda: convolutional(t)


@program
def loop_of_GRU_cells(t):
    cell, x = t.nn.GRUCell(16, 32), t.randn(20, 8, 16)

    def step():
        h = t.zeros(8, 32)
        for i in range(20):
            h = cell(x[i], h)
        h.sum().backward()

    return step


@program
def policy_gradient(t):
    net, seen = perceptron(t, 4, 64, 2), t.randn(20, 4)

    def step():
        likelihoods = []
        for i in range(20):
            choice = t.distributions.Categorical(logits=net(seen[i]))
            action = choice.sample()
            likelihoods.append(choice.log_prob(action))
            action.item()
        gain = t.arange(20.0)
        (-t.stack(likelihoods) * (gain - gain.mean()) / (gain.std() + 1e-8)).sum().backward()

    return step


@program
def variational_autoencoder(t):
    encoder, decoder, x = perceptron(t, 64, 32, 16), perceptron(t, 8, 32, 64), t.rand(32, 64)

    def step():
        mean, scale = encoder(x).chunk(2, 1)
        seen = t.distributions.Normal(mean, scale.exp())
        away = t.distributions.kl_divergence(seen, t.distributions.Normal(0.0, 1.0)).sum()
        made = decoder(seen.rsample())
        loss = t.nn.functional.binary_cross_entropy_with_logits(made, x, reduction="sum")
        (loss + away).backward()

    return step


@program
def beam_search(t):
    net, table = perceptron(t, 32, 64, 100), t.nn.Embedding(100, 32)

    def step():
        with t.no_grad():
            words, scores = t.zeros(4, 1, dtype=t.long), t.zeros(4)
            for _ in range(15):
                each = net(table(words[:, -1])).log_softmax(-1) + scores[:, None]
                scores, at = each.flatten().topk(4)
                words = t.cat([words[at // 100], (at % 100)[:, None]], 1)

    return step


@program
def diffusion(t):
    nn = t.nn
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.SiLU(),
        nn.Conv2d(16, 3, 3, padding=1),
    )  # fmt: skip
    x, kept = t.rand(4, 3, 16, 16), t.linspace(0.99, 0.01, 100)

    def step():
        a = kept[t.randint(0, 100, (4,))][:, None, None, None]
        noise = t.randn_like(x)
        nn.functional.mse_loss(net(a.sqrt() * x + (1 - a).sqrt() * noise), noise).backward()

    return step


@program
def network_of_a_graph(t):
    edges, w = t.randint(0, 200, (2, 1000)), t.randn(32, 16).requires_grad_()
    x = t.randn(200, 32)

    def step():
        sent = (x @ w)[edges[0]]
        t.zeros(200, 16).index_add(0, edges[1], sent).relu().sum().backward()

    return step


@program
def differential_equation(t):
    net, x = perceptron(t, 2, 32, 32, 1, activation="Tanh"), t.rand(64, 2)

    def step():
        given = x.clone().requires_grad_()
        (slope,) = t.autograd.grad(net(given).sum(), given, create_graph=True)
        (curve,) = t.autograd.grad(slope[:, 0].sum(), given, create_graph=True)
        ((slope[:, 1] - curve[:, 0]) ** 2).mean().backward()

    return step


@program
def Gaussian_process(t):
    x, scale = t.linspace(0, 1, 100)[:, None], t.tensor(0.2, requires_grad=True)

    def step():
        k = (-((x - x.T) ** 2) / (2 * scale**2)).exp() + 0.01 * t.eye(100)
        factor = t.linalg.cholesky(k)
        y = t.sin(6 * x)
        away = (0.5 * y * t.cholesky_solve(y, factor)).sum()
        (away + factor.diagonal().log().sum()).backward()

    return step


@program
def clusters(t):
    x = t.randn(500, 8)

    def step():
        centres = x[:5].clone()
        for _ in range(5):
            nearest = t.cdist(x, centres).argmin(1)
            centres = t.stack([x[nearest == k].mean(0) for k in range(5)])

    return step


@program
def elements_written_one_by_one(t):
    x = t.zeros(50, 50)

    def step():
        for i in range(50):
            x[i, i] = i
            x[i] += 1
            x[i, :10] *= 0.5

    return step


@program
def elements_read_one_by_one(t):
    x = t.randn(100)
    return lambda: sum(v.item() for v in x)


@program
def function_of_a_program(t):
    class Positive(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx, g):
            return g * (ctx.saved_tensors[0] > 0)

    x = t.randn(100, requires_grad=True)

    def step():
        y = x
        for _ in range(10):
            y = Positive.apply(y)
        y.sum().backward()

    return step


@program
def recomputed_activations(t):
    net, x = perceptron(t, 64, 64, 64, 64), t.randn(32, 64, requires_grad=True)
    return lambda: t.utils.checkpoint.checkpoint(net, x, use_reentrant=False).sum().backward()


@program
def mixed_precision(t):
    net, x, y = perceptron(t, 64, 128, 10), t.randn(32, 64), t.randint(0, 10, (32,))

    def step():
        with t.autocast("cpu", dtype=t.bfloat16):
            loss = t.nn.functional.cross_entropy(net(x), y)
        loss.backward()

    return step


@program
def batches_of_a_data_set(t):
    data = t.utils.data.TensorDataset(t.randn(500, 10), t.arange(500))
    loader = t.utils.data.DataLoader(data, batch_size=32, shuffle=True)
    return lambda: list(loader)


@program
def sequences_of_many_lengths(t):
    texts, net = [t.randn(n, 8) for n in range(3, 35)], t.nn.GRU(8, 16, batch_first=True)
    rnn = t.nn.utils.rnn

    def step():
        lengths = [len(text) for text in texts]
        packed = rnn.pack_padded_sequence(rnn.pad_sequence(texts, True), lengths, True, False)
        rnn.pad_packed_sequence(net(packed)[0], True)[0].sum().backward()

    return step


@program
def tensor_printed(t):
    x = t.randn(10, 10)
    return lambda: repr(x)
