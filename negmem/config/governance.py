"""`governance`: roles, who answers for changes, and what becomes of personal data."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from negmem.config.sections import Section, VariableName, identifier, key, scope_name


def _role_name(text: str) -> str:
    if text.lower() in ("public", "none", "current_user", "current_role", "session_user"):
        raise ValueError(f"{text!r} is a word of SQL, no role")
    return identifier(text)


RoleName = Annotated[str, AfterValidator(_role_name)]


class Roles(Section):
    """The four roles that `init --roles` makes."""

    owner: RoleName | None = key(
        None, "owns the schema; null: the schema's name and _owner", min_length=1
    )
    app: RoleName | None = key(
        None, "reads and writes memories; null: the schema's name and _app", min_length=1
    )
    reader: RoleName | None = key(
        None, "searches and lists; null: the schema's name and _reader", min_length=1
    )
    auditor: RoleName | None = key(
        None, "reads the trail; null: the schema's name and _auditor", min_length=1
    )


Policy = Literal["none", "mark", "mask", "anonymize"]
RoleKey = Literal["owner", "app", "reader", "auditor"]


def _policy(what: str) -> Policy | None:
    return key(None, f"{what}; null: as `policy`")  # type: ignore[no-any-return]


class PiiKinds(Section):
    """The policy of one kind, where it is another."""

    id_card: Policy | None = _policy("identity numbers of China, by check digit")
    credit_card: Policy | None = _policy("payment cards, by check digit")
    iban: Policy | None = _policy("bank accounts (IBAN), by check digits")
    passport: Policy | None = _policy("passport numbers, where the text says so")
    ssn: Policy | None = _policy("social security numbers of the USA, with hyphens")
    email: Policy | None = _policy("e-mail addresses")
    phone: Policy | None = _policy("telephone numbers")
    ip_address: Policy | None = _policy("IP addresses, loopback excepted")
    address: Policy | None = _policy("postal addresses with road and number")
    person: Policy | None = _policy("names of people; presidio only")
    location: Policy | None = _policy("names of places; presidio only")
    date_time: Policy | None = _policy("dates and times; presidio only, and `none` unless named")
    url: Policy | None = _policy("web addresses; presidio only, and `none` unless named")


class Pii(Section):
    """Personal data at the door and at every exit. Nothing is looked for unless a policy says so."""

    policy: Policy = key(
        "none",
        "what becomes of personal data when it is written: none; mark (kept, its place recorded); "
        "mask (first and last two characters kept); anonymize (replaced by its kind)",
    )
    kinds: PiiKinds = PiiKinds()
    shown: Literal["mask", "anonymize"] = key(
        "anonymize", "how stored personal data looks to roles that may not see it raw"
    )
    raw_for: tuple[RoleKey, ...] = key(
        ("owner", "auditor"), "database roles that see what is stored as it is"
    )
    engine: Literal["regex", "presidio"] = key(
        "regex", "regex: patterns with check digits; presidio: these and names, extra `pii`"
    )
    languages: tuple[Annotated[str, Field(pattern=r"^[a-z]{2}$")], ...] = key(
        ("en",), "presidio: the languages whose models are installed"
    )
    score_threshold: float = key(
        0.6, "score 0..1: a less certain finding does not count", ge=0, le=1
    )

    @property
    def is_active(self) -> bool:
        """Whether anything is looked for at all."""
        return any(self.policy_of(kind) != "none" for kind in PiiKinds.model_fields)

    def policy_of(self, kind: str) -> Policy:
        """What becomes of one kind; of one without a key, what `policy` says."""
        if kind not in PiiKinds.model_fields:
            return self.policy
        own: Policy | None = getattr(self.kinds, kind)
        if own is None and kind in ("date_time", "url"):
            return "none"
        return self.policy if own is None else own

    @model_validator(mode="after")
    def _findable(self) -> Pii:
        only_presidio = ("person", "location", "date_time", "url")
        named = [k for k in only_presidio if getattr(self.kinds, k) not in (None, "none")]
        if named and self.engine == "regex":
            raise ValueError(f"kinds.{named[0]} has no pattern: it needs engine presidio")
        return self


class Governance(Section):
    """Who answers for changes, who may do what, and what becomes of personal data."""

    actor: Annotated[str, AfterValidator(scope_name)] | None = key(
        None,
        "the name beside a change of the stored config; null: database role and system user",
        min_length=1,
        max_length=255,
    )
    trail_key_env: VariableName | None = key(
        None, "the name of a variable with a key that signs heads of the trail; null: unsigned"
    )
    roles: Roles = Roles()
    pii: Pii = Pii()
