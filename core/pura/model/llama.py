"""The network of Llama models, whose numbers are bit for bit those of transformers.

It reads what most audits read, without the import of that library; a network or a setting that is
not known here is left to it (decision 068). Weights stay in their file, which is mapped, where
they are stored in the number format that they are computed in.
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
# What changes no number of a network that is not being trained.
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
_SHARED: Final = 256  # numbers of a head up to which the kernels let queries share a key

Take = Callable[..., nn.Parameter]


class Config(SimpleNamespace):
    """The settings of a network, under the names of its ``config.json``."""

    _attn_implementation: Final = "sdpa"

    def get_text_config(self) -> Config:
        """Return itself: all of it is about text."""
        return self


def load(facts: FolderFacts, dtype: torch.dtype) -> LlamaForCausalLM | None:
    """Load an inspected folder, or return None for what the library has to load or refuse.

    Args:
        facts: Of the folder.
        dtype: The number format of the weights in memory.
    """
    from safetensors import safe_open

    config = _config(facts.config)
    if config is None:
        return None
    settings = facts.weights[0].parent / "generation_config.json"
    said = read_object(settings, MAX_CONFIG_BYTES) if settings.exists() else facts.config
    with contextlib.ExitStack() as opened:
        files = [opened.enter_context(safe_open(path, "pt")) for path in facts.weights]
        home = {name: file for file in files for name in file.keys()}  # noqa: SIM118 – no mapping

        def take(name: str, *shape: int) -> nn.Parameter:
            found: Tensor = home[name].get_tensor(name)
            if found.shape != shape or found.dtype not in _FLOATS:
                raise KeyError(name)
            return nn.Parameter(found.to(dtype))

        with contextlib.suppress(KeyError):
            if not (config.tie_word_embeddings and "lm_head.weight" in home):
                return LlamaForCausalLM(config, take, said.get("eos_token_id"))
    return None


def _config(given: dict[str, Any]) -> Config | None:
    """Return the settings that a config names; None where it says what is not known here."""
    if set(given) - {*_SIZES, *_USUAL, *_IDLE} or not set(_SIZES) <= set(given):
        return None
    found = Config(**(_USUAL | given))
    heads, width = found.num_attention_heads, found.hidden_size
    found.num_key_value_heads = found.num_key_value_heads or heads
    found.head_dim = found.head_dim or width // heads
    found.rope_parameters = _rope(found)
    whole = width % heads == 0 == heads % found.num_key_value_heads and found.head_dim % 2 == 0
    return found if whole and found.rope_parameters and found.hidden_act == "silu" else None


def _rope(config: Config) -> dict[str, Any] | None:
    """Return how places turn into angles, as configs say it today; None for a way not known."""
    given = config.rope_scaling or config.rope_parameters or {}
    rope = {"rope_theta": config.rope_theta, "rope_type": given.get("type", "default"), **given}
    rope.pop("type", None)
    known = _ROPE.get(rope["rope_type"], ("none",))
    if _LONG in known:
        rope.setdefault(_LONG, config.max_position_embeddings)
    return rope if set(rope) == {"rope_theta", "rope_type", *known} else None


def _frequencies(config: Config) -> Tensor:
    """Return the angle by which each pair of numbers turns from place to place: [head_dim / 2]."""
    size, rope = config.head_dim, config.rope_parameters
    plain: Tensor = 1.0 / (rope["rope_theta"] ** (torch.arange(0, size, 2).float() / size))
    slow: Tensor = plain / rope.get("factor", 1.0)
    if rope["rope_type"] != "llama3":
        return slow
    # Short waves stay, long ones are stretched, those between a bit of both.
    low, high, length = rope["low_freq_factor"], rope["high_freq_factor"], rope[_LONG]
    wave = 2 * math.pi / plain
    found = torch.where(wave > length / low, slow, plain)
    share = (length / wave - low) / (high - low)
    both = (1 - share) * found / rope["factor"] + share * found
    return torch.where((wave < length / high) | (wave > length / low), found, both)


class DynamicLayer:
    """The keys and values of one layer, [B, H, L, D] each; None before the first."""

    def __init__(self) -> None:
        self.keys: Any = None
        self.values: Any = None

    def lazy_initialization(self, keys: Tensor, values: Tensor) -> None:
        """Prepare nothing; a layer of the library's does."""

    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Put new ones behind the old, and return all."""
        if self.keys is not None:
            keys = torch.cat([self.keys, keys], dim=-2)
            values = torch.cat([self.values, values], dim=-2)
        self.keys, self.values = keys, values
        return keys, values


class DynamicCache:
    """What the layers keep of what was read."""

    def __init__(self, depth: int) -> None:
        self.layers = [DynamicLayer() for _ in range(depth)]

    def reorder_cache(self, rows: Tensor) -> None:
        """Let each text go on as another one."""
        for layer in self.layers:
            layer.keys, layer.values = layer.keys[rows], layer.values[rows]


def _linear(weight: nn.Parameter, bias: nn.Parameter | None = None) -> nn.Linear:
    layer = nn.Linear(1, 1, bias=False)  # what it is filled with is thrown away
    layer.out_features, layer.in_features = weight.shape
    layer.weight = weight
    layer.register_parameter("bias", bias)
    return layer


def _normalised(x: Tensor, weight: Tensor, least: float) -> Tensor:
    wide = x.to(torch.float32)
    wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + least)
    return weight * wide.to(x.dtype)


def _turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class Block(nn.Module):
    """A layer: causal attention, several queries a key, and a gate."""

    def __init__(self, config: Config, take: Take, number: int) -> None:
        super().__init__()
        at, width, inner = f"model.layers.{number}", config.hidden_size, config.intermediate_size
        many, few = (
            config.head_dim * heads
            for heads in (config.num_attention_heads, config.num_key_value_heads)
        )

        def linear(name: str, rows: int, columns: int, bias: bool) -> nn.Linear:
            weight = take(f"{at}.{name}.weight", rows, columns)
            return _linear(weight, take(f"{at}.{name}.bias", rows) if bias else None)

        self.layer_idx, self._config = number, config
        self.before_attention = take(f"{at}.input_layernorm.weight", width)
        self.q_proj = linear("self_attn.q_proj", many, width, config.attention_bias)
        self.k_proj = linear("self_attn.k_proj", few, width, config.attention_bias)
        self.v_proj = linear("self_attn.v_proj", few, width, config.attention_bias)
        self.o_proj = linear("self_attn.o_proj", width, many, config.attention_bias)
        self.before_gate = take(f"{at}.post_attention_layernorm.weight", width)
        self.gate_proj = linear("mlp.gate_proj", inner, width, config.mlp_bias)
        self.up_proj = linear("mlp.up_proj", inner, width, config.mlp_bias)
        self.down_proj = linear("mlp.down_proj", width, inner, config.mlp_bias)

    def forward(
        self, x: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor | None, cache: Any
    ) -> Tensor:
        """Work on [B, L, D]."""
        least = self._config.rms_norm_eps
        x = x + self._attention(_normalised(x, self.before_attention, least), turn, mask, cache)
        y = _normalised(x, self.before_gate, least)
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
            # The queries that share a key stand as several inputs.
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
        """Read on.

        Args:
            input_ids: [B, L].
            attention_mask: [B, S + L], which of the S inputs read before and these are text; or
                [B, 1, L, S + L], what is added to the weights before they are normalised.
            position_ids: [B, L]; counted on when None.
            past_key_values: What was read before; these inputs are put into it.
            use_cache: Begin such a cache where there is none.

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


