"""Whether two texts say the same: the guards, as tables, and the labelled pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negmem.core.text.exact_key import exact_key
from negmem.core.text.likeness import likeness
from negmem.core.text.likeness_amounts import chinese_number, marked_amounts

GOLDEN = Path(__file__).parents[2] / "golden" / "exact_duplicates.jsonl"
LABELLED = Path(__file__).parents[2] / "labelled" / "duplicates_dev.jsonl"
MORE = LABELLED.with_name("duplicates_more.jsonl")
ALIKE = LABELLED.with_name("duplicates_alike.jsonl")

SAME = [
    ("The user lives in Lyon.", "User is based in Lyon."),
    ("User is allergic to nuts.", "The user has a nut allergy."),
    ("My favourite colour is green.", "The user's favorite color is green."),
    ("User gets up at half past six.", "User gets up at 6:30."),
    ("The daily standup is at 9 am.", "Daily standup: 09:00"),
    ("User hates mushrooms.", "User does not like mushrooms."),
    ("User has two cats.", "The user owns 2 cats."),
    ("The build takes ninety minutes.", "The build takes 1.5 hours."),
    ("Ben is Clara's brother.", "Clara's brother is Ben."),
    ("User doesn't drink alcohol.", "User never drinks alcohol."),
    ("User prefers dark mode in the editor.", "In the editor, the user prefers dark mode."),
    ("User is married to Tom.", "The user is married to Tom."),
    ("User bought a new bike last week.", "Last week the user purchased a new bicycle."),
    ("The contract ends on December 31, 2025.", "Contract end date: 2025-12-31"),
    ("User speaks German and French.", "User speaks French and German."),
    ("User is vegetarian.", "The user is a vegetarian."),
    ("The team uses Postgres 16 and Redis.", "The team uses Redis and Postgres 16."),
    ("Alice manages Bob.", "Bob is managed by Alice."),
    ("用户住在杭州。", "用户现居杭州。"),
    ("用户每天早上六点半起床。", "用户每天 6:30 起床"),
    ("用户有两只猫。", "用户养了2只猫。"),
    ("用户讨厌香菜。", "用户不喜欢吃香菜。"),
    ("会议在周三下午三点。", "周三 15:00 开会"),
    ("用户的生日是5月20日。", "用户生日：5月20号"),
    ("用户是程序员。", "用户的职业是程序员"),
    ("项目预算为二十万元。", "项目预算 200000 元"),
    ("用户喜欢爬山和游泳。", "用户喜欢游泳和爬山。"),
    ("用户的妹妹叫小敏。", "小敏是用户的妹妹。"),
    ("数据库每天凌晨两点备份。", "每天 02:00 备份数据库。"),
    ("用户偏爱简洁的回答。", "用户喜欢简短的回复。"),
    ("The user's age is 34.", "User is 34 years old."),
    ("The offer is 15% off.", "The offer: a discount of 15%."),
    ("The desk opens from 9 to 5.", "The desk opens 09:00–17:00."),
    ("In winter, the user skis in the Alps.", "The user skis in the Alps in winter."),
    ("Meet José at the station.", "Meet Jose at the station."),
    ("The step-by-step guide is short.", "The step by step guide is short."),
    ("Deploys happen on weekdays.", "Deploys happen Monday through Friday."),
    ("Ms Ortiz sold the boat to Ben.", "Ben bought the boat from Ms Ortiz."),
    ("User has lived abroad for years.", "The user has been living abroad for years."),
    ("Paid nine and a half thousand dollars for it.", "Paid $9,500 for it."),
    ("Ana stopped running on New Year's Day 2022.", "Ana stopped running on 1 January 2022."),
    ("The cafe is closed on Mondays.", "The cafe isn't open on Mondays."),
    ("Nobody but Priya can deploy.", "Only Priya can deploy."),
    ("The user finds Go easier than Rust.", "I find Rust harder than Go."),
    ("User wants metric units in replies.", "Please use metric units in replies."),
    ("The kiosk belongs to Ben.", "Ben is the owner of the kiosk."),
    ("她上个月辞了职。", "她上个月辞职了。"),
    ("车花了三万五台币。", "车花了新台币35,000元。"),
    ("除了小李谁都不能部署。", "只有小李能部署。"),
    ("例会是每周一下午两点半。", "例会是每周一 14:30。"),
    ("用戶住在臺北。", "用户住在台北。"),
    ("用户身高一米八。", "用户身高180厘米。"),
    ("用户月薪三万五。", "用户月薪35000。"),
    ("打八五折。", "优惠 15%。"),
    ("周一到周五上班。", "工作日上班。"),
    ("小诺被小麦骂了。", "小麦骂了小诺。"),
    ("升级之前先备份数据库。", "先备份数据库再升级。"),
    ("冰箱上贴着密码。", "密码贴在冰箱上。"),
    ("密码不得少于12位。", "密码至少十二位。"),
    ("其实用户不能吃辣。", "用户无法吃辣。"),
    ("他毕业于北京大学。", "他毕业于北大。"),
]

APART = [
    ("User was a nurse.", "User is a nurse."),
    ("User smoked.", "User smokes."),
    ("The gift is for Anna.", "The gift is from Anna."),
    ("User flies to Rome.", "User flies from Rome."),
    ("User drinks tea or coffee.", "User drinks tea and coffee."),
    ("User has 3 cats and 2 dogs.", "User has 2 cats and 3 dogs."),
    ("Dogs chase cats.", "Cats chase dogs."),
    ("User likes his boss.", "User likes her boss."),
    ("User works with Anna.", "User works for Anna."),
    ("Ann works at Siemens.", "Anne works at Siemens."),
    ("User wants to learn Spanish.", "User is learning Spanish."),
    ("The limit is more than 5 GB.", "The limit is less than 5 GB."),
    ("User can swim.", "User cannot swim."),
    ("Server A is faster than server B.", "Server B is faster than server A."),
    ("User's mother is a doctor.", "User is a doctor."),
    ("User may leave early.", "User must leave early."),
    ("The alarm is off.", "The alarm is on."),
    ("User moved from Leeds to York.", "User moved from York to Leeds."),
    ("User has a son.", "User has a daughter."),
    ("User lives with parents.", "User's parents live abroad."),
    ("Use tabs for indentation.", "Use spaces for indentation."),
    ("User sold the car.", "User bought the car."),
    ("User visits the gym before work.", "User visits the gym after work."),
    ("User's exam is in May.", "User's exam is in June."),
    ("Only admins can delete posts.", "Admins can delete posts."),
    ("User takes 5 mg daily.", "User takes 5 mg weekly."),
    ("User is learning Python.", "User knows Python."),
    ("Do I like tea?", "I like tea."),
    ("用户要去日本。", "用户去了日本。"),
    ("用户在法国。", "用户是法国人。"),
    ("会议在上午十点。", "会议在晚上十点。"),
    ("用户上周去了医院。", "用户下周去医院。"),
    ("用户比妹妹高。", "妹妹比用户高。"),
    ("小王借了小李一百块。", "小李借了小王一百块。"),
    ("用户以前是老师。", "用户是老师。"),
    ("用户想学日语。", "用户在学日语。"),
    ("用户有哥哥。", "用户有弟弟。"),
    ("服务器在北京。", "服务器在南京。"),
    ("先洗澡再吃饭。", "先吃饭再洗澡。"),
    ("用户能喝酒。", "用户不能喝酒。"),
    ("用户住在楼上。", "用户住在楼下。"),
    ("三只猫两只狗。", "两只猫三只狗。"),
    ("用户从上海飞北京。", "用户从北京飞上海。"),
    ("用户喜欢夏天。", "用户喜欢冬天。"),
    ("用户每周跑两次。", "用户每月跑两次。"),
    ("用户十点前睡。", "用户十点后睡。"),
    ("五人以上免费。", "五人以下免费。"),
    ("用户给妈妈寄了钱。", "妈妈给用户寄了钱。"),
    ("用户是独生子女。", "用户有两个兄弟。"),
    ("用户戒烟了。", "用户抽烟。"),
    ("用户正在找工作。", "用户找到工作了。"),
    ("用户不是不喜欢猫。", "用户不喜欢猫。"),
    ("这个功能已上线。", "这个功能未上线。"),
    ("文件大于10MB。", "文件小于10MB。"),
]

AMOUNTS = [
    ("用户晚上十一点睡觉", "time:23:00"),
    ("bedtime is 11 p.m.", "time:23:00"),
    ("at midnight", "time:00:00"),
    ("六点三刻", "time:06:45"),
    ("half past six", "time:06:30"),
    ("a quarter to 9 pm", "time:20:45"),
    ("千分之三", "%:0.3"),
    ("十八万元", "cny:180000"),
    ("0.5 tb", "byte:500000000000"),
    ("500 gb", "byte:500000000000"),
    ("一斤茶叶", "g:500"),
    ("thirty days", "s:2592000"),
    ("the 3rd of march", "day:03-03"),
    ("2026年12月31日", "date:2026-12-31"),
    ("每个星期天", "weekly:7"),
    ("1,500 euros", "eur:1500"),
    ("offset -5", "n:-5"),
    ("监控在grafana的3000端口", "n:3000"),
    ("一百二", "n:120"),
    ("夜里一点", "time:01:00"),
    ("晚上十点到早上七点", "span:time:22:00~time:07:00"),
    ("1–14 july", "span:day:07-01~day:07-14"),
    ("march 2027", "month:2027-3"),
    ("a 45-minute walk", "s:2700"),
    ("版本 3.20", "n:3.20"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_said_in_other_words(one: str, other: str) -> None:
    assert likeness(one, other).same, likeness(one, other)
    assert likeness(other, one).same


@pytest.mark.parametrize(("one", "other"), APART)
def test_not_the_same_for_all_its_likeness(one: str, other: str) -> None:
    found = likeness(one, other)
    assert not found.same
    assert found.guard
    assert not likeness(other, one).same


@pytest.mark.parametrize(("text", "mark"), AMOUNTS)
def test_an_amount_has_one_form(text: str, mark: str) -> None:
    assert f"§{mark}§" in marked_amounts(text)


def test_guards_are_named() -> None:
    assert likeness("User eats meat.", "User does not eat meat.").guard == "negation"
    assert likeness("Port 8080 is used.", "Port 8081 is used.").guard == "amount"
    assert likeness("Stored in InfluxDB.", "Stored in MariaDB.").guard == "name"
    assert likeness("用户喜欢喝茶。", "用户喜欢喝绿茶。").guard == "detail"
    assert likeness("Sam reports to Nadia.", "Nadia reports to Sam.").guard == "order"
    assert likeness("…", "!!!").guard == "empty"
    assert likeness("a " * 3000, "b " * 3000).guard == "length"


@pytest.mark.parametrize(
    "pair",
    [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()],
    ids=lambda pair: pair["id"],
)
def test_exact_duplicates_follow_the_golden_table(pair: dict[str, object]) -> None:
    a, b = exact_key(str(pair["a"])), exact_key(str(pair["b"]))
    assert (a is not None and a == b) == pair["duplicate"], (a, b)


def test_the_labelled_pairs_of_the_development_half() -> None:
    """Precision 0.98 at recall 0.7 is wanted of the half that nobody has seen."""
    pairs = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    found = [(likeness(pair["a"], pair["b"]).same, pair) for pair in pairs]
    wrong = [pair["id"] for same, pair in found if same and not pair["duplicate"]]
    right = sum(1 for same, pair in found if same and pair["duplicate"])
    assert wrong == []
    assert right / sum(pair["duplicate"] for pair in pairs) >= 0.8


TEXTS = st.text(
    alphabet=st.sampled_from("不没是的用户喜欢茶十半点3.5:- abcNot'?§年月日"), max_size=30
)


@given(one=TEXTS, other=TEXTS)
def test_likeness_is_symmetric_and_total(one: str, other: str) -> None:
    assert likeness(one, other).same == likeness(other, one).same
    key = exact_key(one)
    assert key is None or exact_key(key) in (key, exact_key(exact_key(key) or ""))


@given(number=st.integers(min_value=1, max_value=99_999_999))
def test_chinese_numerals_are_read(number: int) -> None:
    assert chinese_number(_chinese(number)) == number


def _chinese(number: int) -> str:
    digits = "零一二三四五六七八九"
    if number >= 10_000:
        rest = number % 10_000
        gap = "零" if 0 < rest < 1000 else ""
        return _chinese(number // 10_000) + "万" + gap + (_chinese(rest) if rest else "")
    text = ""
    for scale, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, number = divmod(number, scale)
        if digit:
            text += digits[digit] + name
        elif text and number and not text.endswith("零"):
            text += "零"
    return text


def test_no_false_merge_among_more_pairs_however_alike() -> None:
    """With a similarity that lets the lexicon speak, in both directions; and not by finding nothing."""
    lines = [line for file in (MORE, ALIKE) for line in file.read_text("utf-8").splitlines()]
    pairs = [json.loads(line) for line in lines]
    found = [(likeness(pair["a"], pair["b"], 0.95).same, pair) for pair in pairs]
    assert [pair["id"] for same, pair in found if same and not pair["duplicate"]] == []
    for same, pair in found:
        assert likeness(pair["b"], pair["a"], 0.95).same == same, pair["id"]
    right = sum(1 for same, pair in found if same and pair["duplicate"])
    assert right / sum(pair["duplicate"] for pair in pairs) >= 0.6


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Likes 🍵", "Likes 🍺", False),
        ("Anna likes 👍", "Anna likes 👎", False),
        ("任务✅完成", "任务❌完成", False),
        ("The order ❌", "The order", False),
        ("The flat is new :)", "The flat is new :(", False),
        ("Rating of the film: ★★★", "Rating of the film: ★", False),
        ("load x > load y", "load x < load y", False),
        ("We got the flat 🎉", "We got the flat", True),
        ("今天很开心😊", "今天很开心", True),
    ],
)
def test_signs_that_say_something(one: str, other: str, same: bool) -> None:
    assert likeness(one, other, 0.95).same == likeness(other, one, 0.95).same == same
