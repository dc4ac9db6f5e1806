"""What is asked of all archives together: each statement says itself who may see what of it.

These are the only statements over many owners. Tables of archives are joined by their owner alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rireki.archive.base import Filter

__all__ = ["ACROSS", "conditions_of"]

#: Behind everything that begins with a text.
LAST = chr(0x10FFFF)

#: Of a conversation `c`: it is the reader's own, or shared with a team he is in. `own` is 0, and `team`
#: a team's number, where he keeps to what is shared with that team.
SEEN = """(c.owner = %(own)s OR EXISTS (
           SELECT 1 FROM team_audience s
             JOIN team_member m ON m.team = s.team AND m.person = %(reader)s
            WHERE s.person = c.owner AND s.family = c.family AND s.grouping = c.grouping
              AND (%(team)s = 0 OR s.team = %(team)s)))"""
#: Told of people first: this is cheap, where asking for the audience of each is not.
AMONG = "c.owner + 0 = ANY(%(people)s::bigint[])"
OF_ONE = "c.owner = %(person)s"
ROW = """c.owner, c.number, c.data, c.id, c.title, c.family, c.grouping, c.changed,
         c.updated_at"""
HEADING = """c.owner, c.number, c.id, c.family, c.grouping, c.source, c.nature, c.project, c.title,
             c.updated_at, c.changed, {finished}"""
FINISHED = "c.nature = 'prompts' OR coalesce(c.data::json ->> 'finished' = 'true', false)"

#: Which `{among}` of the people; some at a time, newest first.
LISTED = f"""
    SELECT {ROW} FROM conversation c
     WHERE {{among}} AND {SEEN} {{conditions}}
     ORDER BY c.updated_at DESC NULLS LAST, c.id, c.owner LIMIT %(limit)s
"""
CHOSEN = f"""
    SELECT {ROW} FROM conversation c WHERE c.id = ANY(%(ids)s::text[]) AND {AMONG} AND {SEEN}
"""
#: Whose each of these is, of those that may be seen.
OWNERS = f"""
    SELECT c.id, c.owner FROM conversation c
     WHERE c.id = ANY(%(ids)s::text[]) AND {AMONG} AND {SEEN}
"""
BEGINNING = f"""
    SELECT c.id, c.owner FROM conversation c
     WHERE c.id >= %(prefix)s AND c.id < %(beyond)s AND {AMONG} AND {SEEN}
     ORDER BY c.id, c.owner LIMIT %(limit)s
"""
NATIVE = f"""
    SELECT c.id, c.owner FROM conversation c
     WHERE c.native_id >= %(prefix)s AND c.native_id < %(beyond)s AND {AMONG} AND {SEEN}
     ORDER BY c.native_id, c.owner LIMIT %(limit)s
"""
ALIASED = f"""
    SELECT c.id, c.owner FROM tie t
      JOIN conversation c ON c.owner = t.owner AND c.number = t.conversation
     WHERE t.token >= %(prefix)s AND t.token <= %(beyond)s AND t.kind = 'alias'
       AND t.role = 'offer' AND {AMONG} AND {SEEN}
     ORDER BY c.id, c.owner LIMIT %(limit)s
"""
HEADINGS = f"""
    SELECT {HEADING} FROM conversation c
     WHERE {AMONG} AND {SEEN} {{conditions}} AND (c.owner, c.number) > (%(owner)s, %(number)s)
     ORDER BY c.owner, c.number LIMIT %(limit)s
"""
CHOSEN_HEADINGS = f"""
    SELECT {HEADING} FROM conversation c
     WHERE c.id = ANY(%(ids)s::text[]) AND {AMONG} AND {SEEN}
"""
#: Who has something in a directory that may be seen.
WITHIN = f"""
    SELECT DISTINCT c.owner FROM conversation c
     WHERE ({{of_project}}) AND {AMONG} AND {SEEN} LIMIT %(limit)s
"""
ANSWERS = f"""
    SELECT c.id, c.owner, a.data FROM conversation c
      JOIN answers a ON a.owner = c.owner AND a.conversation = c.number
     WHERE c.id = ANY(%(ids)s::text[]) AND {AMONG} AND {SEEN}
"""
#: Of what is gone its owner alone is told: of others nobody knows any more who might see it.
FED = f"""
    SELECT f.seq, f.person, f.conversation, f.earlier, f.reached FROM team_feed f
      LEFT JOIN conversation c ON c.owner = f.person AND c.id = f.conversation
     WHERE f.seq > %(after)s AND f.seq <= %(until)s
       AND (f.person = %(own)s AND f.reached = 0 OR c.owner IS NOT NULL AND {SEEN})
     ORDER BY f.seq LIMIT %(limit)s
