"""From settings to a language model for the sleep.

Owns: which adapter serves which choice, and the checks of what goes together. Guarantees: a variable that would be
ignored is refused by name (P-SILENT-NEVER); only the chosen adapter and its libraries are imported; no request is made.
Gives up: knowing whether the model is there; the first question says it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from lodestore.adapters.openai_address import OPENAI_BASE, check_base
from lodestore.errors import SettingsError
from lodestore.ports.clock import Clock, Entropy
from lodestore.ports.language_model import LanguageModel
from lodestore.settings import Settings, SleepModel

# An answer comes whole, so its first byte comes with its last.
READ_SECONDS: Final = 50
DEADLINE_SECONDS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModelOptions:
    """SLEEP_MODEL_ID, SLEEP_MODEL_BUDGET and SLEEP_MODEL_PRICE as given, and the address that embeddings use too."""

    model_id: str | None = None
    budget: int | None = None
    price: tuple[float, float] | None = None
    openai_base_url: str | None = None
    openai_api_key: str | None = field(default=None, repr=False)


def options_of(settings: Settings) -> LanguageModelOptions:
    """What of the settings is the model's."""
    return LanguageModelOptions(
        model_id=settings.sleep_model_id,
        budget=settings.sleep_model_budget,
        price=settings.sleep_model_price,
        openai_base_url=settings.openai_base_url,
        openai_api_key=settings.openai_api_key,
    )


def connect_language_model(
    choice: SleepModel, options: LanguageModelOptions, clock: Clock, entropy: Entropy
) -> LanguageModel | None:
    """The model that was chosen; None: none was. Raises SettingsError naming the variable at fault."""
    if choice is SleepModel.NONE:
        _refuse_ignored(options)
        return None
    if options.model_id is None:
        raise SettingsError(f"SLEEP_MODEL={choice} needs SLEEP_MODEL_ID: the model, as the service calls it")
    if choice is SleepModel.BEDROCK:
        from lodestore.adapters.bedrock_converse import BedrockConverse, make_client

        return BedrockConverse(make_client(), options.model_id)
    return _openai(options, options.model_id, clock, entropy)


def _refuse_ignored(options: LanguageModelOptions) -> None:
    for name, value in (
        ("SLEEP_MODEL_ID", options.model_id),
        ("SLEEP_MODEL_BUDGET", options.budget),
        ("SLEEP_MODEL_PRICE", options.price),
    ):
        if value is not None:
            raise SettingsError(f"{name} has no meaning with SLEEP_MODEL=none")


def _openai(options: LanguageModelOptions, model_id: str, clock: Clock, entropy: Entropy) -> LanguageModel:
    from lodestore.adapters.openai_chat import OpenAIChat
    from lodestore.adapters.openai_endpoint import Endpoint, Patience

    base = options.openai_base_url or OPENAI_BASE
    check_base(base, options.openai_api_key, "SLEEP_MODEL=openai")
    patience = Patience(
        service="the model's service", read_seconds=READ_SECONDS, deadline_seconds=DEADLINE_SECONDS
    )
    endpoint = Endpoint(base, options.openai_api_key, clock, entropy, patience)
    # OpenAI's own models that think refuse the old name; other services know no other.
    return OpenAIChat(endpoint, model_id, "max_completion_tokens" if base == OPENAI_BASE else "max_tokens")
