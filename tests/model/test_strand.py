"""The story that is woven from the versions of a list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rireki.model.strand import Run, State, Strand, expand, shorten, weave

ordinals = st.lists(st.integers(0, 9), max_size=12)


@given(st.lists(st.integers(0, 50), max_size=40))
def test_a_list_of_numbers_survives_being_shortened(numbers: list[int]) -> None:
    assert expand(shorten(numbers)) == numbers


def test_runs_are_written_short() -> None:
    assert shorten([0, 1, 2, 3, 7, 9, 10]) == "0-3,7,9-10"
    assert shorten([]) == ""


@given(st.lists(ordinals, min_size=1, max_size=5))
def test_what_is_present_is_exactly_the_last_version_in_its_order(
    versions: list[list[int]],
) -> None:
    story = weave([[version] for version in versions])
    assert [ordinal for ordinal, present, _ in story if present] == versions[-1]


@given(st.lists(ordinals, min_size=1, max_size=5))
def test_nothing_that_was_ever_held_is_missing(versions: list[list[int]]) -> None:
    story = [ordinal for ordinal, _, _ in weave([[version] for version in versions])]
    assert set(story) == {ordinal for version in versions for ordinal in version}
    for version in versions:
        left = iter(story)
        assert all(ordinal in left for ordinal in version), "each version is part of the story"


def told(*versions: list[int]) -> list[tuple[int, bool]]:
    return [(ordinal, present) for ordinal, present, _ in weave([[v] for v in versions])]


def test_one_more_turn_is_added_at_the_end() -> None:
    assert told([0, 1], [0, 1, 2]) == [(0, True), (1, True), (2, True)]


def test_a_compacted_head_stays_before_what_is_left() -> None:
    assert told([0, 1, 2, 3], [2, 3, 4]) == [
        (0, False),
        (1, False),
        (2, True),
        (3, True),
        (4, True),
    ]


def test_a_rewritten_entry_stands_beside_its_successor() -> None:
    assert told([0, 1, 2], [0, 3, 2]) == [(0, True), (1, False), (3, True), (2, True)]


def test_what_returns_is_present_again_and_not_doubled() -> None:
    assert told([0, 1], [2, 3], [0, 1, 4]) == [
        (0, True),
        (1, True),
        (2, False),
        (3, False),
        (4, True),
    ]


def test_several_lists_of_one_version_are_all_present() -> None:
    story = weave([[[0, 1, 2]], [[0, 1], [3, 4]]])
    assert [(o, p) for o, p, _ in story] == [(0, True), (1, True), (2, False), (3, True), (4, True)]


def test_each_place_knows_the_version_that_brought_it() -> None:
    assert [state for _, _, state in weave([[[0]], [[0, 1]], [[2]]])] == [0, 1, 2]


@given(st.lists(st.integers(0, 12), max_size=5), st.lists(ordinals, max_size=3))
def test_a_strand_that_only_grew_is_woven_the_short_way_to_the_same_story(
    growth: list[int], rewrites: list[list[int]]
) -> None:
    versions = [list(range(count)) for count in sorted(growth)] + rewrites
    states = [
        State(number, "", (Run("lines", shorten(version)),))
        for number, version in enumerate(versions)
    ]
    strand = Strand(
        id=1,
        source="x",
        role="main",
        place="x",
        states=states,
        fetch=lambda lane, numbers: [b"%d" % n for n in numbers],
    )
    story = [(o.ordinal, o.present, o.state) for o in strand.story("lines")]
    assert story == weave([[version] for version in versions])
    assert strand.places("lines") == story


def test_a_head_cut_off_a_hundred_times_costs_little() -> None:
    versions = [list(range(cut, 3000 + cut)) for cut in range(100)]
    story = weave([[version] for version in versions])
    assert [ordinal for ordinal, _, _ in story] == list(range(3099))
    assert sum(present for _, present, _ in story) == 3000
