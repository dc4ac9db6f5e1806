"""Claude Code のものがたり：俳句、障害調査、移行、そして記録だけが残った会話。"""

from __future__ import annotations

from rireki.intake.demo.claude_tools import ask, bash, denied, edit, read
from rireki.intake.demo.steps import Command, DemoAnswer, DemoConversation, DemoPrompt, Rewind, day

__all__ = ["FORGOTTEN", "HAIKU", "STORIES"]

_OPUS = "claude-opus-4-8"

HAIKU = DemoConversation(
    "claude/haiku",
    "/home/aiko/dev/haiku-bot",
    day(3, 21, 40),
    (
        DemoPrompt("git についての俳句を三つお願いします。季語も入れてください。"),
        DemoAnswer(
            "では、晩秋のリポジトリから三句。\n\n"
            "1. 秋深し force push の 跡ひとつ\n"
            "2. マージ待つ 枝の先まで 冬の月\n"
            "3. 行く年や 消えぬはずなり reflog に\n\n"
            "季語は「秋深し」「冬の月」「行く年」です。"
        ),
        DemoPrompt("三つ目が好きです。少しだけ柔らかくできますか？"),
        DemoAnswer(
            "「はずなり」が固いので、口語に寄せてみます。\n\n"
            "> 行く年や reflog にまだ 君がいる\n\n"
            "五・七・五は「ゆくとしや／りふろぐにまだ／きみがいる」で、ぴったり収まります。",
            thinking="「君」は消したはずの枝を指す。擬人化すると柔らかくなる。音数を数える: 5-7-5。",
        ),
        DemoPrompt("完璧です。README の一番上に飾ります。", after=20),
        DemoAnswer("光栄です。消してしまっても、reflog が九十日は覚えていてくれますよ。"),
    ),
    title="git の俳句を三つ",
    model=_OPUS,
)

_POOL = "/home/aiko/仕事/注文サービス/src/orders/pool.py"
_POOL_TEXT = '''"""データベース接続の貸し出し。"""

from queue import Queue


class Pool:
    def __init__(self, size: int = 5) -> None:
        self.free: Queue[Connection] = Queue()
        for _ in range(size):
            self.free.put(connect())

    def run(self, query: str) -> Rows:
        connection = self.free.get(timeout=30)
        rows = connection.execute(query)
        self.free.put(connection)
        return rows
'''
_POOL_OLD = """        rows = connection.execute(query)
        self.free.put(connection)
        return rows"""
_POOL_NEW = """        try:
            return connection.execute(query)
        finally:
            self.free.put(connection)"""
_LOG = """09:12:03 ERROR 注文 48213 を保存できません: deadlock detected
09:12:07 ERROR 注文 48214 を保存できません: deadlock detected
09:14:41 ERROR 接続が取れません: queue.Empty (30.0 秒)
09:15:11 ERROR 接続が取れません: queue.Empty (30.0 秒)
09:15:41 ERROR 接続が取れません: queue.Empty (30.0 秒)"""
_WHEN = "どの時間帯に反映しますか？"

