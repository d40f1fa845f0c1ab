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


# Phrases come first, longest first; `\b` is implied at both ends. What they become is read as words again.
_PHRASES_EN = """
not like : dislike | dislikes | disliked | hate | hates | detest | detests | loathe | can't stand | cannot stand | is averse to | no fan of
like : is fond of | are fond of | am fond of | is keen on | am keen on | is a fan of | am a fan of | is into | am into | is partial to | enjoys | enjoy | loves | love | likes | liking
fear : is scared of | is afraid of | am scared of | am afraid of | is frightened of | has a fear of | have a fear of | is terrified of | fears | scared of | afraid of | frightened of | suffers from fear of
job : works as | work as | is working as | am working as | by profession | by trade | for a living | earns a living as | is employed as | profession is | occupation is | job is | is a professional
employer : works for | works at | is employed by | is employed at | work for | work at | is working for | is working at
not need : do not have to | does not have to | did not have to | do not need to | does not need to | need not | is not required to | are not required to
not_anymore : no longer | not any more | not anymore | any longer | has given up | have given up | gave up | has quit | have quit | has stopped | have stopped | quit | stopped | stop
not have : has no | have no | had no | lacks | lack | is without | doesn't have any | does not have any | don't have any
named : nickname is | is nicknamed | goes by the name of | goes by | name is | is the name of | the name of
reside : is based in | is living in | am living in | lives in | live in | resides in | reside in | is resident in | makes a home in | home is in | home is in
is in : is located in | is situated in | are located in | are situated in | is held in | takes place in
visit : been to | gone to see
not_anymore : does not anymore
kubernetes : k8s
postgresql : postgres
javascript : js
typescript : ts
new_to : is new to | am new to | is a beginner in | is a beginner at | am a beginner in | am a beginner at
learn drive : is learning to drive | am learning to drive | is taking driving lessons | takes driving lessons | takes driving classes
graduated : finished studying | completed studies | finished studies
get_up early : is an early riser | am an early riser | is an early bird | am an early bird
several : a few | quite a few | a number of | a handful of
much : large amounts of | a large amount of | a great deal of | a lot of | lots of | plenty of | loads of | tons of
running_late : is behind schedule | are behind schedule | is running late | are running late | is overdue | is delayed
lead : is in charge of | are in charge of | is responsible for | are responsible for | am responsible for | am in charge of | heads
not : avoid | avoids | avoiding | steers clear of | abstains from | refrains from | refrain from
per_night : a night | per night | each night | every night | nightly
planned_for : is planned for | is scheduled for | is set for | is slated for | are planned for | are scheduled for
performed : carried out
perform : carry out | carries out
grow_up : spent his childhood | spent her childhood | spent their childhood | was raised | were raised | grew up | grows up | grow up
has difficulty : has trouble | have trouble | finds it hard to | finds it difficult to | struggles to | struggle to | has a hard time | has difficulties
work_from_home : works from home | work from home | works remotely | work remotely | working from home | working remotely
not married : is single | am single | is unmarried
close_to : near to | close to | next door to | not far from | near | nearby
sci_fi : science fiction | sci-fi | scifi | sci fi
come_from : is originally from | originally from | comes from | come from | was born and raised in | hails from | grew up in
birthday : was born on | is born on | birthday is on | birthday is | birth date is | date of birth is | birthday falls on
commute : goes to work | go to work | gets to work | get to work | travels to work | travel to work | commutes | commute
by_bike : by bike | by bicycle | on a bike | on a bicycle | on bike | cycles | cycle | bikes to | rides a bike | rides a bicycle | ride a bike | ride a bicycle
by_car : by car | drives to | drive to
on_foot : on foot | walks to | walk to
allergic : is allergic to | has an allergy to | has a allergy to | have an allergy to | am allergic to | suffers from an allergy to | allergy to | allergies | allergy
sibling : brothers or sisters | brothers and sisters | sisters or brothers | brother or sister | siblings
not have sibling : an only child | only child
bedtime : goes to bed | go to bed | goes to sleep | go to sleep | bedtime is | turns in
get_up : gets up | get up | getting up | wakes up | wake up | rises at | gets out of bed
sign_in : log in | logs in | login | logging in | sign in | signs in | log on | sign on
sign_out : log out | logs out | sign out | log off
postpone : push back | pushed back | put off | puts off
remove : get rid of | gets rid of
because : due to | owing to | thanks to | on account of | as a result of | since | as
at_least : at least | no less than | not less than | no fewer than | a minimum of | minimum | min | at the least
at_most : at most | no more than | not more than | up to | a maximum of | maximum | limited to | limit is | max | at the most
used_to : used to
new_york_city : new york city | nyc
united_states : united states of america | united states | the us | usa | u.s.
united_kingdom : united kingdom | the uk | great britain
los_angeles : los angeles | l.a.
not eat : skips | skip | goes without
per_day : daily | each day | every single day | every day | a day | per day | day by day | once a day
per_week : weekly | each week | every week | a week | per week | once a week
per_month : monthly | each month | every month | a month | per month | once a month
per_year : yearly | annually | each year | every year | a year | per year | annual | once a year
per_hour : hourly | each hour | every hour | an hour | per hour
every : each
want : would like to | would like | wishes to | is hoping to | hopes to | wants to | want to
plan : is going to | are going to | intends to | intend to | is planning to | plans to | plan to | aims to
can : is able to | are able to | am able to | has the ability to | able to | knows how to | know how to | is capable of
currently : at the moment | right now | at present | these days | nowadays
usually : as a rule | most of the time | tends to | tend to
before : prior to | ahead of
until : till
in_touch : get in touch with | gets in touch with | reach out to
at_night : during the night | overnight
not : never | nobody | none | nothing | neither | nor | is not | are not | was not | were not | am not | does not | do not | did not | not ever
not can : can not | is not able to | are not able to | am not able to | unable to | is unable to | are unable to | am unable to | not able to
not must : may not | is not allowed to | are not allowed to | not permitted to | is not permitted to | are not permitted to | must not | should not | need to not | is forbidden to | are forbidden to
"""

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
salary pay wage
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
        " if into by as from about said says always ever then because"
    )
)
# Verbs that say little beside their object: they may stand in one text alone, where the other has none of its own.
LIGHT_VERBS = frozenset(
    words_of(
        "happen occur 说 own drive send hold use keep write job give make take store put receive get see"
        " eat drink watch suffer 写 发 开 用 拿 做 交 弄 附上 由 职业 名字 养 吃 喝 看 玩"
    )
)


