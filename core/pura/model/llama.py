"""The network of Llama models; its results equal those of transformers bit for bit.

It serves most audits without importing that library, which loads any network or setting that is
unknown here (decision 068). Weights stay in their memory-mapped file if they are stored in the
number format of the computation.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import nn
from torch.nn import functional

from pura.model.folder import MAX_CONFIG_BYTES, FolderFacts, read_object

if TYPE_CHECKING:
    from torch import Tensor

_SIZES: Final = (
    *("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers"),
    *("num_attention_heads", "max_position_embeddings"),
)
_USUAL: Final[dict[str, Any]] = {
    **dict.fromkeys(("num_key_value_heads", "head_dim", "rope_scaling", "rope_parameters")),
    **dict.fromkeys(("attention_bias", "mlp_bias", "tie_word_embeddings"), False),
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
}
# Settings without effect on the results of a network that is not being trained.
_IDLE: Final = (
    *("_attn_implementation_autoset", "_model_name_or_path", "_name_or_path", "architectures"),
    *("attention_dropout", "bos_token_id", "dtype", "eos_token_id", "initializer_range"),
    *("is_llama_config", "model_type", "pad_token_id", "pretraining_tp", "rope_interleaved"),
    *("torch_dtype", "transformers.js_config", "transformers_version", "unk_token_id"),
    "use_cache",
)
_LONG: Final = "original_max_position_embeddings"
_ROPE: Final = {
    "default": (),
    "linear": ("factor",),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", _LONG),
}
_FLOATS: Final = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
_SHARED: Final = 256  # largest head for which the kernels let queries share a key

Take = Callable[..., nn.Parameter]


class Config(SimpleNamespace):
    """The settings of a network, under the names of its ``config.json``."""

    _attn_implementation: Final = "sdpa"

    def get_text_config(self) -> Config:
        """Return the settings themselves: all of them concern text."""
        return self


def load(facts: FolderFacts, dtype: torch.dtype) -> LlamaForCausalLM | None:
    """Load an inspected folder, or return None for a model that the library has to load.

    Args:
        facts: Facts about the folder.
        dtype: The number format of the weights in memory.
    """
    from safetensors import safe_open

    config = _config(facts.config)
    if config is None:
        return None
    settings = facts.weights[0].parent / "generation_config.json"
    generation = read_object(settings, MAX_CONFIG_BYTES) if settings.exists() else facts.config
    with contextlib.ExitStack() as opened:
        files = [opened.enter_context(safe_open(path, "pt")) for path in facts.weights]
        home = {name: file for file in files for name in file.keys()}  # noqa: SIM118 – no mapping

        def take(name: str, *shape: int) -> nn.Parameter:
            tensor: Tensor = home[name].get_tensor(name)
            if tensor.shape != shape or tensor.dtype not in _FLOATS:
                raise KeyError(name)
            return nn.Parameter(tensor.to(dtype))

        with contextlib.suppress(KeyError):
            if not (config.tie_word_embeddings and "lm_head.weight" in home):
                return LlamaForCausalLM(config, take, generation.get("eos_token_id"))
    return None


def _config(settings: dict[str, Any]) -> Config | None:
    """Return the settings of a config; None if one of them is unknown here."""
    if set(settings) - {*_SIZES, *_USUAL, *_IDLE} or not set(_SIZES) <= set(settings):
        return None
    config = Config(**(_USUAL | settings))
    heads, width = config.num_attention_heads, config.hidden_size
    config.num_key_value_heads = config.num_key_value_heads or heads
    config.head_dim = config.head_dim or width // heads
    config.rope_parameters = _rope(config)
    divisible = (
        width % heads == 0 == heads % config.num_key_value_heads and config.head_dim % 2 == 0
    )
    return config if divisible and config.rope_parameters and config.hidden_act == "silu" else None


def _rope(config: Config) -> dict[str, Any] | None:
    """Return the rotary embedding in the present form of configs; None for an unknown type."""
    scaling = config.rope_scaling or config.rope_parameters or {}
    rope = {"rope_theta": config.rope_theta, "rope_type": scaling.get("type", "default"), **scaling}
    rope.pop("type", None)
    factors = _ROPE.get(rope["rope_type"], ("none",))
    if _LONG in factors:
        rope.setdefault(_LONG, config.max_position_embeddings)
    return rope if set(rope) == {"rope_theta", "rope_type", *factors} else None


def _frequencies(config: Config) -> Tensor:
    """Return the angle between neighbouring positions for each pair of numbers: [head_dim / 2]."""
    size, rope = config.head_dim, config.rope_parameters
    plain: Tensor = 1.0 / (rope["rope_theta"] ** (torch.arange(0, size, 2).float() / size))
    slow: Tensor = plain / rope.get("factor", 1.0)
    if rope["rope_type"] != "llama3":
        return slow
    # Short waves stay, long ones are stretched, and those between are interpolated.
    low, high, length = rope["low_freq_factor"], rope["high_freq_factor"], rope[_LONG]
    wave = 2 * math.pi / plain
    bounded = torch.where(wave > length / low, slow, plain)
    share = (length / wave - low) / (high - low)
    both = (1 - share) * bounded / rope["factor"] + share * bounded
    return torch.where((wave < length / high) | (wave > length / low), bounded, both)


class DynamicLayer:
    """The keys and values of one layer, [B, H, L, D] each; None before the first update."""

    def __init__(self) -> None:
        self.keys: Any = None
        self.values: Any = None

    def lazy_initialization(self, keys: Tensor, values: Tensor) -> None:
        """Do nothing; present because the layers of transformers need this call."""

    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Append new keys and values; return all."""
        if self.keys is not None:
            keys = torch.cat([self.keys, keys], dim=-2)
            values = torch.cat([self.values, values], dim=-2)
        self.keys, self.values = keys, values
        return keys, values


