"""Pipelines of small random models: classification, filling masks, generation, images, features."""

import tempfile

import numpy as np
import torch
import transformers
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers, processors

transformers.utils.logging.set_verbosity_error()
words = "[PAD] [UNK] [CLS] [SEP] [MASK] the dog ran cat sat mat on home a big small".split()
raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
raw.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]",
    special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
)  # fmt: skip
tokenizer = transformers.PreTrainedTokenizerFast(
    tokenizer_object=raw, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]",
    sep_token="[SEP]", mask_token="[MASK]", model_max_length=32,
)  # fmt: skip
small = {
    "vocab_size": len(words), "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 64, "max_position_embeddings": 40, "initializer_range": 0.3,
}  # fmt: skip
texts = ["the dog ran home", "a big cat sat"]
made = transformers.pipeline
torch.manual_seed(0)
with tempfile.TemporaryDirectory() as folder:
    transformers.BertForSequenceClassification(transformers.BertConfig(**small)).save_pretrained(
        folder
    )
    tokenizer.save_pretrained(folder)
    classify = made("text-classification", model=folder, device=-1)
    print("classes", classify(texts, batch_size=2, top_k=None))
config = transformers.BertConfig(**small)
fill = made("fill-mask", model=transformers.BertForMaskedLM(config), tokenizer=tokenizer)
print("fill", [(each["token_str"], each["score"]) for each in fill("the [MASK] ran", top_k=3)])
tokens = made(
    "token-classification", model=transformers.BertForTokenClassification(config),
    tokenizer=tokenizer, aggregation_strategy="simple",
)  # fmt: skip
print("tokens", [(each["word"], float(each["score"])) for each in tokens(texts[0])])
features = made("feature-extraction", model=transformers.BertModel(config), tokenizer=tokenizer)
print("features", np.array(features(texts[0])).shape, float(np.array(features(texts[0])).std()))
gpt = transformers.GPT2LMHeadModel(
    transformers.GPT2Config(vocab_size=len(words), n_embd=32, n_layer=2, n_head=2, n_positions=40)
)
write = made("text-generation", model=gpt, tokenizer=tokenizer)
print("text", write("the dog", max_new_tokens=4, do_sample=False, pad_token_id=0))
vit = transformers.ViTForImageClassification(
    transformers.ViTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        image_size=32, patch_size=8, num_labels=3,
    )
)  # fmt: skip
processor = transformers.ViTImageProcessor(size={"height": 32, "width": 32})
look = made("image-classification", model=vit, image_processor=processor)
picture = Image.fromarray((np.arange(40 * 40 * 3) % 251).astype(np.uint8).reshape(40, 40, 3))
print("image", look(picture))
