"""Kiro's stories: two of the classic engine, two of the new one."""

from __future__ import annotations

from rireki.intake.demo.q_state import bash, create, read, write
from rireki.intake.demo.steps import Clear, Compact, DemoAnswer, DemoConversation, DemoPrompt, day

__all__ = ["CLASSIC", "SESSIONS"]

_MODEL = "claude-sonnet-4.5"

BOOKING = DemoConversation(
    "kiro/booking",
    "/home/aiko/dev/teahouse-booking",
    day(5, 11, 0),
    (
        DemoPrompt(
            "Write the requirements for booking a table: seats, time, and the cat café corner.",
            after=5,
        ),
        DemoAnswer(
            "1. WHEN a guest asks for more seats than are free THE SYSTEM SHALL offer the next free time.\n"
            "2. WHEN a table is in the cat corner THE SYSTEM SHALL ask about allergies first.\n"
            "3. WHEN a guest is 15 minutes late THE SYSTEM SHALL release the table, but never the cat."
        ),
        DemoPrompt("I love number three. Save it as requirements.md."),
        DemoAnswer(
            "",
            (
                create(
                    "requirements.md",
                    "# Booking\n\n3. … release the table, but never the cat.\n",
                ),
            ),
        ),
        DemoAnswer("Saved. Shall I derive the design from it next?"),
    ),
    model=_MODEL,
)

REVIEW = DemoConversation(
    "kiro/review",
    "/home/aiko/dev/kissaten-api",
    day(13, 15, 30),
    (
        DemoPrompt("このブランチの差分をレビューしてください。厳しめで。", after=5),
        DemoAnswer(
            "差分とテストを見ます。",
            (
                bash(
                    "git diff main --stat",
                    "差分の大きさ",
                    " src/kissaten/coupon.py | 48 ++++++++++",
                ),
                read(
                    "src/kissaten/coupon.py",
                    "def price(yen, percent):\n    return yen * (1 - percent / 100)\n",
                ),
            ),
        ),
        DemoAnswer(
            "指摘は三つです。\n\n"
            "1. 値段が浮動小数になります。`450 * 0.9` は 405.0 で、端数は切り捨てか四捨五入か未定です。\n"
            "2. `percent` が 100 を超えると、お店がお金を払います。\n"
            "3. テストがありません。\n\n"
            "一つ目は `yen * (100 - percent) // 100` で足ります。"
        ),
        DemoPrompt("お店が払うのは困ります。三つとも直します。"),
        DemoAnswer("お客さまは喜びますけれどね。直ったらもう一度見ます。"),
    ),
    model=_MODEL,
)

CLASSIC = (BOOKING, REVIEW)

ALERTS = DemoConversation(
    "kiro/alerts",
    "/home/aiko/infra/night-train",
    day(10, 10, 10),
    (
        DemoPrompt("夜間の警報が多すぎて誰も読んでいません。減らす案をください。", after=5),
        DemoAnswer(
            "まず、どの警報が多いか数えます。",
            (
                bash(
                    "sort alerts/2026-10.txt | uniq -c | sort -rn | head -3",
                    "警報を数える",
                    "412 disk 70%\n 88 latency p99\n  3 payment failed",
                ),
            ),
            thinking="数が多い順に並べ、行動につながらないものから外すのがよい。",
        ),
        DemoAnswer(
            "503 件のうち 412 件が「disk 70%」です。人が何もしない警報なので、朝の一覧に移しましょう。"
        ),
        DemoPrompt("そうします。次は latency です。"),
        DemoAnswer("p99 が 5 分続いたときだけ鳴らすと、88 件が 6 件になります。"),
        Compact(
            "## 要約\n* 十月の警報は 503 件。disk 70% の 412 件は朝の一覧へ移した。\n"
            "* latency p99 は 5 分続いたときだけ鳴らす（88 件から 6 件）。\n* payment failed はそのまま。"
        ),
        DemoPrompt("最後に、当番へのお知らせ文を書いて。", after=120),
        DemoAnswer(
            "「今夜から警報は、鳴ったら起きる価値のあるものだけになります。先月なら 9 回です。」"
        ),
    ),
    model=_MODEL,
)

BOT = DemoConversation(
    "kiro/bot",
    "/home/aiko/dev/haiku-bot",
    day(12, 22, 5),
    (
        DemoPrompt("How does the bot count syllables in English?", after=5),
        DemoAnswer(
            "Let me read it.",
            (
                read(
                    "src/count.py",
                    "def syllables(word):\n    return max(1, len(re.findall('[aeiouy]+', word)))\n",
                ),
            ),
        ),
        DemoAnswer('It counts groups of vowels. "Merge" gives two instead of one: the silent e.'),
        Clear(),
        DemoPrompt("Fresh start: fix the silent e, with a test.", after=60),
        DemoAnswer(
            "",
            (
                write("src/count.py", "'[aeiouy]+', word", "'[aeiouy]+', word.removesuffix('e')"),
                bash("pytest -q", "Run the tests", "12 passed in 0.09s"),
            ),
        ),
        DemoAnswer(
            "Fixed:\n\n> merge without conflict\n> the build turns green in the dark\n> somewhere a cat sleeps"
        ),
    ),
    model=_MODEL,
)

SESSIONS = (ALERTS, BOT)
