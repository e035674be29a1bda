"""Headings of tables."""

from __future__ import annotations

import pytest

from enhg.io._headings import has_headings, same_headings

HEADED = [
    "0,1,2\n5,2.5,4",  # of pandas
    "1,2,3,4,5,6\n3,1,4,1,5,9",
    ",0,1,2\na,5,2,4",
    ",400,402\na,5,6",
    ",0\n5,2",
    ",400,402,407\n0,5,6,1",
    "name,0,1,2\na,5,2,4",
    "name,2000,2001,2002,2003\nFrance,60.9,61.4,61.8,62.2",
    "label,4000,3998,3996,3994\nA,.12,.15,.11,.2",
    "name,7157,1956,672,5290\np1,.5,.25,.75,1",
    "400,410,420,430,label\n.12,.15,.11,.2,A",
    "label,550,650\n0,.2,.1",
    "id,4000,3998\n1,.2,.1",
    "400.5,401.5,class\n.2,.1,A",
    "sample,1990,1991,1992,1993,1994,1995\na,3,1,2,0,5,4",
    "run,0,1,2\na,.5,.25,4",
    "f,g,class\n1,2,cat",
    ",f,g\n0,1,2",
    "photo,x1\na.png,5",
    "class,inf,inf\n1,2,3",
    "label\na",
]
NOT_HEADED = [
    "0,1,2\n3,4,5",
    "1,2,3\n3,1,2",
    "0,1,2,3,4,5,6\n0,1,2,3,4,5,6",
    "0,1\n0.5,2.5",
    "4,5,6,7,8,9\n1,2,3,4,5,6",
    "ann,1,2,3\nbob,3,1,2",
    "run1,3,7,9,12,20,31\nrun2,2,2,5,8,9,12",
    "a,5,6,7,8,9,12\nb,2,3,4,5,6,7",
    "class,0.1,0.2\nof,0.3,0.4",
    "y,0.5,0.25\nn,0.5,0.75",
    "a,2,3,5,7,11,13",
    "1e308,-1e308,1\n1,2,3",
    "1,2.5\n-3e2,4",
    ",2,3\n4,5,6",
]


@pytest.mark.parametrize("text", HEADED)
def test_headings(text):
    assert has_headings(*(line.split(",") for line in text.split("\n")))


@pytest.mark.parametrize("text", NOT_HEADED)
def test_samples(text):
    assert not has_headings(*(line.split(",") for line in text.split("\n")))


@pytest.mark.parametrize(
    ("one", "other"),
    [("A", " a"), ("400", "4e2"), ("\u00e9", "e\u0301"), ("", "Unnamed: 3"), ("Unnamed: 0.1", " ")],
)
def test_same_headings(one, other):
    assert same_headings(one, other)
    assert same_headings(other, one)


@pytest.mark.parametrize(("one", "other"), [("a", "b"), ("1", "2"), ("", "a"), ("1", "one")])
def test_other_headings(one, other):
    assert not same_headings(one, other)
