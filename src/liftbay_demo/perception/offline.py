"""Perception by rules and by likeness, without a language model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from liftbay_demo.domain import KNOWLEDGE_QA, Dialogue, Kind, Mentions, Perceived, Request, Value
from liftbay_demo.memory.knowledge import KnowledgeBase
from liftbay_demo.perception import cues, kinds, oddities
from liftbay_demo.perception.matching import SkillMatching
from liftbay_demo.perception.mentions import mentions_in, together
from liftbay_demo.perception.nicknames import named
from liftbay_demo.perception.places_and_money import countries, prices
from liftbay_demo.perception.quotes import Quoted, quoted
from liftbay_demo.perception.splitting import clauses, without_conjunction
from liftbay_demo.tools.skills import Skill
from liftbay_demo.words import Words, normalised

_REFERENCE = re.compile(
    r"(?:この|その|あの|例の|上の|前の|さっきの|先ほどの|最初の|一つ前の|1つ前の|もう一つの|同じ|当該"
    r"|該当の?|対象の?|同)(?:商品|もの|物|やつ|SKU|ID|件|トレース|コード|エラー|品|国|リクエスト|出品|タグ|変更|期間|方|ほう)"
    r"|(?:これ|それ|あれ)(?!まで|から|と[、もは]?|ぞれ|だけで|なら|じゃ|では|でも|ら)|両方|それぞれ|どちらも|こいつ|こっち"
    r"|そっち|こちら|そちら|上記|当該|さっき|先ほど|同商品|[前後]者|もう片方|片方|(?:[1-9一二三四]|最初|最後)(?:つ|個|番|件)(?:目|め)",
    re.IGNORECASE,
)
_RULES = (
    r"とは|って何|ってなに|仕組み|決まり|ルール|一般|たら|れば|どうなる|すると|上限|下限|基準|手順|方法|やり方"
    r"|場合|種類|定義|どうすれば|どうやって|何営業日|何日(?:後|以内|で)|何件まで|何[個枚本人回]まで|いつまで|考え方|形式|命名|番号の帯"
)
_OF_RULES = re.compile(_RULES)
_GENERAL = re.compile(
    rf"{_RULES}|条件|申請|(?:た|る|い)とき|時は|期限|期間|違い|必要|何日|何回|何件|できます|できる\?|意味|流れ|保存"
)
_A_TOPIC = re.compile(r"(?:変更|在庫|タグ|価格|審査|出品|登録|値段|商品)って(?!いくら|いくつ|誰|だれ|いつ|何個|どう)")
_HAPPENED = re.compile(
    r"さっき|さきほど|先ほど|昨日|きのう|今日|今朝|昨夜|ゆうべ|今しがた|たった今|この前|こないだ|先日|先週|先月|急に"
    r"|(?:出|返っ|表示され|落ち|失敗し|切れ|遅かっ|起き|発生し)(?:た|てた|ちゃった|まし)(?!ら|場合|とき|り)"
)
_HOW_TO_SAY_IT = re.compile(
    r"箇条書き|表(?:で|は|に|形式|なし)|一言|数字だけ|短く|手短|簡潔|詳しめ|の順|順で|順に|並べ|ならべ|まとめて|込みで|こみで"
    r"|先に|そのあと|日本語で|英語で|急ぎ|至急|よろしく"
)
_ELABORATES_WORDS = (
    "原因 理由 対処 対応 担当 詳しい 詳細 内訳 結果 結論 何故 次 一覧 影響 流れ 名前 教える 知る 解決 方法 "
    "チーム 直す 説明 根拠"
)
_ELABORATES = frozenset(_ELABORATES_WORDS.split())
_EMPTY_WORDS = (
    "商品 教える 調べる 見る 見せる 確認 知る 欲しい 願う 今 現在 状況 情報 件 方 全部 全て 一覧 数 幾つ "
    "照会 検索 チェック 分かる 出す 取る 表示 直近 最近 感じ 頼む 急ぐ 至急 済む 誰 何時 何処 何故 如何 "
    "成程 普通 一応 一寸 軽い 早い 同じ 前 先 最初 次 後 番号 id ids 中 内 言える 掛ける 待つ 問題 大丈夫 "
    "気 心配 困る 担当 お客 客 詳しい 詳細 様子 具合 結果 結論 答え 回答 可能 有無 合計 ちゃん 使う 付く "
    "付ける 見れる 見える 貴方 私 僕 俺 社内 うち 別 他 又 再度 もう一度 再 度 回 個 つ 国 分 表 説明 あれ "
    "どう"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())
_AGAIN = re.compile(
    r"もう(?:一度|1度|一回|1回)|再度|もっと(?:詳しく|くわしく)|続き|詳しく(?:教え|お願い|$)|やり直し"
    r"|同じ(?:ように|く|の)"
)
_YES = re.compile(
    r"^(?:はい|うん|ええ|お願い|それで(?:いい|お願い|OK)|OK|ok|いい(?:です|よ)|そうです|合って|正しい|ok)[^?]{0,12}$"
)
_CORRECTS = re.compile(r"じゃな[くい]|ではな[くい]|でな[くい]|間違え|違った|違う|訂正|やっぱり|やっぱ|正しくは|ごめん")
_ABOUT = re.compile(
    r"について(?:教|知|詳|の情報|は|$|、|。)|の?(?:情報|詳細|概要|データ|内容|こと)(?:を|が|は|教|知|$"
    r"|ちょうだい)|教えて|どんな|なんの|何の"
)
_CHECK = re.compile(
    r"(?:出品|タイトル)案|チェック|ルール(?:を)?確認|(?:この|これ|次の|以下の).{0,10}(?:出品|出せ|載せ)"
    r"|出品(?:でき|して(?:も)?(?:いい|良い|大丈夫)|可能か)"
)
_PREFERS = re.compile(
    r"表(?:は|を|なし|じゃ|抜き|形式).{0,8}(?:いらない|不要|なし|使わ|やめ|要らない|にして|抜き)|(?:短く|簡潔に|結論だけ|手短に)"
)
_ALL_OF_IT = re.compile(r"商品(?:情報|の?詳細|データ|内容|名)|基本情報")
_OF_THE_CODE = re.compile(r"[FSW]_[A-Z]{2}_[A-Z_]+_\d{3}\s*(?:の|って|とは|は(?:何|なに))", re.IGNORECASE)
_HINTED_BESIDE = {cues.SELLABLE, cues.STOCK, cues.CHANGES}  # what a trace is about may have to do with these
_ABOUT_A_DRAFT = re.compile(
    r"出品|出せ|出し|載せ|通[るりせ]|い[けか]|行け|ルール|チェック|確認|判定|問題|違反|審査|大丈夫|[?]$"
)
_TITLE = re.compile(
    r"「[^」]{6,}」|『[^』]{6,}』|\"[^\"]{6,}\"|'[^']{6,}'|(?:title|タイトル)\s*(?:案)?\s*[:=は]", re.IGNORECASE
)
_WHICH_OF_THE_LAST = re.compile(r"(?:[1-9一二三四]|最初|最後)(?:つ|個|番|件)(?:目|め)|[前後]者|もう片方")
_VAGUE = re.compile(r"いつもの|例の|あの件|あれ|やつ|お願い|よろしく|見といて|やっといて|頼む")
_PARTS_OF_IT = {cues.STOCK, cues.TAGS, cues.PRODUCT}
_GUESS = 12
_LISTING_VALUES = {"title", "price", "currency", "categoryId"}
_SHORT = 24
_WHICH = re.compile(
    r"(?P<first>前者|(?:1|一)(?:つ|個|番|件)(?:目|め)|最初の)|(?P<second>後者|(?:2|二)(?:つ|個|番|件)(?:目|め))"
)
_CONDITION = re.compile(r"なら|たら|れば|ければ")
_ALSO = re.compile(
    r"(?:は|も|なら|だと|では|じゃあ|の場合|の方|のほう|で|です|でお願い.*|に(?:して|変えて).*|だけ"
    r"|だけなら|分|分は)?[\s??。!、です]*$"
)


class _Clause(NamedTuple):
    text: str
    mentions: Mentions


class _Around(NamedTuple):
    dialogue: Dialogue
    before: list[Request]  # of the same message
    whole: Mentions  # of the whole message


class OfflinePerception:
    """Understands messages by the forms of ids, by cues, and by likeness to the Skills and the knowledge base."""

    def __init__(self, words: Words, knowledge: KnowledgeBase) -> None:
        self._words = words
        self._knowledge = knowledge
        self._matching = SkillMatching(words)
        self._skills: Mapping[str, Skill] = {}

    def use(self, skills: Mapping[str, Skill]) -> None:
        """Match these Skills from now on."""
        self._matching.use(skills)
        self._skills = skills

    async def perceive(self, message: str, dialogue: Dialogue) -> Perceived:
        """What the message asks for."""
        return self.understood(message, dialogue)

    def understood(self, message: str, dialogue: Dialogue) -> Perceived:
        """What the message asks for, at once."""
        text = normalised(oddities.without_markup(message[: 2 * oddities.LONGEST]))
        if oddities.unreadable(text) or oddities.unreadable(message) or oddities.holds_code(text):
            return Perceived((Request(message[:200], Kind.UNREADABLE),))
        quote = quoted(message, text, listing=self._about_a_listing(text, dialogue))
        pieces = clauses(oddities.own_words(quote.text))
        kept = [piece for piece in pieces if not oddities.instructs(quote.restored(piece))]
        ignored = len(kept) < len(pieces) or oddities.instructs(text)
        if not kept:
            kind = Kind.INSTRUCTION if ignored else Kind.UNCLEAR
            return Perceived((Request(text, kind, mentions=mentions_in(text)),), ignored)
        requests = self._requests(kept, quote, dialogue)
        if ignored and all(request.kind in _IDLE for request in requests):
            requests = (Request(text, Kind.INSTRUCTION),)
        return Perceived(requests, ignored)

    def matched(self, name: str) -> str | None:
        """The Skill of that name, where it is loaded."""
        return name if name in self._skills else None

    def _about_a_listing(self, text: str, dialogue: Dialogue) -> bool:
        if cues.LISTING in cues.cued(text) or _described(text):
            return True
        last = dialogue.turns[-1].asked if dialogue.turns else ()
        return any(asked.intent == cues.LISTING for asked in last) and cues.cued(text).keys() <= {cues.PRODUCT}

    def _requests(self, pieces: list[str], quote: Quoted, dialogue: Dialogue) -> tuple[Request, ...]:
        whole = together(mentions_in(quote.plain(piece), quote.title_in(piece)) for piece in pieces)
        found: list[Request] = []
        waiting: list[_Clause] = []  # name things for a request that is still to come
        for piece in pieces:
            text = quote.restored(piece)
            clause = self._clause(piece, quote, dialogue, whole)
            several = self._classified(clause, _Around(dialogue, found, whole))
            if several == [_MERGE]:
                waiting.append(clause)
                continue
            mentions = together([*(one.mentions for one in waiting), clause.mentions])
            text = "".join((*(one.text for one in waiting), text))
            waiting = []
            found += [self._request(one, without_conjunction(text), mentions) for one in several]
        if waiting:
            self._keep(waiting, found, dialogue)
        return self._tidy(found)

    def _clause(self, piece: str, quote: Quoted, dialogue: Dialogue, whole: Mentions) -> _Clause:
        """The piece with what it names, and with what it means by another name."""
        text = quote.restored(piece)
        mentions = mentions_in(quote.plain(piece), quote.title_in(piece))
        products = whole.values.get("productId", ())
        chosen: tuple[Value, ...] = ()
        if len(products) > 1 and not _own_target(mentions) and (which := _WHICH.search(text)):
            chosen = products[:1] if which["first"] else products[1:2]
        if chosen:
            return _Clause(text, together([Mentions({"productId": chosen}), mentions]))
        if _own_target(mentions) or quote.title_in(piece):
            return _Clause(text, mentions)
        values, rest = named(text, dialogue, self._words, self._knowledge.knows)
        return _Clause(rest, together([Mentions(values), mentions])) if values else _Clause(text, mentions)

    def _keep(self, waiting: list[_Clause], found: list[Request], dialogue: Dialogue) -> None:
        """Clauses that only name things belong to the request before, or carry on an earlier turn."""
        mentions = together(one.mentions for one in waiting)
        if found and found[-1].kind in (Kind.SKILL, Kind.KNOWLEDGE):
            last = found[-1]
            found[-1] = Request(
                last.text, last.kind, last.intent, last.skill, last.nearest, together([last.mentions, mentions])
            )
            return
        text = "".join(one.text for one in waiting)
        found += [
            self._request(one, text, mentions) for one in self._without_a_request(_Clause(text, mentions), dialogue)
        ]

    def _request(self, label: _Label, text: str, mentions: Mentions) -> Request:
        if label.skill is None:
            return Request(text, label.kind, nearest=self._matching.of(text).skill, mentions=mentions)
        loaded = self.matched(label.skill)
        if loaded is None:  # whoever cannot do it falls back to the knowledge base
            return Request(text, Kind.KNOWLEDGE, nearest=label.skill, mentions=mentions)
        return Request(text, Kind.SKILL, label.skill, loaded, label.skill, mentions, label.follows)

    def _classified(self, clause: _Clause, around: _Around) -> list[_Label]:
        """What the clause asks for: the first way of telling that tells anything counts."""
        for way in (
            self._as_more_of_a_draft,
            self._by_its_words,
            self._by_cues,
            self._as_an_aside,
            self._as_a_part,
            self._by_what_it_names,
        ):
            if labels := list(way(clause, around)):
                return labels
        return [self._by_likeness(clause, around)]

    def _as_more_of_a_draft(self, clause: _Clause, around: _Around) -> Iterator[_Label]:
        """Whether it adds to the listing that the turns before were about, or changes it."""
        text, mentions = clause
        of_it = bool(_LISTING_VALUES & mentions.values.keys()) and not _own_target(mentions)
        if of_it and _last_skills(around.dialogue) == [cues.LISTING] and cues.cued(text).keys() <= {cues.PRODUCT}:
            yield _Label(Kind.SKILL, cues.LISTING, follows=True)

    def _by_its_words(self, clause: _Clause, around: _Around) -> Iterator[_Label]:
        text, mentions = clause
        if kinds.wants_a_change(text):
            if _CONDITION.search(text) and _own_target(mentions):  # "if it is 0, refill it"
                yield from self._by_cues(clause, around)
            yield _Label(Kind.CHANGE)
        elif kinds.recollections(text) and not _own_target(mentions):
            yield _Label(Kind.RECOLLECTION)
        elif kinds.to_remember(text) and kinds.puts_off(text):
            yield _Label(Kind.STATEMENT)

    def _by_cues(self, clause: _Clause, around: _Around) -> Iterator[_Label]:
        text, mentions = clause
        found = cues.cued(text, hints=self._about_a_thing(clause, around))
        named = _named(mentions)
        if _draft(around.whole) and not _own_target(mentions):  # its title, price and category are not asked for
            found.pop(cues.PRODUCT, None)
            if _draft(mentions) or _ABOUT_A_DRAFT.search(text):
                found = {cues.LISTING: 0, **{name: at for name, at in found.items() if name in (cues.TRACE, cues.CODE)}}
        elif not _wants_a_check(text):
            found.pop(cues.LISTING, None)
        if found.keys() == {cues.PRODUCT} and _over_days(mentions):  # only what has changed is asked for over time
            found = {cues.CHANGES: found[cues.PRODUCT]}
        if cues.TRACE in named:
            asked = {cues.CODE: len(text)} if cues.CODE in named and _OF_THE_CODE.search(text) else {}
            found = {cues.TRACE: 0, **asked, **{name: at for name, at in found.items() if name not in _HINTED_BESIDE}}
        elif cues.CODE in named:
            found = {**found, cues.CODE: found.get(cues.CODE, len(text))}
        for skill in found:
            if skill in named or self._specific(skill, clause, around):
                yield _Label(Kind.SKILL, skill)

    def _as_an_aside(self, clause: _Clause, around: _Around) -> Iterator[_Label]:
        text, mentions = clause
        if kinds.small_talk(text) and not _own_target(mentions):
            yield _Label(Kind.SMALL_TALK)
        elif kinds.to_remember(text) or _PREFERS.search(text):
            yield _Label(Kind.STATEMENT)

    def _as_a_part(self, clause: _Clause, around: _Around) -> Iterator[_Label]:
        """Whether it belongs to what was asked for in this message or in the turn before."""
        text, mentions = clause
        rest = self._rest(text)
        draft = _draft(around.whole) and bool(_LISTING_VALUES & mentions.values.keys())
        elaborates = bool(rest) and rest <= _ELABORATES
        if draft:
            yield _MERGE
        elif elaborates and len(text) <= _SHORT and not around.before and _skill_just_before(around.dialogue):
            yield from (_Label(Kind.SKILL, skill, follows=True) for skill in _last_skills(around.dialogue))
        elif cues.cued(text) and not _own_target(mentions) and not (around.dialogue.turns and _ends_short(text)):
            yield _Label(Kind.KNOWLEDGE)
        elif around.dialogue.turns and _WHICH_OF_THE_LAST.search(text) and _last_named_several(around.dialogue):
            yield from (_Label(Kind.SKILL, skill, follows=True) for skill in _last_skills(around.dialogue))
        elif rest <= _ELABORATES and not mentions.values and around.before and around.before[-1].kind is Kind.SKILL:
            yield _MERGE

    def _by_what_it_names(self, clause: _Clause, around: _Around) -> Iterator[_Label]:
        text, mentions = clause
        rest = self._rest(text)
        if rest and (not _own_target(mentions) or cues.cued(text) or self._known(rest)):
            return
        plain = kinds.tells(text) and not mentions.malformed and not _CORRECTS.search(text)
        if plain and not around.dialogue.turns:
            yield _MERGE if mentions.values else _Label(Kind.STATEMENT)
        elif mentions.values or mentions.malformed:
            yield from self._of_a_target(clause, around.dialogue, rest)
        else:
            yield from self._without_a_request(clause, around.dialogue)

    def _by_likeness(self, clause: _Clause, around: _Around) -> _Label:
        text, mentions = clause
        match = self._matching.of(text)
        written = bool(self._knowledge.search(text, 1))
        if not written and _VAGUE.search(text) and not _own_target(mentions) and not self._known(self._rest(text)):
            return _Label(Kind.UNCLEAR)
        refers = _REFERENCE.search(text) and around.dialogue.profile.products and not written
        if match.close and match.skill and (_own_target(mentions) or refers):
            return _Label(Kind.SKILL, match.skill)
        return _Label(Kind.STATEMENT if kinds.tells(text) and not written else Kind.KNOWLEDGE)

    def _of_a_target(self, clause: _Clause, dialogue: Dialogue, rest: frozenset[str]) -> Iterator[_Label]:
        """The clause names something, and no cue says what is wanted of it."""
        match = self._matching.of(clause.text)
        if rest and match.close and match.skill and _own_target(clause.mentions):
            yield _Label(Kind.SKILL, match.skill)
        elif not kinds.asks(clause.text) and not _ends_short(clause.text):
            yield _MERGE
        else:
            yield from self._without_a_request(clause, dialogue)

    def _without_a_request(self, clause: _Clause, dialogue: Dialogue) -> Iterator[_Label]:
        """Nothing is asked for in so many words: it carries on an earlier turn, or the purpose is unclear."""
        text, mentions = clause
        skills = [skill for skill in _last_skills(dialogue) if _takes(skill, mentions)]
        if skills and not (_own_target(mentions) and "について" in text):
            carries_on = bool(mentions.values or mentions.malformed or mentions.all_countries or mentions.fields)
            accepts = bool(dialogue.turns[-1].offered) and _YES.match(text.strip())
            again = _skill_just_before(dialogue) and (_AGAIN.search(text) or _CORRECTS.search(text))
            if carries_on or accepts or again:
                yield from (_Label(Kind.SKILL, skill, follows=True) for skill in skills)
                return
        talked_about = dialogue.profile.products and _REFERENCE.search(text)
        if (_own_target(mentions) or talked_about) and _ABOUT.search(text):
            yield _Label(Kind.SKILL, cues.PRODUCT)
        elif kinds.tells(text) and not _own_target(mentions):
            yield _Label(Kind.STATEMENT)
        else:
            yield _Label(Kind.UNCLEAR)

    def _about_a_thing(self, clause: _Clause, around: _Around) -> bool:
        """Whether the clause is about a product that is named, or that was just talked about."""
        text, mentions = clause
        if _OF_RULES.search(text) and not _own_target(mentions):
            return False
        if _of_a_product(mentions) or (not _own_target(mentions) and _of_a_product(around.whole)):
            return True
        if not around.dialogue.profile.products or _GENERAL.search(text) or _A_TOPIC.search(text):
            return False
        refers = _REFERENCE.search(text) is not None
        near = _skill_just_before(around.dialogue) and len(text) <= _SHORT
        return refers or (near and (len(text) <= _SHORT // 2 or not self._knowledge.search(text, 1)))

    def _specific(self, skill: str, clause: _Clause, around: _Around) -> bool:
        """Whether the Skill is wanted for something in particular, not the rules behind it in general."""
        if skill == cues.LISTING:
            return True
        if skill in (cues.TRACE, cues.CODE):
            return self._one_incident(skill, clause, around)
        return self._one_product(skill, clause, around)

    def _one_incident(self, skill: str, clause: _Clause, around: _Around) -> bool:
        """Whether it is about one trace or code: named, referred to, or something that has happened."""
        text, _ = clause
        general = _GENERAL.search(text) is not None
        named = skill in _named(around.whole) and not general
        refers = _REFERENCE.search(text) is not None and (bool(around.dialogue.turns) or not general)
        happened = _HAPPENED.search(text) is not None and not _OF_RULES.search(text)
        return named or refers or happened or not (general or self._known(self._rest(text) - _ELABORATES))

    def _one_product(self, skill: str, clause: _Clause, around: _Around) -> bool:
        """Whether it is about one product: named, referred to, or the one that was talked of."""
        text, mentions = clause
        dialogue = around.dialogue
        rest = self._rest(text)
        refers = _REFERENCE.search(text) is not None
        if _own_target(mentions) or refers or (_own_target(around.whole) and not _OF_RULES.search(text)):
            return True
        general = _GENERAL.search(text) is not None or _A_TOPIC.search(text) is not None
        if general and self._knowledge.search(text, 1):
            return False
        if skill == cues.CHANGES and _HAPPENED.search(text) and not general:
            return True
        by_country = bool(mentions.values.get("country")) and not general
        if dialogue.profile.products and not general and (by_country or _skill_just_before(dialogue)):
            return True
        if skill == cues.PRODUCT and not dialogue.profile.products:
            return not self._known(rest) and _ALL_OF_IT.search(text) is not None
        return not self._known(rest if by_country else rest - _ELABORATES)

    def _tidy(self, requests: list[Request]) -> tuple[Request, ...]:
        """Without what is beside the point, and with the same thing asked twice put together."""
        wanted = [one for one in requests if one.kind not in (Kind.SMALL_TALK, Kind.STATEMENT)] or requests[:1]
        if any(one.kind is not Kind.UNCLEAR for one in wanted):
            wanted = [one for one in wanted if one.kind is not Kind.UNCLEAR]
        elif wanted:
            wanted = wanted[:1]
        if any(one.kind is Kind.SKILL for one in wanted):
            wanted = [one for one in wanted if not self._goes_without_saying(one, wanted)]
        wanted = self._questions(wanted)
        merged: dict[str, Request] = {}
        shared = together(one.mentions for one in requests)
        for number, one in enumerate(wanted):
            key = one.intent if one.intent != KNOWLEDGE_QA else f"{one.kind}{number}"
            merged[key] = _joined(merged[key], one) if key in merged else one
        return tuple(_with_shared(one, shared) for one in merged.values())

    def _goes_without_saying(self, request: Request, beside: list[Request]) -> bool:
        """Whether the request is only the background of a Skill's, or says how that is to be answered."""
        if request.kind is Kind.SKILL:
            guess = len(request.text) <= _GUESS and not self._rest(request.text) and not _own_target(request.mentions)
            return guess and request.intent in _PARTS_OF_IT and any(one.intent == cues.SELLABLE for one in beside)
        if request.kind is not Kind.KNOWLEDGE:
            return False
        text = request.text
        if _OF_RULES.search(text) or (_GENERAL.search(text) and len(text) > _GUESS):
            return False
        if not kinds.asks(text) or _HOW_TO_SAY_IT.search(text):
            return True
        return len(text) <= _SHORT and not self._knowledge.search(text, 1)

    def _questions(self, requests: list[Request]) -> list[Request]:
        """Pieces of one question put together: what leads up to it, and what cannot be looked up alone."""
        found: list[Request] = []
        for one in requests:
            last = found[-1] if found else None
            both = last is not None and last.kind is Kind.KNOWLEDGE and one.kind is Kind.KNOWLEDGE
            leads_up = both and last is not None and not kinds.asks(last.text)
            if last is not None and both and (leads_up or not self._knowledge.search(one.text, 1)):
                found[-1] = _joined(last, one)
            else:
                found.append(one)
        return found

    def _rest(self, text: str) -> frozenset[str]:
        """The words that say more than the cues, the ids and the countries do."""
        bare = cues.without_cues(re.sub(r"[A-Za-z]*[_-]?[0-9][0-9A-Za-z_-]*", " ", text))
        for price in sorted(prices(bare), key=lambda one: -one.start):
            bare = bare[: price.start] + " " + bare[price.end :]
        for found in sorted(countries(bare), key=lambda one: -one.start):
            bare = bare[: found.start] + " " + bare[found.end :]
        bare = _CORRECTS.sub(" ", _REFERENCE.sub(" ", bare))
        return frozenset(self._words.of(bare)) - _EMPTY

    def _known(self, rest: frozenset[str]) -> bool:
        """Whether the knowledge base has a word of these."""
        return any(self._knowledge.knows(word) for word in rest)


