/* The reference game's kernel by hand, in AVX-512: what mipsim's table kernel is measured against. Compiled where the bench runs.

   A game's score is the sum over d coordinates of step[j] x (column drawn from row j of alias tables), modulo 2^32. */
#include <immintrin.h>
#include <stdint.h>

#define VECTORS 4 /* of 16 games, side by side, so that a gather need not be waited for */

typedef struct {
    __m512i a[VECTORS], b[VECTORS], c[VECTORS], count;
} state;

static inline __m512i rotated(__m512i x, const int by) { return _mm512_or_si512(_mm512_slli_epi32(x, by), _mm512_srli_epi32(x, 32 - by)); }

/* sfc32, a small generator with a state: a game's numbers depend on all that were drawn before. */
static inline __m512i sfc32(state *s, int v) {
    __m512i out = _mm512_add_epi32(_mm512_add_epi32(s->a[v], s->b[v]), s->count);
    s->a[v] = _mm512_xor_si512(s->b[v], _mm512_srli_epi32(s->b[v], 9));
    s->b[v] = _mm512_add_epi32(s->c[v], _mm512_slli_epi32(s->c[v], 3));
    s->c[v] = _mm512_add_epi32(rotated(s->c[v], 21), out);
    return out;
}

/* Threefry-2x32-20, JAX's default generator: two words of a counter. */
#define ROUND(by) x = _mm512_add_epi32(x, y); y = _mm512_xor_si512(rotated(y, by), x);
static inline void threefry(__m512i k0, __m512i k1, __m512i x, __m512i y, __m512i out[2]) {
    const __m512i key[3] = {k0, k1, _mm512_xor_si512(_mm512_xor_si512(k0, k1), _mm512_set1_epi32(0x1BD11BDA))};
    x = _mm512_add_epi32(x, k0);
    y = _mm512_add_epi32(y, k1);
    for (int i = 0; i < 5; i++) {
        if (i % 2 == 0) { ROUND(13) ROUND(15) ROUND(26) ROUND(6) } else { ROUND(17) ROUND(29) ROUND(16) ROUND(24) }
        x = _mm512_add_epi32(x, key[(i + 1) % 3]);
        y = _mm512_add_epi32(_mm512_add_epi32(y, key[(i + 2) % 3]), _mm512_set1_epi32(i + 1));
    }
    out[0] = x;
    out[1] = y;
}

/* SplitMix64 of eight counters, as mipsim draws: two words of each. */
static inline __m512i splitmix64(__m512i x) {
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 30)), _mm512_set1_epi64(0xBF58476D1CE4E5B9ull));
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 27)), _mm512_set1_epi64(0x94D049BB133111EBull));
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 31));
}

static inline __m512i drawn(const uint32_t *row, __m512i word, __m128i shift, __m128i bits, __m512i own, __m512i columns) {
    __m512i column = _mm512_srl_epi32(word, shift);
    __m512i entry = _mm512_i32gather_epi32(column, row, 4);
    __mmask16 kept = _mm512_cmplt_epu32_mask(_mm512_and_si512(word, own), _mm512_srl_epi32(entry, bits));
    return _mm512_mask_blend_epi32(kept, _mm512_and_si512(entry, columns), column);
}

/* games: a multiple of 64; d even. which: 0 sfc32, 1 Threefry, 2 SplitMix64. */
void play(int which, const uint32_t *rows, const int32_t *step, int d, int bits, uint64_t seed, long games, int32_t *sums) {
    const int width = 1 << bits;
    const __m512i own = _mm512_set1_epi32((1u << (32 - bits)) - 1), columns = _mm512_set1_epi32(width - 1);
    const __m128i shift = _mm_cvtsi32_si128(32 - bits), by = _mm_cvtsi32_si128(bits);
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    state s;
    for (int v = 0; v < VECTORS; v++) {
        s.a[v] = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)seed + 16 * v));
        s.b[v] = _mm512_mullo_epi32(s.a[v], _mm512_set1_epi32(0x9E3779B9));
        s.c[v] = _mm512_mullo_epi32(s.b[v], _mm512_set1_epi32(0x85EBCA6B));
    }
    s.count = _mm512_set1_epi32(1);
    for (long first = 0; first < games; first += 16 * VECTORS) {
        __m512i total[VECTORS], low[VECTORS], high[VECTORS], game[VECTORS];
        for (int v = 0; v < VECTORS; v++) {
            total[v] = _mm512_setzero_si512();
            game[v] = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)first + 16 * v));
            low[v] = splitmix64(_mm512_add_epi64(_mm512_cvtepu32_epi64(_mm512_castsi512_si256(game[v])), _mm512_set1_epi64(seed)));
            high[v] = splitmix64(_mm512_add_epi64(_mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(game[v], 1)), _mm512_set1_epi64(seed)));
        }
        for (int j = 0; j < d; j += 2) {
            const __m512i golden = _mm512_set1_epi64(0x9E3779B97F4A7C15ull * (uint64_t)(j / 2 + 1));
            for (int v = 0; v < VECTORS; v++) {
                __m512i word[2];
                if (which == 0) {
                    word[0] = sfc32(&s, v);
                    word[1] = sfc32(&s, v);
                } else if (which == 1) {
                    threefry(_mm512_set1_epi32((int)seed), _mm512_set1_epi32((int)(seed >> 32)), game[v], _mm512_set1_epi32(j), word);
                } else {
                    __m512i a = splitmix64(_mm512_add_epi64(low[v], golden)), b = splitmix64(_mm512_add_epi64(high[v], golden));
                    word[0] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(a)), _mm512_cvtepi64_epi32(b), 1);
                    a = _mm512_srli_epi64(a, 32);
                    b = _mm512_srli_epi64(b, 32);
                    word[1] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(a)), _mm512_cvtepi64_epi32(b), 1);
                }
                for (int k = 0; k < 2; k++) {
                    __m512i column = drawn(rows + (long)(j + k) * width, word[k], shift, by, own, columns);
                    total[v] = _mm512_add_epi32(total[v], _mm512_mullo_epi32(column, _mm512_set1_epi32(step[j + k])));
                }
            }
            s.count = _mm512_add_epi32(s.count, _mm512_set1_epi32(2));
        }
        for (int v = 0; v < VECTORS; v++) _mm512_storeu_si512(sums + first + 16 * v, total[v]);
    }
}