"""

# ── of a page of conversations: `owners` and `numbers` are those of its rows ──

_ROWS = "unnest(%(owners)s::bigint[], %(numbers)s::bigint[]) AS w (owner, number)"
#: With which teams each is shared, of those the reader is in.
TEAMS = f"""
    SELECT c.owner, c.number, t.name FROM {_ROWS}
      JOIN conversation c ON c.owner = w.owner AND c.number = w.number
      JOIN team_audience s
        ON s.person = c.owner AND s.family = c.family AND s.grouping = c.grouping
      JOIN team_member m ON m.team = s.team AND m.person = %(reader)s
      JOIN team_team t ON t.id = s.team
"""
#: To all teams, where it is the reader's own.
OWN_TEAMS = f"""
    SELECT c.owner, c.number, t.name FROM {_ROWS}
      JOIN conversation c ON c.owner = w.owner AND c.number = w.number
      JOIN team_audience s
        ON s.person = c.owner AND s.family = c.family AND s.grouping = c.grouping
      JOIN team_team t ON t.id = s.team
     WHERE c.owner = %(reader)s
"""
CURATIONS = f"""
    SELECT k.owner, k.conversation, k.title, k.tags, k.starred, k.hidden, k.notes FROM {_ROWS}
      JOIN curation k ON k.owner = w.owner AND k.conversation = w.number
"""
#: As in the questions of one archive: who took a place may have had it taken back since.
LINKS = f"""
    SELECT w.owner, w.number, 'parent', k.kind, p.id, k.call_id FROM {_ROWS}
      JOIN link k ON k.owner = w.owner AND k.child = w.number
      JOIN conversation p ON p.owner = k.owner AND p.number = k.parent
     UNION ALL
    SELECT w.owner, w.number, 'child', k.kind, d.id, k.call_id FROM {_ROWS}
      JOIN link k ON k.owner = w.owner AND k.parent = w.number
      JOIN conversation d ON d.owner = k.owner AND d.number = k.child
     UNION ALL
    SELECT w.owner, w.number, 'parent', 'supersedes', p.id, NULL FROM {_ROWS}
      JOIN conversation c ON c.owner = w.owner AND c.number = w.number
      JOIN succession s ON s.owner = c.owner AND s.family = c.family AND s.child = c.native_id
      JOIN conversation p
        ON p.owner = s.owner AND p.family = s.family AND p.native_id = s.parent
     WHERE NOT EXISTS (SELECT 1 FROM succession back
                        WHERE back.owner = s.owner AND back.family = s.family
                          AND back.child = s.parent AND back.at > s.at)
     UNION ALL
    SELECT w.owner, w.number, 'child', 'supersedes', d.id, NULL FROM {_ROWS}
      JOIN conversation c ON c.owner = w.owner AND c.number = w.number
      JOIN succession s ON s.owner = c.owner AND s.family = c.family AND s.parent = c.native_id
      JOIN conversation d
        ON d.owner = s.owner AND d.family = s.family AND d.native_id = s.child
     WHERE NOT EXISTS (SELECT 1 FROM succession back
                        WHERE back.owner = s.owner AND back.family = s.family
                          AND back.child = s.parent AND back.at > s.at)
     ORDER BY 4, 5, 3
"""
#: With which teams a group is shared that somebody asks for.
AUDIENCE = """
    SELECT t.name FROM team_audience s
      JOIN team_member m ON m.team = s.team AND m.person = %(reader)s
      JOIN team_team t ON t.id = s.team
     WHERE s.person = %(person)s AND s.family = %(family)s AND s.grouping = %(grouping)s
       AND (%(team)s = 0 OR s.team = %(team)s)
     ORDER BY t.name
"""
WAITING = """
    SELECT c.owner, c.family, c.conversation, c.number FROM dirty c
     WHERE c.owner + 0 = ANY(%(people)s::bigint[]) AND (c.owner = %(own)s OR EXISTS (
           SELECT 1 FROM team_audience s
             JOIN team_member m ON m.team = s.team AND m.person = %(reader)s
            WHERE s.person = c.owner AND s.family = c.family AND s.grouping = c.conversation
              AND (%(team)s = 0 OR s.team = %(team)s)))
     ORDER BY c.owner, c.family, c.conversation LIMIT %(limit)s
"""
#: Everybody who shares something with a team.
PEOPLE = """
    SELECT a.id FROM team_account a
     WHERE EXISTS (SELECT 1 FROM team_audience s
                    WHERE s.person = a.id AND s.team = %(team)s)
     ORDER BY a.id
"""

# ── figures of everything, by the teams it is shared with, or by whose it is where with none ──

#: Everybody's, or those of one person.
_KEYED = """conversation c LEFT JOIN (
           SELECT person, family, grouping, string_agg(team::text, ',' ORDER BY team) AS teams
             FROM team_audience WHERE {person} GROUP BY person, family, grouping) s
        ON s.person = c.owner AND s.family = c.family AND s.grouping = c.grouping"""
EVERYBODY = {"person": "true", "owner": "true"}
ONE = {"person": "person = %(person)s", "owner": "c.owner = %(person)s"}
_KEY = "coalesce(s.teams, '#' || c.owner::text)"
CELLS = f"""
    SELECT {_KEY}, c.project, c.source, c.nature IN ('subagent', 'notes'),
           strpos(c.data, '"finished":true') > 0 OR c.nature = 'prompts', count(*),
           max(c.updated_at)
      FROM {_KEYED} WHERE {{owner}} GROUP BY 1, 2, 3, 4, 5
