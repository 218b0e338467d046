"""A sentence encoder of a small BERT: embeddings, similarity, losses, save and load."""

import pathlib
import tempfile

import torch
import transformers
from sentence_transformers import SentenceTransformer, losses, models, util

torch.manual_seed(0)
words = "[PAD] [UNK] [CLS] [SEP] [MASK] a the cat dog sat ran on mat home fast".split()
sentences = ["the cat sat on the mat", "a dog ran home", "the dog sat"]
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "vocab.txt").write_text("\n".join(words))
    tokenizer = transformers.BertTokenizerFast(f"{folder}/vocab.txt")
    bert = transformers.BertModel(
        transformers.BertConfig(
            vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=64, max_position_embeddings=32,
        )
    )  # fmt: skip
    bert.save_pretrained(f"{folder}/bert")
    tokenizer.save_pretrained(f"{folder}/bert")
    encoder = models.Transformer(f"{folder}/bert", max_seq_length=16)
    pooling = models.Pooling(encoder.get_word_embedding_dimension())
    model = SentenceTransformer(modules=[encoder, pooling, models.Normalize()], device="cpu")
    model.eval()
    made = model.encode(sentences, convert_to_tensor=True)
    print("embeddings", tuple(made.shape), made[:, :4].tolist())
    print("similarity", model.similarity(made, made).tolist())
    print("search", util.semantic_search(made[:1], made, top_k=2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loss_of = losses.CosineSimilarityLoss(model)
    ranking = losses.MultipleNegativesRankingLoss(model)
    pair = [model.tokenize(sentences[:2]), model.tokenize(sentences[1:])]
    for _ in range(2):
        loss = loss_of([dict(p) for p in pair], torch.tensor([0.1, 0.9]))
        loss = loss + ranking([dict(p) for p in pair], None)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss.item())
    model.eval().save(f"{folder}/model")
    again = SentenceTransformer(f"{folder}/model", device="cpu")
    print("again", float(abs(again.encode(sentences) - model.encode(sentences)).max()))
