"""The demo models as a torch network: a speech tower and a decoder in the shape of Qwen3-ASR.

Module names follow the published checkpoints (``audio_tower``, ``model``), so that the exporter finds them. Two things
differ in the tower, because a tower this small cannot learn to do without them: each one-second chunk is convolved
with the 80 ms on both sides of it, and attention knows how far apart two positions are (a learned bias).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - the name everybody reads

MEL_BINS = 128
CHUNK_FRAMES = 100
"""One second of 10 ms frames becomes 13 positions."""
CHUNK_POSITIONS = 13
CONTEXT_FRAMES = 8
"""What a chunk's convolutions see of its neighbours: one position (three halvings)."""
CONVOLUTION_CHANNELS = 32
FARTHEST = 64
"""Distances in the tower beyond this many positions (5 s) share one bias."""
ROPE_BASE = 1_000_000.0
EPSILON = 1e-6
HIDDEN = -1e4
"""Added to the score of a position that must not be looked at."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of one model."""

    vocabulary: int
    hidden: int
    layers: int
    feed_forward: int
    heads: int
    key_heads: int
    head_size: int
    tower_hidden: int
    tower_layers: int
    tower_heads: int = 4

    def __post_init__(self) -> None:
        if self.heads % self.key_heads:
            raise ValueError(f"{self.heads} heads cannot share {self.key_heads} key heads evenly.")
        if self.head_size % 2:
            raise ValueError(f"A head of {self.head_size} cannot be rotated; take an even size.")
        if self.tower_hidden % self.tower_heads:
            raise ValueError(f"{self.tower_heads} tower heads cannot share a width of {self.tower_hidden}.")


