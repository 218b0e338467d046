"""A tagger with a CRF and a classifier of sentences: train, predict, save and load."""

import logging
import os
import tempfile
import warnings

os.environ["FLAIR_CACHE_ROOT"] = tempfile.mkdtemp()
warnings.simplefilter("ignore")
import flair  # noqa: E402
import torch  # noqa: E402
from flair.data import Corpus, Sentence  # noqa: E402
from flair.datasets import FlairDatapointDataset  # noqa: E402
from flair.embeddings import DocumentRNNEmbeddings, OneHotEmbeddings, StackedEmbeddings  # noqa: E402
from flair.models import SequenceTagger, TextClassifier  # noqa: E402
from flair.trainers import ModelTrainer  # noqa: E402

logging.getLogger("flair").setLevel(logging.ERROR)
flair.device = torch.device("cpu")
flair.set_seed(0)
texts = ["the cat sat", "a dog ran home", "the dog sat", "a cat ran", "the mat lay", "a dog lay"]
kinds = {"the": "D", "a": "D", "cat": "N", "dog": "N", "home": "N", "mat": "N"}


def sentence(text):
    made = Sentence(text)
    for token in made:
        token.add_label("pos", kinds.get(token.text, "V"))
    return made.add_label("about", "dog" if "dog" in text else "other")


corpus = Corpus(
    *(FlairDatapointDataset([sentence(t) for t in part]) for part in (texts, texts[:2], texts[2:4]))
)
words = StackedEmbeddings([OneHotEmbeddings.from_corpus(corpus, min_freq=1, embedding_length=8)])
tagger = SequenceTagger(
    words, corpus.make_label_dictionary("pos", add_unk=False), "pos", hidden_size=16, dropout=0.0,
)  # fmt: skip
with tempfile.TemporaryDirectory() as folder:
    result = ModelTrainer(tagger, corpus).train(
        folder, learning_rate=0.2, mini_batch_size=2, max_epochs=4, shuffle=False,
        save_final_model=True, create_loss_file=False,
    )  # fmt: skip
    print("score", result["test_score"])
    again = SequenceTagger.load(f"{folder}/final-model.pt")
    for text in ("the dog ran", "a mat sat home"):
        one = Sentence(text)
        again.predict(one)
        print(
            text, [(each.data_point.text, each.value, each.score) for each in one.get_labels("pos")]
        )
    print("loss", again.forward_loss([sentence(t) for t in texts])[0].item())
flair.set_seed(1)
document = DocumentRNNEmbeddings(
    [OneHotEmbeddings.from_corpus(corpus, min_freq=1, embedding_length=8)], hidden_size=12
)
labels = corpus.make_label_dictionary("about", add_unk=False)
classifier = TextClassifier(document, label_type="about", label_dictionary=labels)
optimizer = torch.optim.Adam(classifier.parameters(), lr=0.05)
for _ in range(4):
    loss, count = classifier.forward_loss([sentence(t) for t in texts])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("classifier", loss.item(), count)
one = Sentence("the dog lay")
classifier.predict(one, return_probabilities_for_all_classes=True)
print([(each.value, each.score) for each in one.get_labels("about")])