class _Label(NamedTuple):
    kind: Kind
    skill: str | None = None
    follows: bool = False


_MERGE = _Label(Kind.STATEMENT, "")  # of a clause that only names things for its neighbours
_IDLE = {Kind.SMALL_TALK, Kind.STATEMENT, Kind.UNCLEAR, Kind.INSTRUCTION}


def _draft(mentions: Mentions) -> bool:
    """Whether a listing is described, and not only the rules are asked for."""
    return "title" in mentions.values or {"price", "categoryId"} <= mentions.values.keys()


def _wants_a_check(text: str) -> bool:
    """Whether a draft is to be checked that the message does not describe."""
    return _CHECK.search(text) is not None and not _GENERAL.search(text.replace("ルール", ""))


def _described(text: str) -> bool:
    """Whether the text seems to hold a listing: two of a title, a category and a price, and no product."""
    mentions = mentions_in(text)
    named = {"categoryId", "price"} & mentions.values.keys()
    return not _own_target(mentions) and len(named) + bool(_TITLE.search(text)) >= 2


def _over_days(mentions: Mentions) -> bool:
    return any(isinstance(days, int) and days > 1 for days in mentions.values.get("days", ()))


def _of_a_product(mentions: Mentions) -> bool:
    ids = {"productId", "skuId"}
    return bool(ids & mentions.values.keys()) or any(one.parameter in ids for one in mentions.malformed)


