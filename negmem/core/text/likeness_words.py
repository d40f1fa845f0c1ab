"""Words that mean the same, by group, English and Chinese: general vocabulary of memories about people and systems.

A group is one line; its first word stands for all. `-` before it: the others deny it (dislike = not like).
"""

from __future__ import annotations

import re


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
not_anymore : no longer | not any more | not anymore | any longer | has given up | have given up | gave up | has quit | have quit | has stopped | have stopped | quit | stopped | stop
not have : has no | have no | had no | lacks | lack | is without | doesn't have any | does not have any | don't have any
named : goes by the name of | goes by | name is | is the name of | the name of
reside : is based in | is living in | am living in | lives in | live in | resides in | reside in | is resident in | makes a home in | home is in | is located in | is situated in
come_from : is originally from | originally from | comes from | come from | was born and raised in | hails from | grew up in
birthday : was born on | is born on | birthday is on | birthday is | birth date is | date of birth is | birthday falls on
commute : goes to work | go to work | gets to work | get to work | travels to work | travel to work | commutes | commute
by_bike : by bike | by bicycle | on a bike | on a bicycle | on bike | cycles | cycle | bikes to | rides a bike | rides a bicycle | ride a bike | ride a bicycle
by_car : by car | drives to | drive to
on_foot : on foot | walks to | walk to
allergic : is allergic to | has an allergy to | has a allergy to | have an allergy to | am allergic to | suffers from an allergy to | allergy
sibling : brothers or sisters | brothers and sisters | sisters or brothers | brother or sister | siblings
not have sibling : an only child | only child
bedtime : goes to bed | go to bed | goes to sleep | go to sleep | bedtime is | turns in
get_up : gets up | get up | wakes up | wake up | rises at | gets out of bed
sign_in : log in | logs in | login | logging in | sign in | signs in | log on | sign on
sign_out : log out | logs out | sign out | log off
postpone : push back | pushed back | put off | puts off
remove : get rid of | gets rid of
because : due to | owing to | thanks to | on account of | as a result of | since | as
at_least : at least | no less than | not less than | no fewer than | a minimum of | minimum
at_most : at most | no more than | not more than | up to | a maximum of | maximum | limited to | limit is
used_to : used to
new_york_city : new york city | nyc
united_states : united states of america | united states | the us | usa | u.s.
united_kingdom : united kingdom | the uk | great britain
los_angeles : los angeles | l.a.
not eat : skips | skip | goes without
every day : daily | each day | every single day
every week : weekly | each week | once a week
every month : monthly | each month | once a month
every year : yearly | annually | each year | once a year
every : each
not : never | cannot | can not | must not | may not | mustn't | isn't | aren't | wasn't | weren't | doesn't | don't | didn't | won't | can't | couldn't | shouldn't | wouldn't | hasn't | haven't | hadn't | nobody | none | nothing | neither | nor | unable
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
shop store
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
elderly old
glasses spectacles
medicine medication drug
exam examination test
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
increase raise grow
decrease reduce lower
colleague coworker workmate
"""

_LIGHT_EN = frozenset(
    words_of(
        "a an the of to for in on at with is are am be been being was were has have had having do does did"
        " s this that these those it its there here will would and or but so please really"
        " just also still too quite some any user i me my mine we our us you your he she they his her their"
        " him them who whom which what where when get got getting set time date place start between"
        " if into by as from about said says always ever then because"
    )
)
# Verbs that say little beside their object: they may stand in one text alone, where the other has none of its own.
LIGHT_VERBS = frozenset(
    words_of(
        "own drive send hold use keep write job give make take store put receive get see"
        " eat drink watch 写 发 开 用 拿 做 交 弄 附上 由 职业 名字 养 吃 喝 看 玩"
    )
)

_GROUPS_ZH = """
喜欢 爱好 喜爱 热爱 钟爱 偏爱 爱
不喜欢 讨厌 厌恶 反感 不爱 嫌弃 受不了
通常 平时 平常 一般 往常 日常 惯常 习惯
总是 一向 一直 从来 向来 历来 始终
经常 常常 时常 老是 常
早餐 早饭 早点
午餐 午饭 中饭
晚餐 晚饭 夜宵
上班 通勤
乘 坐 搭 搭乘 乘坐
地铁 轨道交通
自行车 单车 脚踏车
汽车 轿车 小车
开车 驾车 自驾
骑车 骑行
睡觉 就寝 入睡 上床 休息
起床 起身
居住 住处 住所 住在 住址 家住 居住地 现居 定居 住
职业 工作 职务 从事
任职 就职 供职
希望 要求 想要 期望 盼望 想 请 要
回答 回复 答复 应答
简短 简洁 简要 简明 精简
详细 详尽
提醒 提示
重要 要紧 关键
管理 保管 掌管 负责
修改 更改 改动 变更 改
删除 删掉 移除 删
禁止 不得 不准 不许 不允许 严禁 不能 不可 不可以 别 不要 请勿 勿
允许 许可 准许 同意 批准
没有 无 没 未经
不少于 至少 最少 不低于
不超过 至多 最多 不高于
长度 位数
每个 每 每逢 逢 一到
周末 双休日
咳嗽 咳
抱怨 吐槽 投诉
浪费 白费
时间 时候
示例 例子 样例 范例
代码 程序
附上 配上 配 附 带上 附带
讲解 解释 说明
名字 名叫 名为 叫做 叫 取名 起名
生日 出生日期 出生于 出生
独生子女 没有兄弟姐妹 独生子 独生女
发放 发
截止 到期 为止
日期 时间
换成 取代 替换 替代 更换 代替
打算 计划 准备 预备
害怕 怕 恐惧
孩子 小孩 子女
妻子 老婆 太太 爱人
丈夫 老公 先生
父亲 爸爸
母亲 妈妈
爷爷 祖父
奶奶 祖母
外婆 姥姥
外公 姥爷
医生 大夫
教师 老师
律师 法律工作者
程序员 码农 软件工程师
手机 移动电话
电脑 计算机
电影 影片
房子 住房
租房 租住
购买 买 购置 买了
开始 启动
结束 完成
服务器 服务端
数据库 库
部署 上线
错误 报错
文档 资料
会议 开会
同事 同僚
领导 上司 老板
公司 企业
过敏 敏感
辣的 辣 辛辣
清淡 口味淡
健身 锻炼
跑步 跑
太 过于
记性 记忆力
别人 他人 旁人
非常 十分 特别 格外 很
不错
未来 将来
饭店 餐馆 餐厅
宾馆 酒店 旅馆
旅行 旅游 出游
火车 列车
出租车 的士 打车
医院 诊所
感冒 伤风
头痛 头疼
失眠 睡不着
体重 重量
减肥 瘦身 减重
素食 吃素 素食者
饮料 饮品
土豆 马铃薯
番茄 西红柿
香菜 芫荽
酸奶 酸牛奶
自行 自己
安静 清静 宁静
热闹 喧闹
生气 恼火 发火
高兴 开心 快乐
难过 伤心
聪明 机灵
漂亮 好看 美丽
便宜 实惠
贵 昂贵
快 迅速
慢 缓慢
帮助 帮忙 协助
讨论 商量 商议
通知 告知 告诉
联系 联络
发送 发出 寄
收到 接到
参加 出席 参与
取消 撤销
推迟 延期 延后 推后
提前 提早
密码 口令
账号 帐号 账户 帐户
登录 登入 登陆
退出 登出
网站 站点
链接 连接
测试 检验
检查 核查 核对
审核 审查 审批
发布 上架
版本 版
仓库 代码库
分支 支线
默认 缺省
配置 设置 设定
目录 文件夹
格式 样式
语言 语种
中文 汉语
英文 英语
客户 顾客
合同 合约 协议
工资 薪水 薪资
奖金 花红
出差 公差
请假 休假
毕业 毕业于
大学 高校
学习 学
阅读 看书 读书
听歌 听音乐
打电话 通话 致电
每日 每天 天天
每周 每星期
每月 每个月
每年 年年
不同
无线
分别
区别
差 不好 不佳
必须 务必 一定要 一定 得
首次 第一次 头一次
打开 加载
不少 许多 很多 较多 好多 大量
由 交由 归
统一 一律
觉得 认为 看来 以为
里面 里
以前 之前 过去 曾经 原来 从前 曾
现在 目前 如今 当前
不再 戒了 戒掉 戒 不做了
"""

# What the first word of a group says beside itself: how often it denies, and what it denies.
_DENIED_ZH = {
    "不喜欢": ("喜欢",),
    "禁止": ("允许",),
    "没有": ("有",),
    "不再": ("不再",),
}
_LIGHT_ZH = frozenset(
    words_of(
        "用户 我 我们 的 了 是 在 着 都 也 还 就 已 已经 会 有 把 将 个 这 那 它 他 她 非常 为 之 于 和 与 及 并"
        " 而 所 地 里面 时 上 位 长度 时间 统一 因为 所以 家 日期 尽量 一些 一点 一下"
        " 们 呢 吧 啊 每次 次 放 被 该 应该 应"
    )
)

# Little words of which one stands in one text alone and the other in the other: then they do not say the same.
OPPOSED = tuple(
    frozenset(pair.split("/"))
    for pair in words_of(
        "from/to from/for from/into and/or he/she his/her him/her i/he i/she 会/了 将/了 希望/了 我/他 我/她"
    )
)
# Past forms that groups know; others end in -ed.
PAST_FORMS = frozenset(words_of("bought chose kept made gave took sent got"))


def _phrase_table() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _PHRASES_EN.strip().splitlines():
        meaning, _, phrases = line.partition(" : ")
        found |= {phrase.strip(): f" {meaning.strip()} " for phrase in phrases.split("|")}
    return found


def _group_table(groups: str) -> dict[str, str]:
    table: dict[str, str] = {}
    for line in groups.strip().splitlines():
        words = line.split()
        for word in words:
            table.setdefault(word, words[0])
    return table


PHRASES_EN = _phrase_table()
PHRASE_EN = re.compile(
    rf"(?<![\w'])(?:{'|'.join(map(re.escape, sorted(PHRASES_EN, key=len, reverse=True)))})(?![\w'])"
)
WORDS_EN = _group_table(_WORDS_EN)
LIGHT_EN = _LIGHT_EN
WORDS_ZH = _group_table(_GROUPS_ZH)
LIGHT_ZH = _LIGHT_ZH
DENIED_ZH = _DENIED_ZH
LONGEST_ZH = max(map(len, WORDS_ZH))
