"""Edits of JSON text: what is asked for changes, and not one byte besides."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.labels.edits import (
    array_items,
    encode,
    object_values,
    update_array,
    update_members,
    update_object,
)

ODD = b'\xef\xbb\xbf {"n" :1.50e+2,\t"q": "a\\u0020b \\" } ]", "deep": {"x":[1, {"y":"]"}]} ,"k":5 }\r'


def test_each_raw_value_is_found_as_it_is_written() -> None:
    assert object_values(ODD) == {
        "n": b"1.50e+2",
        "q": b'"a\\u0020b \\" } ]"',
        "deep": b'{"x":[1, {"y":"]"}]}',
        "k": b"5",
    }


def test_only_the_value_changes() -> None:
    assert update_object(ODD, {"k": b"7"}) == ODD.replace(b'"k":5', b'"k":7')


def test_a_key_may_be_spelled_with_escapes() -> None:
    assert update_object(b'{"\\u006b": 5}', {"k": b"7"}) == b'{"\\u006b": 7}'


def test_a_new_key_comes_last_and_is_spaced_as_the_others_are() -> None:
    assert update_object(b'{"a": 1}', {"b": b"2"}) == b'{"a": 1, "b": 2}'
    assert update_object(b'{"a":1}', {"b": b"2"}) == b'{"a":1,"b":2}'
    assert update_object(b'{"a": 1,"c": 3 }\r', {"b": b"2"}) == b'{"a": 1,"c": 3,"b": 2 }\r'


def test_spacing_inside_a_string_is_no_example() -> None:
    assert update_object(b'{"a, b: c":1}', {"d": b"2"}) == b'{"a, b: c":1,"d":2}'


def test_an_empty_object_takes_members_and_keeps_its_surroundings() -> None:
    assert update_object(b" { } ", {"a": b"1", "b": b"2"}, like=b'{"x":1,"y":2}') == b' {"a":1,"b":2} '
    assert update_object(b"{}", {"a": None}) == b"{}"


@pytest.mark.parametrize(
    ("key", "left"),
    [("a", b'{ "b":2 , "c":3}'), ("b", b'{ "a":1 , "c":3}'), ("c", b'{ "a":1, "b":2}')],
)
def test_a_dropped_member_takes_one_comma_along(key: str, left: bytes) -> None:
    assert update_object(b'{ "a":1, "b":2 , "c":3}', {key: None}) == left


def test_dropping_everything_leaves_an_empty_object() -> None:
    assert update_object(b'{"a":1, "b":2}', {"a": None, "b": None}) == b"{}"


def test_of_a_repeated_key_the_last_is_meant() -> None:
    assert object_values(b'{"k":1,"k":2}') == {"k": b"2"}
    assert update_object(b'{"k":1,"k":2}', {"k": b"3"}) == b'{"k":1,"k":3}'


def test_dropping_a_repeated_key_drops_every_repeat() -> None:
    assert update_object(b'{"k":1,"a":0,"k":2}', {"k": None}) == b'{"a":0}'


def test_a_renamed_key_keeps_its_value_and_spacing() -> None:
    assert update_object(b'{"a" : 1.0}', {}, {"a": "b"}) == b'{"b" : 1.0}'


def test_two_keys_may_swap_their_names() -> None:
    assert update_object(b'{"a":1,"b":2}', {}, {"a": "b", "b": "a"}) == b'{"b":1,"a":2}'


def test_a_renamed_key_is_escaped_only_if_the_old_one_was() -> None:
    assert update_object('{"ä":1}'.encode(), {}, {"ä": "ö"}) == '{"ö":1}'.encode()
    assert update_object(b'{"\\u00e4":1}', {}, {"ä": "ö"}) == b'{"\\u00f6":1}'


def test_array_items_change_one_by_one() -> None:
    text = b'[ "a" ,"b",\t"c"]'
    assert array_items(text) == [b'"a"', b'"b"', b'"c"']
    assert update_array(text, lambda n, item: b'"B"' if n == 1 else item) == b'[ "a" ,"B",\t"c"]'
    assert update_array(text, lambda n, item: None if n == 0 else item) == b'[ "b",\t"c"]'
    assert update_array(b"[]", lambda _, item: item, [b"1", b"2"]) == b"[1, 2]"


def test_members_of_an_object_under_a_key_are_set_and_the_object_made_if_need_be() -> None:
    line = b'{"query":"x","pins":{"a":"1"}}'
    members: dict[str, dict[str, bytes | None]] = {"pins": {"b": b'"2"', "a": None}, "traces": {"a": None}}
    assert update_members(line, members) == b'{"query":"x","pins":{"b":"2"}}'
    assert update_members(b'{"query":"x"}', {"pins": {"b": b'"2"'}}) == b'{"query":"x","pins":{"b":"2"}}'


def test_a_value_may_be_nested_beyond_any_stack() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    assert update_object(b'{"deep":%s,"k":1}' % deep, {"k": b"2"}) == b'{"deep":%s,"k":2}' % deep


def test_a_string_full_of_escapes_is_read_in_one_go() -> None:
    text = b'{"q":"%s","k":1}' % (b'\\"\\\\' * 200_000)
    assert object_values(text)["k"] == b"1"


def test_encoding_follows_an_example() -> None:
    assert encode({"a": [1, 2]}, b'{"x":1,"y":2}') == b'{"a":[1,2]}'
    assert encode({"a": [1, 2]}, b"{}") == b'{"a": [1, 2]}'


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=3), children, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=200)
@given(
    st.dictionaries(st.text(max_size=3), json_values, max_size=4),
    st.dictionaries(st.text(max_size=3), st.none() | st.integers(), max_size=3),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " :\r ")]),
    st.booleans(),
)
def test_an_update_means_what_a_dictionary_update_means(
    before: dict[str, Any], values: dict[str, int | None], separators: tuple[str, str], is_ascii: bool
) -> None:
    text = json.dumps(before, separators=separators, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    raw = {key: None if value is None else b"%d" % value for key, value in values.items()}
    after = {key: value for key, value in before.items() if key not in values or values[key] is not None}
    after |= {key: value for key, value in values.items() if value is not None}
    changed = update_object(text, raw)
    assert json.loads(changed.decode("utf-8", "surrogatepass")) == after
    assert list(json.loads(changed.decode("utf-8", "surrogatepass"))) == list(after)


@settings(deadline=None, max_examples=100)
@given(st.dictionaries(st.text(max_size=3), json_values, min_size=1, max_size=4))
def test_an_update_to_the_same_values_changes_no_byte(before: dict[str, Any]) -> None:
    text = json.dumps(before, ensure_ascii=False).encode("utf-8", "surrogatepass")
    assert update_object(text, dict(object_values(text))) == text
