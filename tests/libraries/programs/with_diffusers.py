"""Schedulers, a UNet, an autoencoder, a transformer and the DDPM pipeline, all small."""

import tempfile

import diffusers
import torch

torch.manual_seed(0)
unet = diffusers.UNet2DModel(
    sample_size=16, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(32, 64),
    down_block_types=("DownBlock2D", "AttnDownBlock2D"), attention_head_dim=8,
    up_block_types=("AttnUpBlock2D", "UpBlock2D"),
)  # fmt: skip
ddpm = diffusers.DDPMScheduler(num_train_timesteps=100)
clean, noise = torch.randn(2, 3, 16, 16), torch.randn(2, 3, 16, 16)
optimizer = torch.optim.AdamW(unet.parameters(), lr=1e-3)
steps = torch.tensor([3, 40])
losses = []
for _ in range(3):
    guess = unet(ddpm.add_noise(clean, noise, steps), steps).sample
    loss = torch.nn.functional.mse_loss(guess, noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print("losses", losses)
names = "DDIM DPMSolverMultistep EulerDiscrete EulerAncestralDiscrete HeunDiscrete LMSDiscrete PNDM"
for name in (*names.split(), "UniPCMultistep", "FlowMatchEulerDiscrete"):
    scheduler = getattr(diffusers, f"{name}Scheduler")()
    scheduler.set_timesteps(5)
    x = clean * getattr(scheduler, "init_noise_sigma", 1.0)
    for t in scheduler.timesteps:
        scaled = scheduler.scale_model_input(x, t) if hasattr(scheduler, "init_noise_sigma") else x
        generator = torch.Generator().manual_seed(0)
        options = {"generator": generator} if "Ancestral" in name else {}
        x = scheduler.step(scaled * 0.1 + noise * 0.9, t, x, **options).prev_sample
    print(name, x.mean().item(), x.std().item())
with tempfile.TemporaryDirectory() as folder, torch.no_grad():
    unet.eval().save_pretrained(folder)
    again = diffusers.UNet2DModel.from_pretrained(folder).eval()
    print("again", (again(clean, 7).sample - unet(clean, 7).sample).abs().max().item())
pipeline = diffusers.DDPMPipeline(unet, ddpm)
pipeline.set_progress_bar_config(disable=True)
made = pipeline(num_inference_steps=2, generator=torch.manual_seed(1), output_type="np").images
print("pipeline", made.shape, float(made.mean()), float(made.std()))
vae = diffusers.AutoencoderKL(block_out_channels=(32,), norm_num_groups=8, latent_channels=2)
print("vae", vae(clean).sample.sum().item(), vae.encode(clean).latent_dist.mean.sum().item())
text = diffusers.UNet2DConditionModel(
    sample_size=16, layers_per_block=1, block_out_channels=(32, 64), cross_attention_dim=16,
    down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), attention_head_dim=8,
    up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), in_channels=3, out_channels=3,
)  # fmt: skip
print("text", text(clean, 5, encoder_hidden_states=torch.randn(2, 4, 16)).sample.std().item())
