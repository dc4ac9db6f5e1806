/* Cuts ordinary texts into words, as tokens.py does, many at once.
 *
 * A first import spends half of its time on that in Python. Which kind of
 * character each one is, Python says in tables: nothing about scripts is decided here,
 * but that letters and digits of ASCII make words. A text with anything out of the
 * ordinary is left to Python as a whole. Only for machines that keep the lowest byte first.
 */
#include <stdint.h>
#include <string.h>

/* Tells which text this was made of. */
const uint32_t rireki_tokenizer_source = SOURCE;

/* What a character is; tokenizer.py knows them by the same numbers. */
enum { UNKNOWN, SIGN, SPACE, LETTER, JOINED, FOREIGN };

/* What is between two words, as bits; without any, it is white space or the beginning of the text. */
enum { NOTHING = 1, SIGNS = 2 };

/* Identifiers of one text that can be remembered, so that each is taken apart once; fewer are, to
 * keep looking them up short. */
#define ROOM 1024
#define REMEMBERED 768
#define FOLD 4
#define BETWEEN 2
/* Written between words that have more than white space between them, or nothing. */
#define GAP '|'

typedef struct {
    const uint8_t *kinds; /* of every character there is */
    const uint8_t *folds; /* what becomes of each foreign letter: up to FOLD bytes, then nothing */
    int64_t longest;      /* longer words are left to Python */
} Rules;

typedef struct {
    const uint8_t *word;
    int64_t size;
} Identifier;

typedef struct {
    const Rules *rules;
    Identifier met[REMEMBERED]; /* the identifiers of this text */
    uint16_t places[ROOM];      /* where each is in `met`, counted from 1, by its hash */
    int remembered;             /* how many these are */
} Tokenizer;

/* What changes with every word. Apart from the rest, so that it can be kept in registers. */
typedef struct {
    uint8_t *words; /* where the next one goes */
    int gap;        /* what came since the last one */
} Pen;

/* Only Python knows what to do. Asked once for each character: another thread may just be told what
 * an unknown one is. */
static int is_left(uint8_t kind) { return kind == UNKNOWN || kind > FOREIGN; }
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

/* Whether there was room to remember an identifier. */
static int remember(Tokenizer *tokenizer, const uint8_t *word, int64_t size) {
    uint32_t hash = 2166136261u;
    for (int64_t at = 0; at < size; at++) hash = (hash ^ word[at]) * 16777619u;
    uint32_t place = (hash ^ hash >> 16) % ROOM;
    for (; tokenizer->places[place]; place = (place + 1) % ROOM) {
        Identifier *met = &tokenizer->met[tokenizer->places[place] - 1];
        if (met->size == size && memcmp(met->word, word, size) == 0) return 1;
    }
    if (tokenizer->remembered == REMEMBERED) return 0;
    tokenizer->met[tokenizer->remembered++] = (Identifier){word, size};
    tokenizer->places[place] = (uint16_t)tokenizer->remembered;
    return 1;
}

static uint8_t *write_gap(uint8_t *words) {
    words[0] = GAP;
    words[1] = ' ';
    return words + 2;
}

/* Each with a gap before it: no phrase goes from one to another. Returns where the next words go. */
static uint8_t *write_pieces(const uint8_t *word, int64_t size, uint8_t *words) {
    for (int64_t at = 0, end; at < size; at = end > at ? end : at + 1) {
        end = piece_end(word, at, size);
        if (end - at < 2 || end - at == size) continue;
        words = write_gap(words);
        for (int64_t from = at; from < end; from++) *words++ = lowered(word[from]);
        *words++ = ' ';
    }
    return words;
}

/* Behind all words, so that these stay neighbours. */
static uint8_t *write_all_pieces(Tokenizer *tokenizer, uint8_t *words) {
    for (int at = 0; at < tokenizer->remembered; at++)
        words = write_pieces(tokenizer->met[at].word, tokenizer->met[at].size, words);
    if (tokenizer->remembered) memset(tokenizer->places, 0, sizeof tokenizer->places);
    tokenizer->remembered = 0;
    return words;
}

/* ── words ── */

static uint64_t first_bytes(uint64_t eight, int64_t count) {
    return count < 8 ? eight & (((uint64_t)1 << 8 * count) - 1) : eight;
}

/* How many of eight bytes are letters and digits, from the first one on; these go to `small` in
 * lower case, the others as anything. Looks at all eight at once: where a word ends, nobody can guess. */
static int letters_in(uint64_t eight, uint64_t *small) {
    const uint64_t every = 0x0101010101010101u, high = 0x80 * every;
    uint64_t plain = eight & ~high;
    *small = plain | 0x20 * every;
    /* The highest bit of each byte says whether it reached a bound; no sum is larger than a byte. */
    uint64_t letter = (*small + (0x80 - 'a') * every) & ~(*small + (0x7F - 'z') * every);
    uint64_t digit = (plain + (0x80 - '0') * every) & ~(plain + (0x7F - '9') * every);
    uint64_t others = ~((letter | digit) & ~eight) & high;
    return others ? __builtin_ctzll(others) / 8 : 8;
}

/* The character here; its size goes to `size`. Nothing where bytes are no UTF-8: Python gives no such
 * texts, but nobody is to read beyond them. */
static uint32_t character(const uint8_t *text, int64_t left, int *size) {
    uint8_t lead = text[0];
    *size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (*size > left || lead > 0xF3) return 0;
    uint32_t code = lead & (0xFFu >> (*size + 1));
    for (int at = 1; at < *size; at++) code = code << 6 | (text[at] & 63u);
    return code < 128 ? 0 : code;
}

/* A word with letters beyond ASCII, folded one by one. Returns where it ends, or -1 when the text is to
 * be left: pieces are not looked for. */
