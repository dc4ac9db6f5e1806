/* Cuts ordinary texts into words and pairs, as tokens.py and pairs.py do, many at once.
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

/* Kinds of words in pairs are less than this. */
#define KINDS 64
/* All bits: no kind of words, and no pair with any. */
#define NONE (KINDS - 1)
/* Identifiers of one text that can be remembered, so that each is taken apart once; fewer are, to
 * keep looking them up short. */
#define ROOM 1024
#define REMEMBERED 768
/* Words of one text that are counted; behind so many, counting begins anew. */
#define COUNTED_BITS 11
#define COUNTED (1 << COUNTED_BITS)
#define MANY (COUNTED / 4 * 3)
#define FOLD 4
#define BETWEEN 2

typedef struct {
    const uint8_t *kinds;    /* of every character there is */
    const uint8_t *folds;    /* what becomes of each foreign letter: up to FOLD bytes, then nothing */
    const uint8_t *first;    /* the share of a word's first letter in its kind */
    const uint8_t *last;     /* and of its last one */
    const uint8_t *alphabet; /* what is written for a word of each kind */
    int64_t paired;          /* longer words make no pairs */
    int64_t longest;         /* and these are left to Python */
} Rules;

typedef struct {
    const uint8_t *word;
    int64_t size;
} Identifier;

/* How often a word came so far. */
typedef struct {
    uint64_t key;        /* all its letters, or a hash of more than seven */
    const uint8_t *word; /* where it was written first */
    uint32_t turn;       /* when this was noted; from another turn, it is none */
    uint32_t times;
} Count;

typedef struct {
    const Rules *rules;
    uint8_t seen[KINDS][KINDS]; /* the pairs of this text */
    Identifier met[ROOM];       /* and its identifiers */
    int remembered;             /* how many these are */
    Count counts[COUNTED];      /* of its words */
    int counted;                /* how many these are */
    uint32_t turn;              /* goes on with each text, and whenever there were too many */
} Tokenizer;

/* What changes with every word. Apart from the rest, so that it can be kept in registers. */
typedef struct {
    uint8_t *words, *pairs; /* where the next ones go */
    int before;             /* the kind of the word just before, or NONE */
} Pen;

/* Only Python knows what to do. Asked once for each character: another thread may just be told what
 * an unknown one is. */
static int is_left(uint8_t kind) { return kind == UNKNOWN || kind > FOREIGN; }
static int is_upper(uint8_t c) { return c >= 'A' && c <= 'Z'; }
static int is_lower(uint8_t c) { return c >= 'a' && c <= 'z'; }
static int is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
static uint8_t lowered(uint8_t c) { return is_upper(c) ? c | 32 : c; }

/* ── how often words come ── */

static uint64_t first_bytes(uint64_t eight, int64_t count) {
    return count < 8 ? eight & (((uint64_t)1 << 8 * count) - 1) : eight;
}

/* An odd number without a pattern. */
#define MIX 0x9E3779B97F4A7C15u

/* The key of a word that goes on with these bytes; of the first ones, it is them. */
static uint64_t next_key(uint64_t key, uint64_t bytes) { return (key ^ key >> 29) * MIX + bytes; }

/* As write_word makes it on its way. Looks at up to 8 bytes behind the word. */
static uint64_t key_of(const uint8_t *word, int64_t size) {
    uint64_t key = 0, eight;
    for (int64_t at = 0; at <= size; at += 8) {
        memcpy(&eight, word + at, 8);
        key = next_key(key, first_bytes(eight, size - at));
    }
    return key;
}

/* Where the next word goes: behind this one, just written with a space, if it came for the first, second,
 * fourth, eighth... time; else over it. So the index has a third less to do, and still knows roughly
 * how often a word comes. */
