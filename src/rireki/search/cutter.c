/* Cuts ordinary texts into words and pairs, as tokens.py and pairs.py do, many at once.
 *
 * A first import spends a quarter of its time on that in Python. Which kind of
 * character each one is, Python says in a table: nothing about scripts is decided here.
 * A text with anything out of the ordinary is left to Python as a whole.
 */
#include <stdint.h>
#include <string.h>

/* Tells which text this was made of. */
const uint32_t rireki_cutter_source = SOURCE;

/* What a character is; cutter.py knows them by the same numbers. */
enum { UNKNOWN, SIGN, SPACE, LETTER, JOINED };

/* Kinds of words in pairs, at most. */
#define KINDS 64
/* Identifiers of one text that can be remembered, so that each is taken apart once; fewer are, to
 * keep looking them up short. */
#define ROOM 1024
#define REMEMBERED 768
#define BETWEEN 2

typedef struct {
    const uint8_t *kinds;    /* of every character there is */
    const uint8_t *first;    /* the share of a word's first letter in its kind, by lower case */
    const uint8_t *last;     /* and of its last one */
    const uint8_t *alphabet; /* what is written for a word of each kind */
    uint8_t sign;            /* and where words do not stand side by side */
    int64_t longest;         /* longer words are left to Python */
} Rules;

typedef struct {
    const uint8_t *word;
    int64_t size;
} Identifier;

typedef struct {
    const Rules *rules;
    uint8_t *words, *pairs;     /* where the next ones go */
    uint8_t lower[256];         /* letters of words in lower case; nothing for all else */
    uint8_t seen[KINDS][KINDS]; /* the pairs of this text */
    Identifier met[ROOM];       /* and its identifiers */
    int remembered;             /* how many these are */
    int before;                 /* the kind of the word just before, or -1 */
    int chained;                /* whether it was the last thing written */
} Cutter;

static int is_upper(uint8_t c) { return c >= 'A' && c <= 'Z'; }
static int is_lower(uint8_t c) { return c >= 'a' && c <= 'z'; }
static int is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
static uint8_t lowered(uint8_t c) { return is_upper(c) ? c | 32 : c; }

/* ── pieces of identifiers ── */

/* Where a word made of several begins anew: `camelCase`, `utf8Text`, `HTTPServer`. */
static int has_seam(const uint8_t *word, int64_t size) {
    int small = 0, seam = 0;
    for (int64_t at = 0; at < size; at++) {
        small |= is_lower(word[at]);
        if (at + 1 < size && !is_upper(word[at]) && is_upper(word[at + 1])) seam = 1;
        if (at + 3 < size && is_upper(word[at]) && is_upper(word[at + 1]) &&
            !is_upper(word[at + 2]) && !is_upper(word[at + 3]))
            seam = 1;
    }
    return small && seam;
}

/* Where a piece ends that begins here; the same place when none does. See _PIECE in tokens.py. */
static int64_t piece_end(const uint8_t *word, int64_t at, int64_t size) {
    int64_t end = at;
    while (end < size && is_upper(word[end])) end++;
    int64_t capitals = end - at;
    int goes_on = end < size && is_lower(word[end]);
    if (capitals > 1 && goes_on && word[end] == 's' && !(end + 1 < size && is_lower(word[end + 1]))) {
        end++; /* IDs */
    } else if (capitals > 1 && goes_on) {
        end--; /* HTTP in HTTPServer */
    } else {
        while (end < size && is_lower(word[end])) end++;
        if (end == at) return at;
    }
    while (end < size && is_digit(word[end])) end++;
    return end;
}

/* Whether an identifier is a new one; -1 when there were too many. */
static int is_new(Cutter *cutter, const uint8_t *word, int64_t size) {
    uint32_t hash = 2166136261u;
    for (int64_t at = 0; at < size; at++) hash = (hash ^ word[at]) * 16777619u;
    uint32_t place = (hash ^ hash >> 16) % ROOM;
    for (; cutter->met[place].size; place = (place + 1) % ROOM) {
        Identifier *met = &cutter->met[place];
        if (met->size == size && memcmp(met->word, word, size) == 0) return 0;
    }
    if (cutter->remembered == REMEMBERED) return -1;
    cutter->remembered++;
    cutter->met[place] = (Identifier){word, size};
    return 1;
}

/* Returns 0 when the text is to be left. */
static int write_pieces(Cutter *cutter, const uint8_t *word, int64_t size) {
    if (!has_seam(word, size)) return 1;
    int new = is_new(cutter, word, size);
    if (new <= 0) return new == 0;
    for (int64_t at = 0, end; at < size; at = end > at ? end : at + 1) {
        end = piece_end(word, at, size);
        if (end - at < 2 || end - at == size) continue;
        for (int64_t from = at; from < end; from++) *cutter->words++ = lowered(word[from]);
        *cutter->words++ = ' ';
    }
    return 1;
}

/* ── words ── */