static int64_t write_foreign(const Rules *rules, Pen *pen, const uint8_t *text, int64_t at, int64_t end) {
    uint8_t *word = pen->words, *next = word;
    int capital = 0, small = 0;
    for (int64_t from = at; at < end;) {
        int length = 1;
        uint8_t kind = rules->kinds[text[at] < 128 ? text[at] : character(text + at, end - at, &length)];
        if (kind == LETTER) {
            capital |= is_upper(text[at]) && at > from;
            small |= is_lower(text[at]);
            *next++ = lowered(text[at]);
        } else if (kind == FOREIGN) {
            const uint8_t *fold = rules->folds + FOLD * character(text + at, end - at, &length);
            /* Another thread may just be told, and some processors show us the end of it first. */
            if (!*fold) return -1;
            for (int byte = 0; byte < FOLD && fold[byte]; byte++) {
                *next++ = fold[byte];
                small |= fold[byte] < 128;
            }
        } else if (is_left(kind)) {
            return -1;
        } else {
            break;
        }
        at += length;
        if (next - word > rules->longest) return -1;
    }
    if (capital && small) return -1;
    *next++ = ' ';
    pen->words = next;
    return at;
}

/* Returns where the word ends, or -1 when the text is to be left. Looks at up to 7 bytes behind it, and
 * writes over as many. */
static inline int64_t write_word(Tokenizer *tokenizer, Pen *pen, const uint8_t *text, int64_t at, int64_t end) {
    const Rules *rules = tokenizer->rules;
    const uint8_t *from = text + at, *next = from;
    uint8_t *words = pen->words;
    uint64_t eight, small, capitals = 0, counting = ~(uint64_t)0xFF; /* but for its first letter */
    int count;
    do {
        memcpy(&eight, next, 8);
        count = letters_in(eight, &small);
        memcpy(words, &small, 8);
        capitals |= first_bytes(eight ^ small, count) & counting;
        counting = ~(uint64_t)0;
        words += count;
        next += count;
    } while (count == 8);
    int64_t size = next - from;
    if (size > rules->longest) return -1;
    if (*next >= 128) {
        int length;
        uint8_t kind = rules->kinds[character(next, text + end - next, &length)];
        if (is_left(kind)) return -1;
        if (kind == FOREIGN) return write_foreign(rules, pen, text, at, end);
    }
    *words++ = ' ';
    pen->words = words;
    if (capitals && has_seam(from, size) && !remember(tokenizer, from, size)) return -1;
    return at + size;
}

/* All two characters that follow each other, and the last one. Returns where the run ends, or -1 when
 * it is followed by something that Python has to look at. */
static inline int64_t write_joined(const uint8_t *kinds, Pen *pen, const uint8_t *text, int64_t at, int64_t end) {
    int size, next;
    character(text + at, end - at, &size);
    for (;;) {
        int64_t behind = at + size;
        uint8_t kind = SPACE;
        if (behind < end && text[behind] >= 128)
            kind = kinds[character(text + behind, end - behind, &next)];
        if (is_left(kind)) return -1;
        int taken = kind == JOINED ? size + next : size;
        memcpy(pen->words, text + at, taken);
        pen->words[taken] = ' ';
        pen->words += taken + 1;
        at = behind;
        if (kind != JOINED) return at;
        size = next;
    }
}

/* Whether the text could be cut. */
static int cut_one(Tokenizer *tokenizer, uint8_t **words, const uint8_t *text, int64_t size) {
    const Rules *rules = tokenizer->rules;
    const uint8_t *kinds = rules->kinds;
    Pen pen = {*words, 0};
    for (int64_t at = 0; at < size;) {
        int length = 1;
        uint32_t code = text[at] < 128 ? text[at] : character(text + at, size - at, &length);
        uint8_t kind = kinds[code];
        if (kind == SIGN || kind == SPACE) {
            /* Not asked which: nobody can guess what comes next, and a wrong guess takes time. */
            pen.gap = (pen.gap | (kind == SIGN ? SIGNS : 0)) & SIGNS;
            at += length;
            continue;
        }
        uint8_t *behind_gap = write_gap(pen.words);
        pen.words = pen.gap ? behind_gap : pen.words;
        pen.gap = NOTHING;
        if (kind == LETTER) {
            at = write_word(tokenizer, &pen, text, at, size);
        } else if (kind == FOREIGN) {
            at = write_foreign(rules, &pen, text, at, size);
        } else if (kind == JOINED) {
            at = write_joined(kinds, &pen, text, at, size);
        } else {
            return 0;
        }
        if (at < 0) return 0;
    }
    *words = pen.words;
    return 1;
}

/* Cut texts that stand one behind the other, each with BETWEEN or nothing more behind it; they
 * end at `ends`. What became of them stands in `words`, each with BETWEEN behind it. `left` has
 * a 1 for each text that is left to Python. There must be room for 4 bytes for each of a text, 1 more
 * for each text, and 8; as many bytes that are no letters must follow the texts. Returns how many
 * bytes were written. */
int64_t rireki_cut(const Rules *rules, const uint8_t *texts, const int64_t *ends, int64_t count,
                   uint8_t *words, uint8_t *left) {
    Tokenizer tokenizer = {.rules = rules};
    uint8_t *next = words;
    int64_t start = 0;
    for (int64_t text = 0; text < count; text++) {
        left[text] = !cut_one(&tokenizer, &next, texts + start, ends[text] - start);
        uint8_t *behind = write_all_pieces(&tokenizer, next);
        next = left[text] ? next : behind;
        *next++ = BETWEEN;
        start = ends[text] + 1;
    }
    return next - words;
}