# Little words of which one stands in one text alone and the other in the other: then they do not say the same.
OPPOSED = tuple(
    frozenset(pair.split("/"))
    for pair in words_of(
        "必须/了 打算/了 with/for with/about to/about with/approx to/approx from/to from/for from/into and/or he/she his/her him/her i/he i/she 会/了 将/了 在/了 在/过 希望/了 我/他 我/她 他/她 会/在"
        " my/your my/his my/hers my/their your/his your/hers our/your our/their his/hers his/their hers/their i/you me/you"
        " me/him me/her us/them we/they i/they"
    )
)
# Past forms that groups know; others end in -ed.
# What an order, a habit or a stress adds: it may stand in one text alone, where the other has none of its own.
WEAK = frozenset(
    words_of(
        "per all 每个 must usual currently very 必须 通常 正在 特别 总是 一共 努力 东西 进行 习惯 目前 现在 持续 负责 recent recently nam 姓名 成员"
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
    for line in (*_PHRASES_EN.strip().splitlines(), *lines_of("english_phrases.txt")):
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
PHRASE_EN = re.compile(
    rf"(?<![\w'§])(?:{'|'.join(map(re.escape, sorted(PHRASES_EN, key=len, reverse=True)))})(?![\w'])"
)
WORDS_EN = group_table(
    *_WORDS_EN.strip().splitlines(),
    *(line for line in lines_of("english_more.txt") if line[0] != "?"),
)
LIGHT_EN = _LIGHT_EN