class DynamicCache:
    """The keys and values of all layers for the inputs read so far."""

    def __init__(self, depth: int) -> None:
        self.layers = [DynamicLayer() for _ in range(depth)]

    def reorder_cache(self, rows: Tensor) -> None:
        """Let each row continue the text of another row."""
        for layer in self.layers:
            layer.keys, layer.values = layer.keys[rows], layer.values[rows]


def _linear(weight: nn.Parameter, bias: nn.Parameter | None = None) -> nn.Linear:
    layer = nn.Linear(1, 1, bias=False)  # its initial weights are replaced below
    layer.out_features, layer.in_features = weight.shape
    layer.weight = weight
    layer.register_parameter("bias", bias)
    return layer


def _normalised(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    wide = x.to(torch.float32)
    wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + epsilon)
    return weight * wide.to(x.dtype)


def _turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class Block(nn.Module):
    """A layer: causal attention, several queries a key, and a gate."""

    def __init__(self, config: Config, take: Take, number: int) -> None:
        super().__init__()
        prefix, width, inner = (
            f"model.layers.{number}",
            config.hidden_size,
            config.intermediate_size,
        )
        query_width, key_width = (
            config.head_dim * heads
            for heads in (config.num_attention_heads, config.num_key_value_heads)
        )

        def linear(name: str, rows: int, columns: int, bias: bool) -> nn.Linear:
            weight = take(f"{prefix}.{name}.weight", rows, columns)
            return _linear(weight, take(f"{prefix}.{name}.bias", rows) if bias else None)

        self.layer_idx, self._config = number, config
        self.before_attention = take(f"{prefix}.input_layernorm.weight", width)
        self.q_proj = linear("self_attn.q_proj", query_width, width, config.attention_bias)
        self.k_proj = linear("self_attn.k_proj", key_width, width, config.attention_bias)
        self.v_proj = linear("self_attn.v_proj", key_width, width, config.attention_bias)
        self.o_proj = linear("self_attn.o_proj", width, query_width, config.attention_bias)
        self.before_gate = take(f"{prefix}.post_attention_layernorm.weight", width)
        self.gate_proj = linear("mlp.gate_proj", inner, width, config.mlp_bias)
        self.up_proj = linear("mlp.up_proj", inner, width, config.mlp_bias)
        self.down_proj = linear("mlp.down_proj", width, inner, config.mlp_bias)

    def forward(
        self, x: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor | None, cache: Any
    ) -> Tensor:
        """Transform hidden states [B, L, D]."""
        epsilon = self._config.rms_norm_eps
        x = x + self._attention(_normalised(x, self.before_attention, epsilon), turn, mask, cache)
        y = _normalised(x, self.before_gate, epsilon)
        out: Tensor = x + self.down_proj(functional.silu(self.gate_proj(y)) * self.up_proj(y))
        return out

    def _attention(
        self, x: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor | None, cache: Any
    ) -> Tensor:
        size, (rows, length, _) = self._config.head_dim, x.shape
        query, key, value = (
            part(x).view(rows, length, -1, size).transpose(1, 2)
            for part in (self.q_proj, self.k_proj, self.v_proj)
        )
        group = query.shape[1] // key.shape[1]
        query, key = _turned(query, *turn), _turned(key, *turn)
        if cache is not None:
            key, value = cache.layers[self.layer_idx].update(key, value)
        share = group > 1 and mask is None and size <= _SHARED
        if group > 1 and not share and length == 1:
            # The queries that share a key become several inputs.
            query = query.reshape(rows, -1, group, size)
        elif group > 1 and not share:
            key, value = (part.repeat_interleave(group, dim=1) for part in (key, value))
        out = functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=mask,
            is_causal=mask is None and length > 1,
            scale=size**-0.5,
            enable_gqa=share,
        )
        out = out.reshape(rows, -1, length, size).transpose(1, 2)
        mixed: Tensor = self.o_proj(out.reshape(rows, length, -1))
        return mixed


