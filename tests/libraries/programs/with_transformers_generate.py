"""generate() in its forms on small models, with logits processors and a stopping rule."""

import torch
import transformers

transformers.utils.logging.set_verbosity_error()
torch.manual_seed(0)
model = transformers.GPT2LMHeadModel(
    transformers.GPT2Config(
        n_embd=32, n_layer=2, n_head=4, vocab_size=60, n_positions=64, bos_token_id=1,
        eos_token_id=2, initializer_range=0.4,
    )
).eval()  # fmt: skip
ids = torch.tensor([[5, 6, 7, 8], [9, 3, 4, 5]])
mask = torch.ones_like(ids)
common = {"attention_mask": mask, "pad_token_id": 0, "max_new_tokens": 8}
print("greedy", model.generate(ids, do_sample=False, **common).tolist())
beams = model.generate(
    ids, num_beams=4, do_sample=False, num_return_sequences=2, length_penalty=0.8,
    return_dict_in_generate=True, output_scores=True, **common,
)  # fmt: skip
print("beams", beams.sequences.tolist(), beams.sequences_scores.tolist())
scores = model.compute_transition_scores(
    beams.sequences, beams.scores, beams.beam_indices, normalize_logits=False
)
print("transitions", scores.sum(1).tolist())
made = model.generate(
    ids, do_sample=False, repetition_penalty=1.3, no_repeat_ngram_size=2, min_new_tokens=4,
    bad_words_ids=[[7], [8, 9]], output_logits=True, return_dict_in_generate=True, **common,
)  # fmt: skip
print("processed", made.sequences.tolist(), torch.stack(made.logits).sum().item())
torch.manual_seed(1)
print("sampled", model.generate(ids, do_sample=True, temperature=0.7, **common).tolist())
torch.manual_seed(2)
print("top k", model.generate(ids, do_sample=True, top_k=5, **common).tolist())
torch.manual_seed(3)
print("top p", model.generate(ids, do_sample=True, top_p=0.8, min_p=0.02, **common).tolist())
torch.manual_seed(4)
print("beam sample", model.generate(ids, do_sample=True, num_beams=3, **common).tolist())


class Until(transformers.StoppingCriteria):
    def __call__(self, input_ids, scores, **kwargs):
        return (input_ids[:, -1] % 7 == 0) | (input_ids.shape[1] > 9)


print(
    "stopped", model.generate(ids, do_sample=False, stopping_criteria=[Until()], **common).tolist()
)
draft = transformers.GPT2LMHeadModel(
    transformers.GPT2Config(n_embd=16, n_layer=1, n_head=2, vocab_size=60, n_positions=64)
).eval()
one = {**common, "attention_mask": mask[:1]}
print("assisted", model.generate(ids[:1], do_sample=False, assistant_model=draft, **one).tolist())
print(
    "static", model.generate(ids, do_sample=False, cache_implementation="static", **common).tolist()
)
torch.manual_seed(0)
t5 = transformers.T5ForConditionalGeneration(
    transformers.T5Config(
        vocab_size=60, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
        decoder_start_token_id=0,
    )
).eval()  # fmt: skip
print("t5", t5.generate(ids, num_beams=3, max_new_tokens=6).tolist())
torch.manual_seed(0)
whisper = transformers.WhisperForConditionalGeneration(
    transformers.WhisperConfig(
        vocab_size=60, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, num_mel_bins=8,
        max_source_positions=20, max_target_positions=30, decoder_start_token_id=1,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, suppress_tokens=None,
        begin_suppress_tokens=None,
    )
).eval()  # fmt: skip
print("whisper", whisper(torch.randn(1, 8, 40), decoder_input_ids=ids[:1]).logits.sum().item())