OUTAGE = DemoConversation(
    "claude/outage",
    "/home/aiko/仕事/注文サービス",
    day(9, 9, 21),
    (
        DemoPrompt(
            "今朝 9:15 ごろから注文 API がタイムアウトしています。原因を調べてください。", after=5
        ),
        DemoAnswer(
            "ログ、プロセスの状態、接続プールのコードを同時に見ます。",
            (
                bash("grep ERROR var/log/orders.log | tail -5", "直近のエラーを見る", _LOG),
                bash("curl -s localhost:8080/health", "状態を確認", '{"pool":{"size":5,"free":0}}'),
                read(_POOL, _POOL_TEXT),
            ),
            thinking="タイムアウトの前に deadlock が二件ある。プールの空きが 0。接続が戻っていないのでは。",
        ),
        DemoAnswer(
            "原因が見えました。`connection.execute` が例外を投げると `free.put` に届かず、"
            "**接続が一本ずつ失われます**。9:12 のデッドロックで漏れ始め、9:14 に空きが尽きました。\n\n"
            "まず再起動して注文を受けられるようにします。",
            (
                denied(
                    bash("systemctl restart orders", "サービスを再起動", ""),
                    "再起動は当番の許可が必要です。先にコードを直して、テストを通してください。",
                ),
            ),
        ),
        DemoAnswer(
            "承知しました。再起動はせず、修正から進めます。",
            (edit(_POOL, _POOL_TEXT, _POOL_OLD, _POOL_NEW),),
        ),
        DemoAnswer(
            "", (bash("pytest -q tests/test_pool.py", "プールのテスト", "7 passed in 0.41s"),)
        ),
        DemoAnswer(
            "",
            (
                ask(
                    _WHEN,
                    "反映",
                    {"今すぐ": "注文は止まったままなので最短で", "昼休み": "12:00 に当番と一緒に"},
                    "今すぐ",
                ),
            ),
        ),
        DemoAnswer(
            "では今すぐの手順です。\n\n"
            "1. 当番へ連絡（文面は下に用意しました）\n"
            "2. `git push` のあと、当番が順に再起動\n"
            "3. `/health` の `free` が 5 に戻ることを確認\n\n"
            "> 接続プールの返し忘れが原因でした。修正済み、テスト 7 件成功。再起動をお願いします。"
        ),
        DemoPrompt("当番が再起動して、復旧しました。再発防止を一行でまとめて。", after=600),
        DemoAnswer("「借りたものは `finally` で返す。」――レビューの観点表にも足しておきましょう。"),
    ),
    title="注文 API 障害調査：接続プールの返し忘れ",
    branch="hotfix/pool",
    model=_OPUS,
)

_MENU = "/home/aiko/dev/喫茶店メニュー/menu.toml"
_MENU_TEXT = """[珈琲]
ブレンド = 450
深煎り = 480

[甘味]
プリン = 420
"""

MENU = DemoConversation(
    "claude/menu",
    "/home/aiko/dev/喫茶店メニュー",
    day(11, 14, 5),
    (
        DemoPrompt("メニューを SQLite に移したいです。まず今の形を教えて。", after=5),
        DemoAnswer("ファイルを読みます。", (read(_MENU, _MENU_TEXT),)),
        DemoAnswer(
            "TOML の表が二つ（珈琲・甘味）、品は三つ、値段は円の整数です。素直に一つの表へ移せます。"
        ),
        DemoPrompt("では分類ごとに表を分けて、移行スクリプトを書いてください。"),
        DemoAnswer(
            "分類ごとに `coffee` と `sweets` の表を作る案です。ただ、分類が増えるたびに表が増えます。\n\n"
            "```sql\nCREATE TABLE coffee (name TEXT PRIMARY KEY, yen INTEGER NOT NULL);\n"
            "CREATE TABLE sweets (name TEXT PRIMARY KEY, yen INTEGER NOT NULL);\n```"
        ),
        Rewind(),
        DemoPrompt("やっぱり表は一つにして、分類は列にしてください。", after=30),
        DemoAnswer(
            "その方が長持ちします。\n\n"
            "```sql\nCREATE TABLE menu (\n  name TEXT PRIMARY KEY,\n  kind TEXT NOT NULL,\n"
            "  yen INTEGER NOT NULL CHECK (yen > 0)\n);\n```\n\n移して数を確かめます。",
            (
                bash(
                    "python migrate.py && sqlite3 menu.db 'SELECT kind, count(*) FROM menu GROUP BY kind'",
                    "移行して数える",
                    "珈琲|2\n甘味|1",
                ),
            ),
        ),
        DemoAnswer("三品とも移りました。季節のメロンソーダは `kind = '冷たい飲み物'` で足せます。"),
        Command(
            "rename", "喫茶店メニューを SQLite へ", "Session renamed to: 喫茶店メニューを SQLite へ"
        ),
    ),
    model="claude-sonnet-5",
)

#: The transcript was cleaned away after thirty days; only what was typed is left.
FORGOTTEN = DemoConversation(
    "claude/forgotten",
    "/home/aiko/dev/mug-counter",
    day(28, 8, 30, month=9),
    (
        DemoPrompt("マグカップの在庫を数えるスクリプトを書いて。割れたものは引くこと。", after=5),
        DemoPrompt("棚卸しの日だけ チャットではなくメールで知らせるようにして。", after=400),
        DemoPrompt("ありがとう！ cron には毎月一日の朝七時で。", after=250),
    ),
)

STORIES = (HAIKU, OUTAGE, MENU)