def _takes(skill: str, mentions: Mentions) -> bool:
    """Whether the Skill can be about what is named, if a thing is named at all."""
    if not _own_target(mentions):
        return True
    named = _named(mentions)
    return skill in named if named else skill not in (cues.TRACE, cues.CODE, cues.LISTING)


def _last_named_several(dialogue: Dialogue) -> bool:
    last = dialogue.turns[-1].asked if dialogue.turns else ()
    return any(len(one.values.get(name, ())) > 1 for one in last for name in ("productId", "code", "traceId"))


def _own_target(mentions: Mentions) -> bool:
    ids = {"productId", "skuId", "traceId", "code"}
    return bool(ids & mentions.values.keys()) or any(one.parameter in ids for one in mentions.malformed)


def _last_skills(dialogue: Dialogue) -> list[str]:
    """The Skills of the last turn that had any."""
    for turn in reversed(dialogue.turns):
        if skills := list(dict.fromkeys(one.intent for one in turn.asked if one.kind is Kind.SKILL)):
            return skills
    return []


def _skill_just_before(dialogue: Dialogue) -> bool:
    return bool(dialogue.turns) and any(one.kind is Kind.SKILL for one in dialogue.turns[-1].asked)


def _named(mentions: Mentions) -> frozenset[str]:
    """The Skills for which the thing is named that they are about."""
    parameters = mentions.values.keys() | {one.parameter for one in mentions.malformed}
    about = {"traceId": cues.TRACE, "code": cues.CODE}
    return frozenset(skill for parameter, skill in about.items() if parameter in parameters)


def _ends_short(text: str) -> bool:
    return _ALSO.search(text) is not None


def _joined(earlier: Request, later: Request) -> Request:
    return Request(
        earlier.text + later.text,
        earlier.kind,
        earlier.intent,
        earlier.skill,
        earlier.nearest,
        together([earlier.mentions, later.mentions]),
        earlier.follows and later.follows,
    )


def _with_shared(request: Request, shared: Mentions) -> Request:
    """A request takes over what the rest of the message names, where it names nothing of the sort itself."""
    if request.kind is not Kind.SKILL:
        return request
    own = request.mentions
    values = {name: found for name, found in shared.values.items() if name != "days"} | own.values
    malformed = own.malformed or (() if own.values else shared.malformed)
    return Request(
        request.text,
        request.kind,
        request.intent,
        request.skill,
        request.nearest,
        Mentions(values, malformed, own.all_countries, own.fields),
        request.follows,
    )