static inline uint8_t *next_word(Tokenizer *tokenizer, uint8_t *word, int64_t size, uint64_t key) {
    int is_long = size > 7;
    /* No short word has such a key. */
    if (is_long) key &= ~(uint64_t)0xFF;
    uint64_t place = key * MIX >> (64 - COUNTED_BITS);
    Count *count = &tokenizer->counts[place];
    while (count->turn == tokenizer->turn &&
           (count->key != key || (is_long && memcmp(count->word, word, size + 1)))) {
        place = (place + 1) % COUNTED;
        count = &tokenizer->counts[place];
    }
    if (count->turn != tokenizer->turn) {
        *count = (Count){key, word, tokenizer->turn, 1};
        if (++tokenizer->counted == MANY) {
            tokenizer->counted = 0;
            tokenizer->turn++;
        }
        return word + size + 1;
    }
    uint32_t times = ++count->times;
    return word + (times & (times - 1) ? 0 : size + 1);
}

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
static int is_new(Tokenizer *tokenizer, const uint8_t *word, int64_t size) {
    uint32_t hash = 2166136261u;
    for (int64_t at = 0; at < size; at++) hash = (hash ^ word[at]) * 16777619u;
    uint32_t place = (hash ^ hash >> 16) % ROOM;
    for (; tokenizer->met[place].size; place = (place + 1) % ROOM) {
        Identifier *met = &tokenizer->met[place];
        if (met->size == size && memcmp(met->word, word, size) == 0) return 0;
    }
    if (tokenizer->remembered == REMEMBERED) return -1;
    tokenizer->remembered++;
    tokenizer->met[place] = (Identifier){word, size};
    return 1;
}

/* Returns where the next words go, or nothing when the text is to be left. */
static uint8_t *write_pieces(Tokenizer *tokenizer, const uint8_t *word, int64_t size, uint8_t *words) {
    if (!has_seam(word, size)) return words;
    int new = is_new(tokenizer, word, size);
    if (new <= 0) return new == 0 ? words : 0;
    for (int64_t at = 0, end; at < size; at = end > at ? end : at + 1) {
        end = piece_end(word, at, size);
        if (end - at < 2 || end - at == size) continue;
        int64_t length = end - at;
        for (int64_t from = 0; from < length; from++) words[from] = lowered(word[at + from]);
        words[length] = ' ';
        words = next_word(tokenizer, words, length, key_of(words, length));
    }
    return words;
}

/* ── words ── */

/* Only pairs that the text did not have yet. It is written in any case, and then maybe written over:
 * nobody can guess whether it is new, and a wrong guess takes longer. */
static inline void write_pair(Tokenizer *tokenizer, Pen *pen, uint8_t first, uint8_t last, int64_t size) {
    const Rules *rules = tokenizer->rules;
    if (size > rules->paired) {
        pen->before = NONE;
        return;
    }
    const uint8_t *alphabet = rules->alphabet;
    int kind = rules->first[first] + rules->last[last];
    uint8_t *seen = &tokenizer->seen[pen->before][kind];
    pen->pairs[0] = alphabet[pen->before];
    pen->pairs[1] = alphabet[kind];
    pen->pairs[2] = ' ';
    pen->pairs += 3 * !*seen;
    *seen = 1;
    pen->before = kind;
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

/* A word with letters beyond ASCII, folded one by one; between these, others make pairs as if each run of
 * them were a word. Returns where it ends, or -1 when the text is to be left: pieces are not looked for. */
static int64_t write_foreign(Tokenizer *tokenizer, Pen *pen, const uint8_t *text, int64_t at, int64_t end) {
    const Rules *rules = tokenizer->rules;
    uint8_t *word = pen->words, *next = word, *run = word;
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
                if (fold[byte] < 128) {
                    small = 1;
                    continue;
                }
                if (next - 1 > run) write_pair(tokenizer, pen, *run, next[-2], next - 1 - run);
                pen->before = NONE;
                run = next;
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
    if (next > run) write_pair(tokenizer, pen, *run, next[-1], next - run);
    *next = ' ';
    pen->words = next_word(tokenizer, word, next - word, key_of(word, next - word));
    return at;
}

/* Returns where the word ends, or -1 when the text is to be left. Looks at up to 7 bytes behind it, and
 * writes over as many. */
static inline int64_t write_word(Tokenizer *tokenizer, Pen *pen, const uint8_t *text, int64_t at, int64_t end) {
    const Rules *rules = tokenizer->rules;
    const uint8_t *from = text + at, *next = from;
    uint8_t *words = pen->words;
    uint64_t eight, small, key = 0, capitals = 0, counting = ~(uint64_t)0xFF; /* but for its first letter */
    int count;
    do {
        memcpy(&eight, next, 8);
        count = letters_in(eight, &small);
        memcpy(words, &small, 8);
        capitals |= first_bytes(eight ^ small, count) & counting;
        counting = ~(uint64_t)0;
        key = next_key(key, first_bytes(small, count));
        words += count;
        next += count;
    } while (count == 8);
    int64_t size = next - from;
    if (size > rules->longest) return -1;
    if (*next >= 128) {
        int length;
        uint8_t kind = rules->kinds[character(next, text + end - next, &length)];
        if (is_left(kind)) return -1;
        if (kind == FOREIGN) return write_foreign(tokenizer, pen, text, at, end);
    }
    write_pair(tokenizer, pen, *from, next[-1], size);
    *words = ' ';
    words = next_word(tokenizer, pen->words, size, key);
    pen->words = capitals ? write_pieces(tokenizer, from, size, words) : words;
    return pen->words ? at + size : -1;
}

/* All two characters that follow each other, and the last one. Returns where the run ends, or -1 when
 * it is followed by something that Python has to look at. */
static inline int64_t write_joined(Tokenizer *tokenizer, Pen *pen, const uint8_t *text, int64_t at,
                                   int64_t end) {
    const uint8_t *kinds = tokenizer->rules->kinds;
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
        pen->words = next_word(tokenizer, pen->words, taken, key_of(pen->words, taken));
        at = behind;
        if (kind != JOINED) return at;
        size = next;
    }
}