/* Only pairs that the text did not have yet, in chains as long as they go. */
static void write_pair(Cutter *cutter, int kind) {
    const Rules *rules = cutter->rules;
    int before = cutter->before;
    cutter->before = kind;
    if (before < 0 || cutter->seen[before][kind]) {
        cutter->chained = 0;
        return;
    }
    cutter->seen[before][kind] = 1;
    if (!cutter->chained) {
        *cutter->pairs++ = rules->sign;
        *cutter->pairs++ = rules->alphabet[before];
    }
    *cutter->pairs++ = rules->alphabet[kind];
    cutter->chained = 1;
}

/* Returns where the word ends, or -1 when the text is to be left. */
static int64_t write_word(Cutter *cutter, const uint8_t *text, int64_t at) {
    const Rules *rules = cutter->rules;
    const uint8_t *from = text + at, *next = from + 1;
    uint8_t *written = cutter->words, letter;
    *written++ = cutter->lower[*from];
    int capitals = 0; /* behind the first letter */
    while ((letter = cutter->lower[*next])) {
        capitals |= letter ^ *next++;
        *written++ = letter;
    }
    if (next - from > rules->longest) return -1;
    write_pair(cutter, rules->first[*cutter->words] + rules->last[written[-1]]);
    *written++ = ' ';
    cutter->words = written;
    if (capitals && !write_pieces(cutter, from, next - from)) return -1;
    return next - text;
}

/* The character here; its size goes to `size`. Nothing where bytes are no UTF-8: Python gives no such
 * texts, but nobody is to read beyond them. */
static uint32_t character(const uint8_t *text, int64_t left, int *size) {
    uint8_t lead = text[0];
    *size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (*size > left || lead > 0xF3) return 0;
    if (*size == 2) return (lead & 31u) << 6 | (text[1] & 63u);
    if (*size == 3) return (lead & 15u) << 12 | (text[1] & 63u) << 6 | (text[2] & 63u);
    return (lead & 7u) << 18 | (text[1] & 63u) << 12 | (text[2] & 63u) << 6 | (text[3] & 63u);
}

/* All two characters that follow each other, and the last one. Returns where the run ends, or -1 when
 * it is followed by something that Python has to look at. */
static int64_t write_joined(Cutter *cutter, const uint8_t *text, int64_t at, int64_t end) {
    const uint8_t *kinds = cutter->rules->kinds;
    int size, next;
    character(text + at, end - at, &size);
    for (;;) {
        int64_t behind = at + size;
        /* Looked up once: another thread may just be told what the next character is. */
        uint8_t kind = SPACE;
        if (behind < end && text[behind] >= 128)
            kind = kinds[character(text + behind, end - behind, &next)];
        if (kind < SIGN || kind > JOINED) return -1;
        int taken = kind == JOINED ? size + next : size;
        memcpy(cutter->words, text + at, taken);
        cutter->words += taken;
        *cutter->words++ = ' ';
        at = behind;
        if (kind != JOINED) return at;
        size = next;
    }
}

/* Whether the text could be cut. */
static int cut_one(Cutter *cutter, const uint8_t *text, int64_t size) {
    const uint8_t *kinds = cutter->rules->kinds;
    memset(cutter->seen, 0, sizeof cutter->seen);
    if (cutter->remembered) memset(cutter->met, 0, sizeof cutter->met);
    cutter->remembered = 0;
    cutter->before = -1;
    cutter->chained = 0;
    for (int64_t at = 0; at < size;) {
        int length = 1;
        uint32_t code = text[at] < 128 ? text[at] : character(text + at, size - at, &length);
        uint8_t kind = kinds[code];
        if (kind == LETTER) {
            at = write_word(cutter, text, at);
        } else if (kind == SIGN || kind == SPACE) {
            /* Not asked which: nobody can guess what comes next, and a wrong guess takes time. */
            cutter->before |= -(kind == SIGN);
            at += length;
        } else if (kind == JOINED) {
            cutter->before = -1;
            at = write_joined(cutter, text, at, size);
        } else {
            return 0;
        }
        if (at < 0) return 0;
    }
    return 1;
}

/* Cut texts that stand one behind the other, each with BETWEEN or nothing more behind it; they
 * end at `ends`. What became of them stands in `words` and `pairs`, each with BETWEEN behind it;
 * `sizes` says how far. `left` has a 1 for each text that is left to Python. There must be room
 * for 3 bytes for each of a text, and 2 more. */
void rireki_cut(const Rules *rules, const uint8_t *texts, const int64_t *ends, int64_t count,
                uint8_t *words, uint8_t *pairs, uint8_t *left, int64_t *sizes) {
    Cutter cutter = {.rules = rules, .words = words, .pairs = pairs};
    for (int code = 0; code < 128; code++)
        cutter.lower[code] = rules->kinds[code] == LETTER ? lowered(code) : 0;
    int64_t start = 0;
    for (int64_t text = 0; text < count; text++) {
        uint8_t *words_before = cutter.words, *pairs_before = cutter.pairs;
        left[text] = !cut_one(&cutter, texts + start, ends[text] - start);
        if (left[text]) {
            cutter.words = words_before;
            cutter.pairs = pairs_before;
        }
        *cutter.words++ = BETWEEN;
        *cutter.pairs++ = BETWEEN;
        start = ends[text] + 1;
    }
    sizes[0] = cutter.words - words;
    sizes[1] = cutter.pairs - pairs;
}
