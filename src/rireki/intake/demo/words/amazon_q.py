"""Amazon Q's stories, and what becomes of two of them when work goes on."""

from __future__ import annotations

from dataclasses import replace

from rireki.intake.demo.q_state import bash, read, use_aws, write
from rireki.intake.demo.steps import Compact, DemoAnswer, DemoConversation, DemoPrompt, day

__all__ = ["BATCH", "CLUSTER", "LATER", "STORIES"]

_MODEL = "claude-sonnet-4"

BATCH = DemoConversation(
    "q/batch",
    "/home/aiko/infra/night-train",
    day(4, 6, 50),
    (
        DemoPrompt("夜間バッチが 3 時間かかるようになりました。先月は 40 分でした。", after=5),
        DemoAnswer(
            "実行記録と、昨夜の待ち時間を見ます。",
            (
                bash(
                    "tail -4 logs/night.log",
                    "昨夜の記録",
                    "売上集計 171m\n在庫 4m\n請求 3m\n完了 02:58",
                ),
                use_aws(
                    "rds", "describe-db-instances", {}, "db.t4g.medium, CPU 12%, IOPS 2,998/3,000"
                ),
            ),
        ),
        DemoAnswer(
            "CPU は暇で、**IOPS が上限に張り付いています**。売上集計だけが遅いので、問い合わせを見ます。",
            (
                bash(
                    "psql -c \"EXPLAIN SELECT sum(yen) FROM sales WHERE sold_on = '2026-11-03'\"",
                    "実行計画",
                    "Seq Scan on sales  (rows=48210344)",
                ),
            ),
        ),
        DemoAnswer(
            "四千八百万行を毎晩全部読んでいます。`sold_on` の索引が、先月の表の作り直しで失われたようです。\n\n"
            "```sql\nCREATE INDEX CONCURRENTLY sales_sold_on ON sales (sold_on);\n```"
        ),
        DemoPrompt("索引を作りました。今夜は？", after=86_400),
        DemoAnswer("昨夜の売上集計は 11 分でした。夜汽車は定刻どおりです。🚂"),
    ),
    model=_MODEL,
)

LAYERS = DemoConversation(
    "q/layers",
    "/home/aiko/dev/kissaten-api",
    day(7, 13, 20),
    (
        DemoPrompt("Why is our container image 1.9 GB?", after=5),
        DemoAnswer(
            "Let me look at its layers.",
            (
                bash(
                    "docker history kissaten-api --format '{{.Size}} {{.CreatedBy}}' | head -3",
                    "List layers",
                    "1.1GB COPY . .\n512MB RUN apt-get install\n180MB RUN pip install",
                ),
                read("/home/aiko/dev/kissaten-api/.dockerignore", "*.pyc\n"),
            ),
        ),
        DemoAnswer(
            "`COPY . .` brings `.git` and the coffee photographs along: 1.1 GB. Ignore both."
        ),
        DemoPrompt("Done. And the compilers?"),
        DemoAnswer(
            "A second stage: build wheels in the first, install only wheels in the last. 214 MB."
        ),
        Compact(
            "## CONVERSATION SUMMARY\n* The image of kissaten-api was 1.9 GB.\n"
            "* .dockerignore now names .git and photos/ (minus 1.1 GB).\n"
            "* A two-stage build leaves the compilers out: 214 MB."
        ),
        DemoPrompt("Write me one line for the commit, please.", after=120),
        DemoAnswer("`Leave the photographs at home: image from 1.9 GB to 214 MB`"),
    ),
    model=_MODEL,
)

_STATE = "/home/aiko/infra/bento-cluster/main.tf"

CLUSTER = DemoConversation(
    "q/cluster",
    "/home/aiko/infra/bento-cluster",
    day(8, 17, 45),
    (
        DemoPrompt(
            "The staging cluster is stuck in `updating` since noon. Get it unstuck.", after=5
        ),
        DemoAnswer(
            "The quickest way is to destroy it and make it anew.",
            (
                bash(
                    "terraform destroy -auto-approve -target=module.staging", "Recreate staging", ""
                ),
            ),
        ),
        DemoPrompt(
            "No! The test data of the whole team is in there. Look at the lock first.", after=8
        ),
        DemoAnswer(
            "Understood: nothing is destroyed. I'll read the lock.",
            (
                bash(
                    "terraform force-unlock -help | head -1; cat .terraform.lock.info",
                    "Read the lock",
                    '{"Who":"ci@runner-7","Created":"2026-11-08T03:01:12Z","Operation":"apply"}',
                ),
                read(_STATE, 'module "staging" {\n  nodes = 3\n}\n'),
            ),
        ),
        DemoAnswer(
            "A CI run took the lock at noon and died with it: `runner-7` no longer exists. Releasing "
            "that one lock is enough, and touches no data.",
            (
                bash(
                    "terraform force-unlock -force 5f1c",
                    "Release the dead lock",
                    "Terraform state has been unlocked",
                ),
            ),
        ),
        DemoAnswer("Unstuck. Staging is `active`, three nodes, the team's data untouched."),
    ),
    model=_MODEL,
)

UNFINISHED = DemoConversation(
    "q/unfinished",
    "/home/aiko/dev/tea-timer",
    day(10, 23, 58),
    (
        DemoPrompt("抽出時間のテストを追加して。玉露は 60 度で 120 秒です。", after=5),
        DemoAnswer(
            "テストを書きます。",
            (
                write(
                    "test/steep.test.ts",
                    "// ここに玉露",
                    "it('玉露は 60 度で 120 秒', () => expect(steep('玉露', 60)).toBe(120));",
                ),
            ),
        ),
    ),
    model=_MODEL,
)

STORIES = (BATCH, LAYERS, CLUSTER, UNFINISHED)

#: A new chat in the same directory: Q keeps one per directory, so the old one is overwritten.
_NEW_CHAT = DemoConversation(
    "q/new-chat",
    BATCH.project,
    day(14, 9, 15),
    (
        DemoPrompt("Which of our night jobs could run in parallel?", after=5),
        DemoAnswer(
            "I'll look at what each of them reads and writes.",
            (
                bash(
                    "grep -h '^# needs:' jobs/*.sh",
                    "Read the needs",
                    "# needs: sales\n# needs: stock\n# needs: sales, stock",
                ),
            ),
        ),
        DemoAnswer(
            "Sales and stock are independent: start both at once. Billing needs both, so it stays last."
        ),
    ),
    model=_MODEL,
)
#: The same conversation later: its beginning is now a summary.
_COMPACTED = replace(
    CLUSTER,
    steps=(
        *CLUSTER.steps,
        Compact(
            "## CONVERSATION SUMMARY\n* Staging was stuck on a lock of a CI runner that had died.\n"
            "* The user denied `terraform destroy`; the lock was released instead.\n"
            "* No data was lost."
        ),
        DemoPrompt("How do we keep runners from dying with a lock in their hands?", after=600),
        DemoAnswer(
            "Give the apply step a timeout shorter than the runner's life, and unlock in its trap."
        ),
    ),
)
LATER = (_NEW_CHAT, _COMPACTED)