class AudioTower(nn.Module):
    """Log-mel frames to decoder inputs."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width, channels = shape.tower_hidden, CONVOLUTION_CHANNELS
        self.conv2d1 = nn.Conv2d(1, channels, 3, 2, padding=1)
        self.conv2d2 = nn.Conv2d(channels, channels, 3, 2, padding=1)
        self.conv2d3 = nn.Conv2d(channels, channels, 3, 2, padding=1)
        self.conv_out = nn.Linear(channels * MEL_BINS // 8, width, bias=False)
        self.layers = nn.ModuleList(TowerLayer(width, shape.tower_heads) for _ in range(shape.tower_layers))
        self.ln_post = nn.LayerNorm(width)
        self.proj1 = nn.Linear(width, width)
        self.proj2 = nn.Linear(width, shape.hidden)
        self.register_buffer("chunk_position", sinusoids(CHUNK_POSITIONS, width), persistent=False)

    def forward(self, mel: Tensor, present: Tensor | None = None) -> Tensor:
        """Encode log-mel frames.

        Args:
            mel: [batch, 128, chunks * 100], zero where there is no sound any more.
            present: [batch, chunks * 13] bool, positions that attention may look at; ``None`` = all.

        Returns:
            [batch, chunks * 13, hidden].
        """
        return self.attend(self.positions(mel), present)

    def attend(self, x: Tensor, present: Tensor | None = None) -> Tensor:
        """What follows the convolutions: [batch, count, width] to [batch, count, hidden]."""
        index = torch.arange(x.shape[1], device=x.device)
        distance = (index[None, :] - index[:, None]).clamp(-FARTHEST, FARTHEST) + FARTHEST
        for layer in self.layers:
            x = layer(x, distance, present)
        return self.proj2(F.gelu(self.proj1(self.ln_post(x))))

    def positions(self, mel: Tensor) -> Tensor:
        """The convolutions: [batch, 128, chunks * 100] to [batch, chunks * 13, width]."""
        batch, _, frames = mel.shape
        chunks = frames // CHUNK_FRAMES
        own = mel.reshape(batch, MEL_BINS, chunks, CHUNK_FRAMES)
        silence = torch.zeros_like(own[:, :, :1])
        around = torch.cat([silence, own, silence], 2)
        before, after = around[:, :, :-2, -CONTEXT_FRAMES:], around[:, :, 2:, :CONTEXT_FRAMES]
        x = torch.cat([before, own, after], -1).permute(0, 2, 1, 3)
        x = x.reshape(batch * chunks, 1, MEL_BINS, CHUNK_FRAMES + 2 * CONTEXT_FRAMES)
        for convolution in (self.conv2d1, self.conv2d2, self.conv2d3):
            x = F.gelu(convolution(x))
        x = x[..., 1 : 1 + CHUNK_POSITIONS]  # those whose whole field of view lies within the chunk and its context
        x = x.permute(0, 3, 1, 2).reshape(batch * chunks, CHUNK_POSITIONS, -1)
        x = self.conv_out(x) + self.chunk_position
        return x.reshape(batch, chunks * CHUNK_POSITIONS, -1)


class TowerAttention(nn.Module):
    """Attention over the whole window, both directions, with a learned bias for each distance and head."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(width, width) for _ in range(4))
        self.distance_bias = nn.Parameter(locality(heads))

    def forward(self, x: Tensor, distance: Tensor, present: Tensor | None) -> Tensor:
        batch, count, width = x.shape
        split = (batch, count, self.heads, width // self.heads)
        query, key, value = (p(x).view(split).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        bias = self.distance_bias[:, distance][None].to(query.dtype)
        if present is not None:
            bias = bias.masked_fill(~present[:, None, None, :], HIDDEN)
        # Scaled before the product: MNN's converter would take the usual order for its own fused attention, which
        # reads one mask for all heads.
        scores = (query / math.sqrt(split[-1])) @ key.transpose(-1, -2) + bias
        mixed = scores.softmax(-1).to(value.dtype) @ value
        return self.out_proj(mixed.transpose(1, 2).reshape(batch, count, width))


class TowerLayer(nn.Module):
    """One pre-norm encoder layer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.self_attn = TowerAttention(width, heads)
        self.self_attn_layer_norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, 2 * width)
        self.fc2 = nn.Linear(2 * width, width)
        self.final_layer_norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, distance: Tensor, present: Tensor | None) -> Tensor:
        x = x + self.self_attn(self.self_attn_layer_norm(x), distance, present)
        return x + self.fc2(F.gelu(self.fc1(self.final_layer_norm(x))))


class RmsNorm(nn.Module):
    """Scale to unit mean square."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.variance_epsilon = EPSILON

    def forward(self, x: Tensor) -> Tensor:
        size = x.float().pow(2).mean(-1, keepdim=True)  # written out, because the exporter knows no operator for it
        return (self.weight * (x * torch.rsqrt(size + self.variance_epsilon))).to(x.dtype)


class Attention(nn.Module):
    """Grouped-query attention with normed queries and keys and rotary positions."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads, self.key_heads, self.head_dim = shape.heads, shape.key_heads, shape.head_size
        self.q_proj = nn.Linear(shape.hidden, shape.heads * shape.head_size, bias=False)
        self.k_proj = nn.Linear(shape.hidden, shape.key_heads * shape.head_size, bias=False)
        self.v_proj = nn.Linear(shape.hidden, shape.key_heads * shape.head_size, bias=False)
        self.o_proj = nn.Linear(shape.heads * shape.head_size, shape.hidden, bias=False)
        self.q_norm, self.k_norm = RmsNorm(shape.head_size), RmsNorm(shape.head_size)

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor], hidden: Tensor) -> Tensor:
        batch, count, _ = x.shape
        query = self.q_norm(self.q_proj(x).view(batch, count, self.heads, self.head_dim)).transpose(1, 2)
        key = self.k_norm(self.k_proj(x).view(batch, count, self.key_heads, self.head_dim)).transpose(1, 2)
        value = self.v_proj(x).view(batch, count, self.key_heads, self.head_dim).transpose(1, 2)
        query, key = rotate(query, rotation), rotate(key, rotation)
        shared = self.heads // self.key_heads
        key, value = key.repeat_interleave(shared, 1), value.repeat_interleave(shared, 1)
        mixed = F.scaled_dot_product_attention(query, key.to(query.dtype), value.to(query.dtype), attn_mask=hidden)
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, count, -1))


class FeedForward(nn.Module):
    """Gated feed-forward part."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden, shape.feed_forward, bias=False)
        self.up_proj = nn.Linear(shape.hidden, shape.feed_forward, bias=False)
        self.down_proj = nn.Linear(shape.feed_forward, shape.hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class DecoderLayer(nn.Module):
    """One pre-norm decoder layer."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.self_attn = Attention(shape)
        self.mlp = FeedForward(shape)
        self.input_layernorm, self.post_attention_layernorm = RmsNorm(shape.hidden), RmsNorm(shape.hidden)

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor], hidden: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), rotation, hidden)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    """The language model without its head."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(shape.vocabulary, shape.hidden)
        self.layers = nn.ModuleList(DecoderLayer(shape) for _ in range(shape.layers))
        self.norm = RmsNorm(shape.hidden)
        self.head_dim = shape.head_size

    def forward(self, x: Tensor, positions: Tensor, visible: Tensor) -> Tensor:
        """Run embeddings [batch, count, hidden] at ``positions`` [batch, count] under ``visible``.

        ``visible`` is [batch, 1, count, count] bool: may the row's position look at the column's?
        """
        rotation = rotations(positions, self.head_dim, x.dtype)
        precision = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else x.dtype
        hidden = torch.zeros(visible.shape, dtype=precision).masked_fill(~visible, HIDDEN)  # faster here than bool
        for layer in self.layers:
            x = layer(x, rotation, hidden)
        return self.norm(x)


class SpeechModel(nn.Module):
    """Tower and decoder; the head is the embedding table."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.audio_tower = AudioTower(shape)
        self.model = Decoder(shape)
        self._draw_weights()

    def _draw_weights(self) -> None:
        deep = math.sqrt(2 * self.shape.layers)
        for name, weights in self.named_parameters():
            if weights.dim() == 4:
                nn.init.kaiming_normal_(weights)
            elif weights.dim() == 2 and name.startswith("audio_tower") and "bias" not in name:
                nn.init.xavier_uniform_(weights)
            elif "embed_tokens" in name:
                nn.init.normal_(weights, std=0.05)
            elif weights.dim() == 2 and name.startswith("model"):
                nn.init.normal_(weights, std=0.04 / (deep if "o_proj" in name or "down_proj" in name else 1))
        with torch.no_grad():  # audio enters the decoder at about the size of word embeddings
            self.audio_tower.proj2.weight.mul_(0.15)


def locality(heads: int) -> Tensor:
    """First values of the distance bias: half of the heads start out looking near, each another distance."""
    distance = torch.arange(-FARTHEST, FARTHEST + 1).abs().float()
    slopes = torch.tensor([0.0 if head % 2 == 0 else 0.4 / 4 ** (head // 2) for head in range(heads)])
    return -slopes[:, None] * distance[None, :]


def sinusoids(count: int, width: int) -> Tensor:
    """Fixed position embeddings [count, width]."""
    rates = torch.exp(-math.log(10_000) / (width // 2 - 1) * torch.arange(width // 2).float())
    angles = torch.arange(count)[:, None] * rates[None, :]
    return torch.cat([angles.sin(), angles.cos()], 1)


def rotations(positions: Tensor, size: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Cosines and sines [batch, 1, count, size] of rotary positions [batch, count]."""
    rates = 1.0 / ROPE_BASE ** (torch.arange(0, size, 2).float() / size)
    angles = positions[..., None].float() * rates
    angles = torch.cat([angles, angles], -1)[:, None]
    return angles.cos().to(dtype), angles.sin().to(dtype)


def rotate(x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    """Turn heads [batch, heads, count, size] by their positions."""
    cosine, sine = rotation
    low, high = x.chunk(2, -1)
    return x * cosine + torch.cat([-high, low], -1) * sine