def create_causal_mask(given: Tensor | None, before: int, x: Tensor) -> Tensor | None:
    """Return what each input sees; None where it is all before it."""
    if given is not None and given.ndim == 4:
        return given
    length = x.shape[1]
    text = None if given is None or bool(given.all()) else given.bool()
    if text is None and (length == 1 or not before):
        return None
    places = torch.arange(before + length, device=x.device)
    see = places <= places[before:, None]
    return see[None, None] if text is None else see & text[:, None, None]


class LlamaForCausalLM(nn.Module):
    """The network; it and its parts that are asked for have the names that the library gives them.

    Args:
        config: Its settings.
        take: Gives the weight of a name and shape; raises KeyError.
        ends: The token or tokens that end a text.
    """

    def __init__(self, config: Config, take: Take, ends: object) -> None:
        super().__init__()
        self.config, self.generation_config = config, SimpleNamespace(eos_token_id=ends)
        self.model = LlamaModel(config, take)
        size, tied = (config.vocab_size, config.hidden_size), config.tie_word_embeddings
        words = self.model.get_parameter("embed_tokens.weight")
        self.lm_head = _linear(words if tied else take("lm_head.weight", *size))

    def get_decoder(self) -> LlamaModel:
        """Return the part that ends in hidden states."""
        return self.model

    def get_input_embeddings(self) -> nn.Embedding:
        """Return what begins it."""
        return self.model.embed_tokens

    def get_output_embeddings(self) -> nn.Linear:
        """Return the head."""
        return self.lm_head

    def new_cache(self) -> DynamicCache:
        """Return an empty cache."""
        return DynamicCache(len(self.model.layers))

    def forward(
        self,
        input_ids: Tensor,
        position_ids: Tensor | None = None,
        logits_to_keep: int = 0,
        **more: Any,
    ) -> SimpleNamespace:
        """Read on as :meth:`LlamaModel.forward` does; also returns ``logits`` [B, L, R].

        Of how many last inputs they are, ``logits_to_keep`` says; 0 is all.
        """
        out: SimpleNamespace = self.model(input_ids, position_ids=position_ids, **more)
        out.logits = self.lm_head(out.last_hidden_state[:, -logits_to_keep:])
        return out
