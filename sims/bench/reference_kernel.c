/* The reference game's kernel by hand, in vectors as wide as the CPU's: what mipsim's table kernel is measured against. Compiled where the bench
   runs.

   A game's score is the sum over d coordinates of step[j] x (column drawn from row j of alias tables), modulo 2^32. */
#include <stdint.h>
#include <string.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#define LANES 16
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#else
#define LANES 8
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD 1, 3, 5, 7, 9, 11, 13, 15
#endif

#define VECTORS (1024 / LANES) /* side by side: a row of the table is read from the first cache */

typedef uint32_t u32 __attribute__((vector_size(4 * LANES)));
typedef int32_t i32 __attribute__((vector_size(4 * LANES)));
typedef uint64_t u64 __attribute__((vector_size(4 * LANES)));

typedef struct {
    u32 a[VECTORS], b[VECTORS], c[VECTORS], count;
} state;

static inline u32 rotated(u32 x, const int by) { return (x << by) | (x >> (32 - by)); }

/* sfc32, a small generator with a state: a game's numbers depend on all that were drawn before. */
static inline u32 sfc32(state *s, int v) {
    u32 out = s->a[v] + s->b[v] + s->count;
    s->a[v] = s->b[v] ^ (s->b[v] >> 9);
    s->b[v] = s->c[v] + (s->c[v] << 3);
    s->c[v] = rotated(s->c[v], 21) + out;
    return out;
}

/* Threefry-2x32-20, JAX's default generator: two words of a counter. */
#define ROUND(by) x = x + y; y = rotated(y, by) ^ x;
static inline void threefry(uint32_t k0, uint32_t k1, u32 x, u32 y, u32 out[2]) {
    const uint32_t key[3] = {k0, k1, k0 ^ k1 ^ 0x1BD11BDA};
    x = x + k0;
    y = y + k1;
    for (int i = 0; i < 5; i++) {
        if (i % 2 == 0) { ROUND(13) ROUND(15) ROUND(26) ROUND(6) } else { ROUND(17) ROUND(29) ROUND(16) ROUND(24) }
        x = x + key[(i + 1) % 3];
        y = y + (key[(i + 2) % 3] + i + 1);
    }
    out[0] = x;
    out[1] = y;
}

/* SplitMix64 of half as many counters, as mipsim draws: two words of each. */
static inline u64 splitmix64(u64 x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

static inline u32 looked_up(const uint32_t *row, u32 column) {
#if defined(__AVX512F__)
    return (u32)_mm512_i32gather_epi32((__m512i)column, row, 4);
#else
    u32 found; /* the gathers of AVX2 take four times as long on some CPUs */
    for (int i = 0; i < LANES; i++) found[i] = row[column[i]];
    return found;
#endif
}

static inline u32 drawn(const uint32_t *row, u32 word, int bits) {
    u32 column = word >> (32 - bits), entry = looked_up(row, column);
    i32 own = (i32)(word & ((1u << (32 - bits)) - 1)), kept_below = (i32)(entry >> bits); /* signed: AVX2 compares no others */
    u32 kept = (u32)(own < kept_below);
    return (kept & column) | (~kept & entry & ((1u << bits) - 1));
}

/* games: a multiple of 1024; d even. which: 0 sfc32, 1 Threefry, 2 SplitMix64, 3 words that cost nothing and are not random: the rest's own time. */
void play(int which, const uint32_t *rows, const int32_t *step, int d, int bits, uint64_t seed, long games, int32_t *sums) {
    const int width = 1 << bits;
    u32 lanes;
    for (int i = 0; i < LANES; i++) lanes[i] = i;
    state s;
    for (int v = 0; v < VECTORS; v++) {
        s.a[v] = lanes + (uint32_t)(seed + LANES * v);
        s.b[v] = s.a[v] * 0x9E3779B9u;
        s.c[v] = s.b[v] * 0x85EBCA6Bu;
    }
    s.count = (u32){} + 1;
    for (long first = 0; first < games; first += LANES * VECTORS) {
        u32 total[VECTORS], game[VECTORS];
        u64 low[VECTORS], high[VECTORS];
        for (int v = 0; v < VECTORS; v++) {
            total[v] = (u32){};
            game[v] = lanes + (uint32_t)(first + LANES * v);
            for (int i = 0; i < LANES / 2; i++) low[v][i] = seed + game[v][i], high[v][i] = seed + game[v][LANES / 2 + i];
            low[v] = splitmix64(low[v]);
            high[v] = splitmix64(high[v]);
        }
        for (int j = 0; j < d; j += 2) {
            const uint64_t golden = 0x9E3779B97F4A7C15ull * (uint64_t)(j / 2 + 1);
            for (int v = 0; v < VECTORS; v++) {
                u32 word[2];
                if (which == 0) {
                    word[0] = sfc32(&s, v);
                    word[1] = sfc32(&s, v);
                } else if (which == 1) {
                    threefry((uint32_t)seed, (uint32_t)(seed >> 32), game[v], (u32){} + (uint32_t)j, word);
                } else if (which == 2) {
                    u32 a = (u32)splitmix64(low[v] + golden), b = (u32)splitmix64(high[v] + golden);
                    word[0] = __builtin_shufflevector(a, b, EVEN);
                    word[1] = __builtin_shufflevector(a, b, ODD);
                } else {
                    word[0] = (u32)low[v] + (uint32_t)golden;
                    word[1] = word[0] + 0x9E3779B9u;
                }
                for (int k = 0; k < 2; k++) total[v] += drawn(rows + (long)(j + k) * width, word[k], bits) * (uint32_t)step[j + k];
            }
            s.count += 2;
        }
        memcpy(sums + first, total, sizeof total);
    }
}
