"""Who does what to whom, said in the first person: what memories of a conversation are made of."""

from __future__ import annotations

import pytest

from negmem.core.text.likeness import likeness

APART = [
    ("I report to Nadia", "Nadia reports to me"),
    ("I lent Sam money", "Sam lent me money"),
    ("I taught Ana chess", "Ana taught me chess"),
    ("I called Sam on Monday", "Sam called me on Monday"),
    ("My mother called me", "I called my mother"),
    ("My manager is Sam", "I manage Sam"),
    ("I am older than Sam", "Sam is older than me"),
    ("I owe Sam 50 euros", "Sam owes me 50 euros"),
    ("I bought a car from Sam", "Sam bought a car from me"),
    ("I watch my sister's kids", "My sister watches my kids"),
    ("My dog bit the neighbour", "The neighbour's dog bit me"),
    ("I bought her a book", "She bought me a book"),
    ("The wedding is in my garden", "The wedding is in your garden"),
    ("I know that she is ill", "She knows that I am ill"),
    ("我借给小王一百元", "小王借给我一百元"),
    ("我的徒弟叫小李", "我的师傅叫小李"),
    ("我的上司叫王志宏。", "我的下属叫王志宏。"),
    ("我的上司是个医生。", "我的下属是个医生。"),
    ("我向小李汇报", "小李向我汇报"),
    ("我照顾奶奶", "奶奶照顾我"),
    ("我妈妈教我做饭", "我教我妈妈做饭"),
    ("我的房东是小李", "我的租客是小李"),
    ("我的车比她的贵", "她的车比我的贵"),
    ("他喜欢喝茶", "她喜欢喝茶"),
    ("我该去体检了", "我去体检了"),
    ("我会弹钢琴", "我在弹钢琴"),
    ("我同事挺喜欢听音乐的", "我同事特别爱听音乐会"),
    ("我表姐在山东青岛工作呢", "我表姐她们家在山东青岛"),
]
SAME = [
    ("On Fridays I go to the gym with my wife", "I go to the gym with my wife on Fridays"),
    ("I am fond of green tea", "I love green tea"),
    ("I was bitten by a dog", "A dog bit me"),
    ("我每天早上六点半起床", "每天早上6点半我起床"),
    ("我妈妈的生日是12月25日", "我妈妈的生日是在12月25号"),
    ("我挺喜欢松下的空气净化器", "我特别钟爱松下的空气净化器"),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_another_part_is_another_thing(one: str, other: str) -> None:
    for similarity in (None, 0.95):
        assert not likeness(one, other, similarity).same
        assert not likeness(other, one, similarity).same


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_part_is_the_same(one: str, other: str) -> None:
    assert likeness(one, other).same and likeness(other, one).same
