"""T5, ViT, Whisper, CLIP and Mistral of one or two small layers, forward and a training step."""

import torch
from transformers import (
    CLIPConfig,
    CLIPModel,
    MistralConfig,
    MistralForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
    ViTConfig,
    ViTForImageClassification,
    WhisperConfig,
    WhisperForConditionalGeneration,
)  # fmt: skip

torch.manual_seed(0)
ids = torch.arange(12).reshape(2, 6) % 100
pixels = torch.randn(2, 3, 16, 16)
small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
image = small | {"intermediate_size": 64, "image_size": 16, "patch_size": 8}
whisper = {
    "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "vocab_size": 100,
    "num_mel_bins": 8, "max_source_positions": 10, "max_target_positions": 20, "pad_token_id": 0,
    "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1,
}  # fmt: skip
t5 = {"vocab_size": 100, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
mistral = small | {"vocab_size": 100, "intermediate_size": 64, "num_key_value_heads": 2}
words = small | {"vocab_size": 100, "intermediate_size": 64, "bos_token_id": 1, "eos_token_id": 2}
clip = CLIPConfig(text_config=words, vision_config=image, projection_dim=16)
models = {
    "t5": (T5ForConditionalGeneration(T5Config(**t5, decoder_start_token_id=0)), (ids,)),
    "vit": (ViTForImageClassification(ViTConfig(**image)), (pixels,)),
    "whisper": (WhisperForConditionalGeneration(WhisperConfig(**whisper)), (pixels[:, 0, :8],)),
    "mistral": (MistralForCausalLM(MistralConfig(**mistral, sliding_window=4)), (ids,)),
    "clip": (CLIPModel(clip), (ids, pixels)),
}
labels = {"vit": torch.tensor([0, 1]), "whisper": ids[:, :4]}
for name, (model, inputs) in models.items():
    model.eval()
    if name == "whisper":
        inputs = (torch.nn.functional.pad(inputs[0], (0, 4)),)
    extra = {"return_loss": True} if name == "clip" else {"labels": labels.get(name, ids)}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(3):
        loss = model(*inputs, **extra).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(name, losses)
made = models["t5"][0].generate(ids, max_new_tokens=4, num_beams=2, do_sample=False)
print("beams", made.tolist())
text, picture = (models["clip"][0].eval()(ids, pixels)[k] for k in ("text_embeds", "image_embeds"))
print("clip embeds", text.sum().item(), picture.sum().item())