class LlamaModel(nn.Module):
    """The network without its head."""

    def __init__(self, config: Config, take: Take) -> None:
        super().__init__()
        self.config, size = config, (config.vocab_size, config.hidden_size)
        weight = take("model.embed_tokens.weight", *size)
        self.embed_tokens: nn.Embedding = nn.Embedding(*size, _weight=weight)
        self.layers = nn.ModuleList(
            Block(config, take, number) for number in range(config.num_hidden_layers)
        )
        self.norm = take("model.norm.weight", config.hidden_size)
        self.frequencies = nn.Buffer(_frequencies(config), persistent=False)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        past_key_values: DynamicCache | None = None,
        use_cache: bool = False,
    ) -> SimpleNamespace:
        """Read further inputs.

        Args:
            input_ids: [B, L].
            attention_mask: [B, S + L], which of the S earlier and the L new inputs are text; or
                [B, 1, L, S + L], biases that are added to the attention logits.
            position_ids: [B, L]; None continues the earlier positions.
            past_key_values: Cache of the earlier inputs; the new ones are added to it.
            use_cache: Whether to create a cache if there is none.

        Returns:
            ``last_hidden_state`` [B, L, D], ``past_key_values``.
        """
        x, before = self.embed_tokens(input_ids), 0
        if past_key_values is None and use_cache:
            past_key_values = DynamicCache(len(self.layers))
        elif past_key_values is not None and past_key_values.layers[0].keys is not None:
            before = past_key_values.layers[0].keys.shape[-2]
        if position_ids is None:
            position_ids = torch.arange(before, before + x.shape[1], device=x.device)[None]
        angles = (position_ids[..., None].float() * self.frequencies.float()).repeat(1, 1, 2)
        turn = (angles.cos().to(x.dtype)[:, None], angles.sin().to(x.dtype)[:, None])
        mask = create_causal_mask(attention_mask, before, x)
        for layer in self.layers:
            x = layer(x, turn, mask, past_key_values)
        x = _normalised(x, self.norm, self.config.rms_norm_eps)
        return SimpleNamespace(last_hidden_state=x, past_key_values=past_key_values)


def create_causal_mask(mask: Tensor | None, before: int, x: Tensor) -> Tensor | None:
    """Return the inputs visible to each input; None if these are all earlier ones."""
    if mask is not None and mask.ndim == 4:
        return mask
    length = x.shape[1]
    text = None if mask is None or bool(mask.all()) else mask.bool()
    if text is None and (length == 1 or not before):
        return None
    positions = torch.arange(before + length, device=x.device)
    see = positions <= positions[before:, None]
    return see[None, None] if text is None else see & text[:, None, None]


class LlamaForCausalLM(nn.Module):
    """The network with its head; its public parts have the names that transformers uses.

    Args:
        config: Settings of the network.
        take: Returns the weight of a name and shape; raises KeyError.
        ends: The token or tokens that end a text.
    """

    def __init__(self, config: Config, take: Take, ends: object) -> None:
        super().__init__()
        self.config, self.generation_config = config, SimpleNamespace(eos_token_id=ends)
        self.model = LlamaModel(config, take)
        size, tied = (config.vocab_size, config.hidden_size), config.tie_word_embeddings
        embedding = self.model.get_parameter("embed_tokens.weight")
        self.lm_head = _linear(embedding if tied else take("lm_head.weight", *size))

    def get_decoder(self) -> LlamaModel:
        """Return the part of the network that ends in hidden states."""
        return self.model

    def get_input_embeddings(self) -> nn.Embedding:
        """Return the embedding of the input tokens."""
        return self.model.embed_tokens

    def get_output_embeddings(self) -> nn.Linear:
        """Return the output head."""
        return self.lm_head

    def new_cache(self) -> DynamicCache:
        """Return an empty cache."""
        return DynamicCache(len(self.model.layers))

    def forward(
        self,
        input_ids: Tensor,
        position_ids: Tensor | None = None,
        logits_to_keep: int = 0,
        **options: Any,
    ) -> SimpleNamespace:
        """Read further inputs like :meth:`LlamaModel.forward`; also return ``logits`` [B, L, R].

        ``logits_to_keep`` limits the logits to that many last inputs; 0 keeps all.
        """
        out: SimpleNamespace = self.model(input_ids, position_ids=position_ids, **options)
        out.logits = self.lm_head(out.last_hidden_state[:, -logits_to_keep:])
        return out
