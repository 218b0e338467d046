"""The networks that are timed and counted, for either library."""


def mlp(library):
    """The smallest of the documents' networks."""
    nn = library.nn
    return nn.Sequential(nn.Linear(10, 5), nn.ReLU(), nn.Linear(5, 1))


def cnn(library):
    """The network of the fifth document."""
    nn, blocks = library.nn, []
    for before, after in ((3, 32), (32, 32), (32, 64)):
        blocks += [nn.Conv2d(before, after, 5, padding=2), nn.MaxPool2d(2)]
    return nn.Sequential(*blocks, nn.Flatten(), nn.Linear(1024, 64), nn.Linear(64, 10))


def step(library, model, optimizer, inputs, targets):
    """A step of training, as a function that returns the loss."""

    def one():
        optimizer.zero_grad()
        loss = library.nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss

    return one


def training_step(library, make, shape, classes, optimizer=None):
    """step() with inputs and targets of its own, on the GPU."""
    model = make(library).to("cuda")
    optimizer = optimizer or (lambda p: library.optim.SGD(p, lr=1e-3))
    inputs = library.randn(*shape, device="cuda")
    targets = library.randn(shape[0], classes, device="cuda")
    return step(library, model, optimizer(model.parameters()), inputs, targets)
