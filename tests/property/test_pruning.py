"""What holds for any list that is pruned."""

from datetime import datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from negmem.core.formulas.pruning import Entry, prune

NOW = datetime(2026, 4, 1, tzinfo=timezone.utc)
times = st.one_of(
    st.none(),
    st.just(""),
    st.just("soon"),
    st.integers(-400, 40).map(lambda days: NOW + timedelta(days=days)),
    st.integers(-400, 40).map(lambda days: (NOW + timedelta(days=days)).isoformat()),
    st.datetimes().map(str),
    st.floats(),
)
entries = st.lists(st.tuples(times, times, st.booleans()), max_size=30).map(
    lambda rows: [Entry(str(n), *row) for n, row in enumerate(rows)]
)
limits = st.tuples(st.integers(-3, 400), st.integers(-3, 40), st.booleans())


@given(entries, limits)
def test_everything_is_kept_or_removed_and_protected_ones_are_kept(
    rows: list[Entry], limit: tuple[int, int, bool]
) -> None:
    age, count, include = limit
    found = prune(rows, NOW, max_age_days=age, max_count=count, include_undated=include)
    gone = [i for i, _ in found.removed]
    assert sorted([*found.kept, *gone], key=int) == [row.id for row in rows]
    assert all(row.id in found.kept for row in rows if row.is_protected)
    if not include:
        assert not set(found.undated) & set(gone)


@given(entries, limits)
def test_pruning_twice_removes_nothing_more(
    rows: list[Entry], limit: tuple[int, int, bool]
) -> None:
    age, count, include = limit
    first = prune(rows, NOW, max_age_days=age, max_count=count, include_undated=include)
    left = [row for row in rows if row.id in first.kept]
    assert (
        prune(left, NOW, max_age_days=age, max_count=count, include_undated=include).removed == ()
    )


@given(entries, st.integers(1, 40))
def test_a_number_is_kept_to_unless_what_stays_is_protected_or_undated(
    rows: list[Entry], count: int
) -> None:
    found = prune(rows, NOW, max_count=count, include_undated=True)
    protected = sum(row.is_protected for row in rows)
    assert len(found.kept) <= max(count, protected)
    assert len(found.kept) >= min(count, len(rows))