/* Whether the text could be cut. */
static int cut_one(Tokenizer *tokenizer, Pen *told, const uint8_t *text, int64_t size) {
    const uint8_t *kinds = tokenizer->rules->kinds;
    Pen pen = {told->words, told->pairs, NONE};
    memset(tokenizer->seen, 0, sizeof tokenizer->seen);
    memset(tokenizer->seen[NONE], 1, sizeof tokenizer->seen[NONE]);
    if (tokenizer->remembered) memset(tokenizer->met, 0, sizeof tokenizer->met);
    tokenizer->remembered = 0;
    tokenizer->counted = 0;
    tokenizer->turn++;
    for (int64_t at = 0; at < size;) {
        int length = 1;
        uint32_t code = text[at] < 128 ? text[at] : character(text + at, size - at, &length);
        uint8_t kind = kinds[code];
        if (kind == LETTER) {
            at = write_word(tokenizer, &pen, text, at, size);
        } else if (kind == FOREIGN) {
            at = write_foreign(tokenizer, &pen, text, at, size);
        } else if (kind == SIGN || kind == SPACE) {
            /* Not asked which: nobody can guess what comes next, and a wrong guess takes time. */
            pen.before |= kind == SIGN ? NONE : 0;
            at += length;
        } else if (kind == JOINED) {
            pen.before = NONE;
            at = write_joined(tokenizer, &pen, text, at, size);
        } else {
            return 0;
        }
        if (at < 0) return 0;
    }
    *told = pen;
    return 1;
}

/* Cut texts that stand one behind the other, each with BETWEEN or nothing more behind it; they
 * end at `ends`. What became of them stands in `words` and `pairs`, each with BETWEEN behind it;
 * `sizes` says how far. `left` has a 1 for each text that is left to Python. There must be room
 * for 3 bytes for each of a text, 1 more for each text, and 8; as many bytes that are no letters
 * must follow the texts. */
void rireki_cut(const Rules *rules, const uint8_t *texts, const int64_t *ends, int64_t count,
                uint8_t *words, uint8_t *pairs, uint8_t *left, int64_t *sizes) {
    Tokenizer tokenizer = {.rules = rules};
    Pen pen = {words, pairs, NONE};
    int64_t start = 0;
    for (int64_t text = 0; text < count; text++) {
        left[text] = !cut_one(&tokenizer, &pen, texts + start, ends[text] - start);
        *pen.words++ = BETWEEN;
        *pen.pairs++ = BETWEEN;
        start = ends[text] + 1;
    }
    sizes[0] = pen.words - words;
    sizes[1] = pen.pairs - pairs;
}