"""
#: Turns by the day they began on, of those whose beginnings are `starts`.
DAYS = f"""
    SELECT t.key, width_bucket(t.at, %(starts)s::text[]), count(*)
      FROM (SELECT {_KEY} AS key, json_array_elements_text(c.data::json -> 'turns_at') AS at
              FROM {_KEYED} WHERE c.nature = 'conversation' AND {{owner}}) t GROUP BY 1, 2
"""
WEEKS = f"""
    SELECT {_KEY}, c.updated_at >= %(middle)s, count(*) FILTER (WHERE c.nature = 'conversation'),
           coalesce(sum(coalesce((c.data::json #>> '{{{{usage,input_tokens}}}}')::bigint, 0)
               + coalesce((c.data::json #>> '{{{{usage,output_tokens}}}}')::bigint, 0)
               + coalesce((c.data::json #>> '{{{{usage,cache_read_tokens}}}}')::bigint, 0)
               + coalesce((c.data::json #>> '{{{{usage,cache_write_tokens}}}}')::bigint, 0)), 0)
      FROM {_KEYED} WHERE c.updated_at >= %(begin)s AND {{owner}} GROUP BY 1, 2
"""

#: Every one of them, in each of its forms.
ACROSS = (
    LISTED.format(among=AMONG, conditions=""),
    LISTED.format(among=OF_ONE, conditions=""),
    *(CHOSEN, OWNERS, BEGINNING, NATIVE, ALIASED, ANSWERS, FED, TEAMS, OWN_TEAMS),
    *(CURATIONS, LINKS, AUDIENCE, WAITING, PEOPLE),
    *(each.format(**whose) for each in (CELLS, DAYS, WEEKS) for whose in (EVERYBODY, ONE)),
    HEADINGS.replace("{finished}", FINISHED).replace("{conditions}", ""),
    CHOSEN_HEADINGS.replace("{finished}", "true"),
    WITHIN.format(of_project="c.project = %(folder)s"),
)

_CURATED = """{within} (SELECT 1 FROM curation k
                         WHERE k.owner = c.owner AND k.conversation = c.number AND {fits})"""
#: A JSON list without spaces.
_TAGGED = "strpos(',' || substr(k.tags, 2, length(k.tags) - 2) || ',', %(tag{place})s) > 0"
OWN = "c.owner = %(own)s"


def conditions_of(wanted: Filter, tags: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """What a filter asks for, but for its place in the list; `tags` as they are stored.

    What is starred or hidden is so for its owner alone.
    """
    plain = {
        "source": ("c.source = %(source)s", wanted.source),
        "upstream": ("c.upstream = %(upstream)s", wanted.upstream),
        "since": ("c.updated_at >= %(since)s", wanted.since),
        "before": ("c.updated_at < %(before)s", wanted.before),
        "begun": ("coalesce(c.started_at, c.updated_at) <= %(begun)s", wanted.begun),
    }
    conditions = [condition for condition, value in plain.values() if value is not None]
    values: dict[str, Any] = {name: value for name, (_, value) in plain.items()}
    if wanted.project is not None:
        conditions.append(f"({of_project(wanted.below)})")
        values |= folders(wanted.project)
    for place, word in enumerate((wanted.title or "").split()):
        said = f'lower(%(word{place})s::text COLLATE "C")'
        conditions.append(f"strpos(lower(c.title), {said}) > 0")
        values[f"word{place}"] = word
    for place, tag in enumerate(tags):
        conditions.append(_CURATED.format(within="EXISTS", fits=_TAGGED.format(place=place)))
        values[f"tag{place}"] = f",{tag},"
    if wanted.streams is not None:
        # Laptops do not say what they are called, nor which is which.
        conditions.append("false")
    if wanted.starred:
        conditions += [OWN, _CURATED.format(within="EXISTS", fits="k.starred = 1")]
    if wanted.hidden:
        conditions += [OWN, _CURATED.format(within="EXISTS", fits="k.hidden = 1")]
    elif wanted.hidden is not None:
        conditions.append(_CURATED.format(within="NOT EXISTS", fits="k.hidden > 0"))
    if not wanted.subagents:
        conditions.append("c.nature NOT IN ('subagent', 'notes')")
    return conditions, values


def of_project(below: bool) -> str:
    if not below:
        return "c.project = %(folder)s"
    return """c.project = %(folder)s
              OR c.project >= %(within)s AND c.project < %(without)s
              OR c.project >= %(within_windows)s AND c.project < %(without_windows)s"""


def folders(directory: str) -> dict[str, str]:
    plain, windows = directory.rstrip("/") + "/", directory.rstrip("\\") + "\\"
    return {
        "folder": directory,
        "within": plain,
        "without": plain + LAST,
        "within_windows": windows,
        "without_windows": windows + LAST,
    }
