"""PPO, A2C and DQN on a small environment: learn, predict, save and load."""

import tempfile

import gymnasium
import numpy
import stable_baselines3


class Line(gymnasium.Env):
    """Walk to the right end of a line; the observation is where one is."""

    observation_space = gymnasium.spaces.Box(-1, 1, (2,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.at, self.steps = 0, 0
        return self.seen(), {}

    def seen(self):
        return numpy.array([self.at / 5, self.steps / 20], numpy.float32)

    def step(self, action):
        self.at, self.steps = max(self.at + (1 if action else -1), -5), self.steps + 1
        return self.seen(), float(self.at == 5), self.at == 5, self.steps == 20, {}


options = {
    "PPO": {"n_steps": 64, "batch_size": 32, "n_epochs": 2},
    "A2C": {},
    "DQN": {"learning_starts": 20, "train_freq": 4, "batch_size": 16},
}
for name, extra in options.items():
    algorithm = getattr(stable_baselines3, name)
    model = algorithm("MlpPolicy", Line(), seed=0, device="cpu", **extra)
    model.learn(128)
    observations = numpy.array([[0, 0], [0.4, 0.5], [-0.6, 0.1]], numpy.float32)
    print(name, model.predict(observations, deterministic=True)[0].tolist())
    print("weights", [round(p.abs().sum().item(), 4) for p in model.policy.parameters()])
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model")
        again = algorithm.load(f"{folder}/model")
    print("again", again.predict(observations, deterministic=True)[0].tolist())
