"""English words that mean the same, by group: general vocabulary of memories about people and systems.

A group is one line; its first word stands for all.
"""

from __future__ import annotations

import re

from negmem.core.text.lexicon import lines_of
from negmem.core.text.likeness_forms import spelled_out


def words_of(text: str) -> list[str]:
    """The words of a list that is written as a text."""
    return text.split()


_WORDS_EN = """
lawyer attorney solicitor
doctor physician
teacher instructor
author writer
programmer coder
car automobile
bike bicycle
flat apartment
film movie
photo photograph picture
holiday vacation
mum mom mother
dad father
kid child children
autumn fall
dinner supper
fridge refrigerator
lift elevator
phone telephone
tv television
database db
documentation docs
configuration config
repository repo
administrator admin
application app
environment env
directory folder
big large
small little
quick fast rapid
purchase buy bought
begin start commence
finish end complete
choose pick select chose chosen decide
postpone delay defer
keep retain kept
remove delete erase deleting
reply answer respond response
ask request
need require
want wish desire hope
prefer favour favor
favourite favorite
colour color
centre center
organise organize
travel journey trip
usual usually normally typically generally ordinarily
often frequently
rarely seldom
fix repair mend
send dispatch
show display
brief short concise
happy glad
ill sick
difficult hard
easy simple
rich wealthy
smart clever
speak talk
error fault
notification alert
kilometre kilometer km
must should shall
can could may might
run execute
verify check
build compile
help assist
spouse partner
garden yard
currently presently
allow permit
forbid prohibit ban
connect link
company firm
salary wage
boss supervisor
mobile cellphone cell
laptop notebook
password passcode
username login_name
meal dish
breakfast brekkie
sofa couch
rubbish trash garbage
pavement sidewalk
petrol gas gasoline
queue line
timetable schedule
subway underground metro tube
cinema movies
sweets candy
trousers pants
jumper sweater
football soccer
maths math mathematics
grandmother grandma granny
grandfather grandpa granddad
puppy pup
cat kitty
woman lady
man guy
surgery operation
bookshop bookstore
oldest eldest
retry reattempt
elderly old
glasses spectacles
medicine medication drug
exam examination
pupil student
salary wage
quarrel argue
assist help aid
answer reply respond
quick quickly fast rapidly swiftly
slow slowly
loud noisy
quiet silent
tidy neat
dirty unclean
expensive costly pricey
cheap inexpensive
angry mad furious
sad unhappy
tired exhausted
scared afraid frightened
near nearby close
entire whole complete
correct right accurate
wrong incorrect
important crucial essential
permission approval consent
deadline due_date
customer client
employee staff worker
invoice bill
contract agreement
discount rebate
price cost
per every each
approx approximately about around roughly
also too
only just solely
main primary
deploy release ship
merge combine
disable deactivate
enable activate
delay lag
increase raise
decrease reduce lower
colleague coworker workmate
"""

_LIGHT_EN = frozenset(
    words_of(
        "a an the of to for in on at with is are am be been being was were has have had having do does did"
        " s this that these those it its there here will would and or but so please really"
        " just also still too quite some any user i me my mine we our us you your he she they his her their"
        " him hers them who whom which what where when get got getting set time date place start between"
        " if into by as from about said says always ever then because already yet"
    )
)
# Verbs that say little beside their object: they may stand in one text alone, where the other has none of its own.
LIGHT_VERBS = frozenset(
    words_of(
        "happen occur 说 own pay drive send hold use keep write job give make take store put receive get see"
        " eat drink watch suffer carry 写 发 开 用 拿 做 交 弄 附上 由 患有 职业 名字 养 吃 喝 看 玩 去 attend"
    )
)


# Little words of which one stands in one text alone and the other in the other: then they do not say the same.
OPPOSED = tuple(
    frozenset(pair.split("/"))
    for pair in words_of(
        "by/to 必须/了 将/已 将/已经 会/已经 打算/已经 打算/了 with/for with/about to/about with/approx to/approx from/to from/for from/into and/or he/she his/her him/her i/he i/she 会/了 将/了 在/了 在/过 希望/了 我/他 我/她 他/她 会/在"
        " my/your my/his my/hers my/their your/his your/hers our/your our/their his/hers his/their hers/their i/you me/you"
        " me/him me/her us/them we/they i/they"
    )
)
# Past forms that groups know; others end in -ed.
# What an order, a habit or a stress adds: it may stand in one text alone, where the other has none of its own.
WEAK = frozenset(
    words_of(
        "per all 每个 must usual currently very 必须 通常 正在 特别 总是 一共 努力 东西 进行 习惯 目前 现在 至今 持续 负责 recent recently originally nam 姓名 成员"
    )
)
PROGRESS = frozenset(words_of("刚 正在 目前 现在 最近 currently"))
ORDERED = (
    frozenset(words_of("希望 必须")),
    frozenset(words_of("nee must")),
)
PAST_FORMS = frozenset(words_of("bought chose kept made gave took sent got"))


def _phrase_table() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines_of("english_phrases.txt"):
        meaning, _, phrases = line.partition(" : ")
        meant = " " if meaning == "-" else f" {meaning.strip()} "
        found |= {spelled_out(phrase.strip()): meant for phrase in phrases.split("|")}
    return found


def group_table(*lines: str) -> dict[str, str]:
    """Each word with the first one of its group; a word counts in its first group, a later group joins it."""
    table: dict[str, str] = {}
    for line in lines:
        words = line.split()
        head = table.get(words[0], words[0])
        for word in words:
            table.setdefault(word, head)
    return table


PHRASES_EN = _phrase_table()
_RUN = re.compile("[a-z0-9]+")
_PHRASES_BY_FIRST: dict[str, list[str]] = {}
for _phrase in PHRASES_EN:
    _PHRASES_BY_FIRST.setdefault(_RUN.findall(_phrase)[0], []).append(_phrase)


def with_meanings(text: str) -> str:
    """`text` with each phrase of the list as what it means, of those that overlap the longest."""
    said = [
        phrase
        for word in set(_RUN.findall(text)) & _PHRASES_BY_FIRST.keys()
        for phrase in _PHRASES_BY_FIRST[word]
        if phrase in text
    ]
    if not said:
        return text
    either = "|".join(map(re.escape, sorted(said, key=len, reverse=True)))
    phrase = rf"(?<![\w'§])(?:{either})(?![\w'])"
    return re.sub(phrase, lambda match: PHRASES_EN[match[0]], text)


WORDS_EN = group_table(
    *_WORDS_EN.strip().splitlines(),
    *(line for line in lines_of("english_more.txt") if line[0] not in "?!"),
)
LIGHT_EN = _LIGHT_EN
