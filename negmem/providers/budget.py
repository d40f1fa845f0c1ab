"""What a run may take from a paid model, and what it took."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class GenerationUsage:
    """What calls took. `cost_usd` is None where no price is known.

    `retries` are among the calls. `fallbacks` counts requests for which something else than the model
    had to answer.
    """

    calls: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None
    fallbacks: int = 0

    @property
    def tokens(self) -> int:
        """Tokens in both directions."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: GenerationUsage) -> GenerationUsage:
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return GenerationUsage(
            calls=self.calls + other.calls,
            retries=self.retries + other.retries,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost_usd=sum(costs) if costs else None,
            fallbacks=self.fallbacks + other.fallbacks,
        )


@dataclass(frozen=True)
class Prices:
    """US dollars for a token in either direction."""

    prompt: float
    completion: float

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """US dollars for so many tokens."""
        return prompt_tokens * self.prompt + completion_tokens * self.completion


@dataclass(frozen=True)
class Hold:
    """What is set aside for a call under way, as if it took all that it may."""

    prompt_tokens: int
    completion_tokens: int
    cost_usd: float


class CeilingError(Exception):
    """A call that would pass a ceiling; the message says which."""


class Budget:
    """Ceilings on calls, tokens and US dollars that all generators of a run share. Thread-safe.

    A call is held in full before it is made and settled when it is over, so that a ceiling is never
    passed, however many threads call at once. None: no ceiling.
    """

    def __init__(
        self,
        *,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_cost_usd: float | None = None,
    ) -> None:
        self.max_calls = max_calls
        self.max_tokens = max_tokens
        self.max_cost_usd = max_cost_usd
        self.spent = GenerationUsage()
        self._held = Hold(0, 0, 0.0)
        self._held_calls = 0
        self._lock = threading.Lock()

    def hold(self, prompt_tokens: int, completion_tokens: int, prices: Prices | None) -> Hold:
        """Set aside one call; fewer `completion_tokens` where a ceiling leaves no room for all.

        Raises: CeilingError where there is no room for a useful answer, or a ceiling on money and no
        price.
        """
        with self._lock:
            if self.max_calls is not None and self.spent.calls + self._held_calls >= self.max_calls:
                raise CeilingError(f"{self.max_calls:,} calls are made, the ceiling")
            room = completion_tokens
            if self.max_tokens is not None:
                held = self._held.prompt_tokens + self._held.completion_tokens
                left = self.max_tokens - self.spent.tokens - held - prompt_tokens
                if left < min(_USEFUL_TOKENS, completion_tokens):
                    raise CeilingError(
                        f"{self.spent.tokens:,} of {self.max_tokens:,} tokens are spent, the next call"
                        f" needs {prompt_tokens:,} for its request alone"
                    )
                room = min(room, left)
            if self.max_cost_usd is not None:
                if prices is None:
                    raise CeilingError("there is a ceiling on money, and no price is known")
                spent = (self.spent.cost_usd or 0.0) + self._held.cost_usd
                money = self.max_cost_usd - spent - prices.cost(prompt_tokens, 0)
                affordable = completion_tokens
                if prices.completion > 0:
                    affordable = int(money / prices.completion)
                if money < 0 or affordable < min(_USEFUL_TOKENS, completion_tokens):
                    raise CeilingError(
                        f"${spent:.4f} of ${self.max_cost_usd:.4f} are spent or set aside, too little"
                        " is left for a call"
                    )
                room = min(room, affordable)
            cost = prices.cost(prompt_tokens, room) if prices else 0.0
            hold = Hold(prompt_tokens, room, cost)
            self._held = _sum(self._held, hold, 1)
            self._held_calls += 1
            return hold

    def settle(self, hold: Hold, usage: GenerationUsage) -> None:
        """Give back what was set aside and book what the call took."""
        with self._lock:
            self._held = _sum(self._held, hold, -1)
            self._held_calls -= 1
            self.spent += usage

    def book_fallback(self) -> None:
        """Count a request that something else than the model answered."""
        with self._lock:
            self.spent = replace(self.spent, fallbacks=self.spent.fallbacks + 1)


class Share(Budget):
    """What one part of a run takes: held and booked in the run's budget, and counted here as well."""

    def __init__(self, whole: Budget) -> None:
        super().__init__()
        self._whole = whole

    def hold(self, prompt_tokens: int, completion_tokens: int, prices: Prices | None) -> Hold:
        """Set aside one call of the whole budget. Raises: CeilingError."""
        return self._whole.hold(prompt_tokens, completion_tokens, prices)

    def settle(self, hold: Hold, usage: GenerationUsage) -> None:
        """Book what the call took, there and here."""
        self._whole.settle(hold, usage)
        with self._lock:
            self.spent += usage

    def book_fallback(self) -> None:
        """Count a request that something else than the model answered, there and here."""
        self._whole.book_fallback()
        super().book_fallback()


# An answer cut below this is not worth the request.
_USEFUL_TOKENS = 64


def _sum(held: Hold, hold: Hold, sign: int) -> Hold:
    return Hold(
        held.prompt_tokens + sign * hold.prompt_tokens,
        held.completion_tokens + sign * hold.completion_tokens,
        max(0.0, held.cost_usd + sign * hold.cost_usd),
    )
