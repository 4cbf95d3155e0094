/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread of reduce_many gathers of one output, element by element: bits, extremes and integers. A form has
 * the pass's constants; its state is what threads join, words that shuffles can move.
 */
#pragma once

#include "join.cuh"

/*
 * Of a form: one_t, which takes single elements; BYTES that are loaded at once (0: an element's, of any type) with
 * PACKED elements of one output, or with one of each of OUTPUTS outputs, of each of which the state has a part;
 * whether nothing() is bits that can be taken without adding anything; whether outputs that are not proved are done
 * again at once (redo.cuh); whether elements may have partners.
 */

/* What BYTES of elements are loaded as. */
template <int BYTES>
using raw_of = std::conditional_t<BYTES == 16, uint4, std::conditional_t<BYTES % 8 == 0, uint64_t, uint32_t>>;

template <int BYTES> __device__ __forceinline__ raw_of<BYTES> load_unit(const unsigned char *at, uint32_t bytes) {
    if constexpr (BYTES == 0)
        return load_raw(bytes, at);
    else if constexpr (BYTES == 1)
        return *at;
    else if constexpr (BYTES == 2)
        return *(const uint16_t *)at;
    else
        return *(const raw_of<BYTES> *)at;
}

/* From device memory. */
template <int BYTES> __device__ __forceinline__ raw_of<BYTES> load_far(const unsigned char *at, uint32_t bytes) {
    if constexpr (BYTES == 16)
        return load_once(at);
    else
        return load_unit<BYTES>(at, bytes);
}

/* Element i of a unit. */
template <int BYTES> __device__ __forceinline__ raw_of<BYTES> element_of(uint64_t unit, int i) {
    return (uint32_t)(unit >> 8 * BYTES * i) & (BYTES == 1 ? 0xff : BYTES == 2 ? 0xffff : ~(uint32_t)0);
}

template <int BYTES> __device__ __forceinline__ raw_of<BYTES> element_of(const uint4 &unit, int i) {
    if constexpr (BYTES == 8)
        return wide_of(unit, i);
    else
        return element_of<BYTES>(word_of(unit, i * BYTES / 4), i % (4 / BYTES));
}

/* Units of LANE's elements, all of one output. */
template <class LANE, int UNIT> struct lane_packed : LANE {
    typedef raw_of<UNIT> raw_t;
    static const int UNITS = UNIT / LANE::BYTES;
    static const int BYTES = UNIT, PACKED = UNITS * LANE::PACKED, OUTPUTS = 1;
    static const int PAIRS_AT_ONCE = 4, PAIRS_THEN = 1;
    static const bool HAS_NOTHING = false;
    __device__ explicit lane_packed(const reduce_arguments &a) : LANE(a) {}
    __device__ __forceinline__ void take(typename LANE::state &s, const raw_t &raw, uint32_t id) const {
#pragma unroll
        for (int i = 0; i < UNITS; i++)
            LANE::take(s, element_of<LANE::BYTES>(raw, i), id * UNITS + i);
    }
    __device__ __forceinline__ void take_pair(typename LANE::state &s, const raw_t &raw, const raw_t &partner,
                                              uint32_t id) const {
#pragma unroll
        for (int i = 0; i < UNITS; i++)
            LANE::take_pair(s, element_of<LANE::BYTES>(raw, i), element_of<LANE::BYTES>(partner, i), id * UNITS + i);
    }
};

/* States of N outputs. */
template <class STATE, int N> struct states_of {
    STATE of[N];
    static __device__ states_of none() {
        states_of s;
#pragma unroll
        for (int i = 0; i < N; i++)
            s.of[i] = STATE::none();
        return s;
    }
    __device__ void join(const states_of &other) {
#pragma unroll
        for (int i = 0; i < N; i++)
            of[i].join(other.of[i]);
    }
};

/* Units of LANE's elements, each of another output: neighbouring columns. */
template <class LANE, int UNIT> struct lane_wide : LANE {
    typedef raw_of<UNIT> raw_t;
    typedef LANE one_t;
    static const int BYTES = UNIT, PACKED = 1, OUTPUTS = UNIT / LANE::BYTES;
    static const bool HAS_NOTHING = false;
    typedef states_of<typename LANE::state, OUTPUTS> state, joined;
    __device__ explicit lane_wide(const reduce_arguments &a) : LANE(a) {}
    static __device__ const typename LANE::state &part_of(const state &s, int i) {
        return s.of[i];
    }
    /* across: 0, or where rows are folded columns so far apart are one output's. */
    __device__ void begin(const unsigned char *first, state &s, uint32_t column, uint32_t across) const {
#pragma unroll
        for (int i = 0; i < OUTPUTS; i++)
            LANE::begin(first + (i - (int32_t)(across > 0 ? (column + i) / across * across : 0)) * LANE::BYTES,
                        s.of[i]);
    }
    __device__ __forceinline__ void take(state &s, const raw_t &raw, uint32_t id) const {
#pragma unroll
        for (int i = 0; i < OUTPUTS; i++)
            LANE::take(s.of[i], element_of<LANE::BYTES>(raw, i), id);
    }
};

/* Of neighbours 0 .. team - 1, in all of them; team is a power of two. */
template <class PART> __device__ __forceinline__ void join_team(PART &p, uint32_t team) {
#pragma unroll 1
    for (uint32_t lane = team / 2; lane > 0; lane /= 2)
        p.join(from_lane(p, lane));
}

/* WIDTH: of one element, which is what it takes at once unless it says something else. */
template <class STATE, class ONE, int WIDTH = 0> struct lane_base {
    typedef STATE state, joined;
    typedef ONE one_t;
    static const int BYTES = WIDTH, PACKED = 1, OUTPUTS = 1;
    static const bool HAS_NOTHING = false, REDOES = false;
    static const bool PAIRS = false, MASKS = true;      /* MASKS: partners may have another width */
    static const int AT_ONCE = 16;                      /* units that are loaded before one is taken, at most */
    static const int PAIRS_AT_ONCE = 4, PAIRS_THEN = 1; /* of pairs, and of those that are left then */
    static const bool NARROW = false;                   /* results of quick() may have 1 or 2 bytes */
    static const int QUICKS = 1, SIDE_BY_SIDE = 4; /* results that quick() rounds; short rows that a thread takes */
    template <class S> static __device__ const S &join_of(const S &s) {
        return s;
    }
    static __device__ const STATE &part_of(const STATE &s, int) {
        return s;
    }
    __device__ uint32_t nothing() const {
        return 0;
    }
    __device__ const STATE &total(const STATE &s) const {
        return s;
    }
    __device__ uint32_t quick_bytes(const gp_pass &) const {
        return 0;
    }
    __device__ bool quick(const STATE &, unsigned, uint64_t *) const {
        return false;
    }
    /* What the state needs of an output's first element. */
    template <class S> __device__ void begin(const unsigned char *, S &, uint32_t = 0, uint32_t = 1) const {}
};

struct lane_bits : lane_base<bits_total, lane_bits> {
    uint64_t unused; /* bits that the elements have not */
    __device__ explicit lane_bits(const reduce_arguments &a)
        : unused(~(uint64_t)0 << (8 * bytes_of(a.pass.type) - 1) << 1) {}
    __device__ __forceinline__ void take(bits_total &s, uint64_t raw, uint32_t) const {
        s.join({raw | unused, raw, raw});
    }
};

/* Keys of elements, as they are ordered. */
template <int WIDTH> struct key_of {
    typedef key_int<WIDTH> key_t;
    typedef raw_of<WIDTH> raw_t;
    key_t nan_above, nan_below, inverted;
    raw_t bias;
    __device__ explicit key_of(const reduce_arguments &a) {
        const gp_pass &pass = a.pass;
        const extremes_partial<key_t> none = extremes_partial<key_t>::none();
        const key_t infinity = WIDTH == 8   ? (key_t)0x7ff0000000000000
                               : WIDTH == 4 ? (key_t)0x7f800000
                                            : (pass.type == GP_BF16 ? 0x7f80 : 0x7c00);
        const raw_t sign = (raw_t)((raw_t)1 << (8 * WIDTH - 1));
        nan_above = gp_type_is_float(pass.type) ? infinity : none.least;
        nan_below = gp_type_is_float(pass.type) ? ~infinity : none.most;
        inverted = gp_type_is_float(pass.type) ? (key_t)(sign - 1) : 0;
        bias = gp_type_is_signed(pass.type) ? 0 : sign;
    }
    __device__ __forceinline__ key_t key(raw_t raw) const {
        const key_t x = (key_t)extend_sign(raw ^ bias, WIDTH);
        return x ^ ((x >> (8 * sizeof(key_t) - 1)) & inverted);
    }
    __device__ raw_t raw(key_t key) const {
        return (raw_t)(key ^ ((key >> (8 * sizeof(key_t) - 1)) & inverted)) ^ bias;
    }
    __device__ bool is_nan(key_t key) const {
        return key > nan_above || key < nan_below;
    }
};

/* The least and the greatest, and where they are; NaNs may be skipped. */
template <int WIDTH>
struct lane_extremes : lane_base<extremes_partial<key_int<WIDTH>>, lane_extremes<WIDTH>, WIDTH>, key_of<WIDTH> {
    typedef extremes_partial<key_int<WIDTH>> state;
    bool skip_nan;
    __device__ explicit lane_extremes(const reduce_arguments &a) : key_of<WIDTH>(a), skip_nan(a.pass.skip_nan) {}
    __device__ __forceinline__ void take(state &s, raw_of<WIDTH> raw, uint32_t id) const {
        const auto key = this->key(raw);
        if (this->is_nan(key))
            s.at_nan = min(s.at_nan, id);
        else
            s.join({key, key, id, id, UINT32_MAX});
    }
    __device__ extremes_total total(const state &s) const {
        return {s.least, s.most, s.at_least, s.at_most,
                skip_nan || s.at_nan == UINT32_MAX ? INT64_MAX : (int64_t)s.at_nan};
    }
};

/* Extremes with the units that they are in, and where the first of all units is. */
struct units_state {
    extremes_partial<int32_t> of;
    const unsigned char *first;
    static __device__ units_state none() {
        return {extremes_partial<int32_t>::none(), NULL};
    }
    __device__ void join(const units_state &other) {
        of.join(other.of);
    }
};

/* Of up to 4 bytes, 16 bytes at once, behind each other: elements are looked up in their unit, in the end. */
template <int WIDTH> struct lane_places : lane_base<units_state, lane_places<WIDTH>>, key_of<WIDTH> {
    static const int BYTES = 16, PACKED = 16 / WIDTH;
    word_keys<WIDTH> words;
    bool least, most;
    __device__ explicit lane_places(const reduce_arguments &a)
        : key_of<WIDTH>(a), least(a.pass.wants & GP_WANT_ARGMIN), most(a.pass.wants & GP_WANT_ARGMAX) {
        words.keys_of(a.pass.type);
    }
    __device__ void begin(const unsigned char *first, units_state &s, uint32_t = 0, uint32_t = 1) const {
        s.first = first;
    }
    __device__ __forceinline__ void take(units_state &s, const uint4 &raw, uint32_t id) const {
        int32_t low = words.least_none(), high = ~low;
#pragma unroll
        for (int w = 0; w < 4; w++)
            words.span(word_of(raw, w), low, high);
        low = words.least_of(low);
        high = words.most_of(high);
        s.of.join({low, high, id, id, this->is_nan(low) || this->is_nan(high) ? id : UINT32_MAX});
    }
    /* nan: the first that is no number, else the first with that key. */
    __device__ __noinline__ int64_t place(const units_state &s, uint32_t unit, int32_t key, bool nan) const {
        int i = 0;
        for (; i < PACKED - 1; i++) {
            const int32_t met = this->key(load_unit<WIDTH>(s.first + 16 * (uint64_t)unit + i * WIDTH, WIDTH));
            if (nan ? this->is_nan(met) : met == key)
                break;
        }
        return (int64_t)unit * PACKED + i;
    }
    __device__ extremes_total total(const units_state &s) const {
        extremes_total t = {s.of.least, s.of.most, 0, 0, INT64_MAX};
        if (s.of.at_nan != UINT32_MAX)
            t.place_nan = place(s, s.of.at_nan, 0, true);
        else if (least)
            t.place_min = place(s, s.of.at_least, s.of.least, false);
        if (most && s.of.at_nan == UINT32_MAX)
            t.place_max = place(s, s.of.at_most, s.of.most, false);
        return t;
    }
};

/* The least and the greatest alone, of up to 4 bytes, two of 16 bits in a word where they are shorter; a NaN shows as
   one of them, as keys of NaNs are. */
template <int WIDTH> struct span_state {
    int32_t least, most;
    static __device__ span_state none() {
        const int32_t least = word_keys<WIDTH>::least_none();
        return {least, ~least};
    }
    __device__ void join(const span_state &other) {
        least = WIDTH < 4 ? (int32_t)__vmins2((uint32_t)least, (uint32_t)other.least) : min(least, other.least);
        most = WIDTH < 4 ? (int32_t)__vmaxs2((uint32_t)most, (uint32_t)other.most) : max(most, other.most);
    }
};

template <int WIDTH, int UNIT = WIDTH>
struct lane_span : lane_base<span_state<WIDTH>, lane_span<WIDTH>>, key_of<WIDTH> {
    typedef span_state<WIDTH> state;
    static const int BYTES = UNIT, PACKED = UNIT / WIDTH;
    static const bool NARROW = WIDTH < 4;
    static const int QUICKS = 2;
    word_keys<WIDTH> words;
    __device__ explicit lane_span(const reduce_arguments &a) : key_of<WIDTH>(a) {
        words.keys_of(a.pass.type);
    }
    __device__ __forceinline__ void take(state &s, uint32_t word, uint32_t) const {
        words.span(UNIT == 1 ? word * 0x01010101 : UNIT == 2 ? word * 0x00010001 : word, s.least, s.most);
    }
    __device__ uint32_t quick_bytes(const gp_pass &pass) const {
        bool all = true;
        for (unsigned r = 0; r < pass.results; r++)
            all &= (pass.result[r].op == GP_REDUCE_MIN || pass.result[r].op == GP_REDUCE_MAX) &&
                   bytes_of(pass.result[r].type) == WIDTH;
        return all ? WIDTH : 0;
    }
    __device__ __forceinline__ bool quick(const state &s, unsigned op, uint64_t *raw) const {
        const int32_t least = words.least_of(s.least), most = words.most_of(s.most);
        *raw = this->raw(op == GP_REDUCE_MAX ? most : least);
        return !this->is_nan(least) && !this->is_nan(most);
    }
    __device__ extremes_total total(const state &s) const {
        const int32_t least = words.least_of(s.least), most = words.most_of(s.most);
        return {least, most, 0, 0, this->is_nan(least) || this->is_nan(most) ? 0 : INT64_MAX};
    }
};

/* Those of the columns that a word has elements of. */
template <int WIDTH> struct lane_spans : lane_span<WIDTH> {
    typedef lane_span<WIDTH> one_t;
    static const int BYTES = 4, PACKED = 1, OUTPUTS = 4 / WIDTH, WORDS = 2 / WIDTH;
    typedef states_of<span_state<WIDTH>, WORDS> state, joined;
    __device__ explicit lane_spans(const reduce_arguments &a) : lane_span<WIDTH>(a) {}
    static __device__ span_state<WIDTH> part_of(const state &s, int i) {
        const span_state<WIDTH> &two = s.of[i % WORDS];
        const uint32_t both = i / WORDS == 0 ? 0x1010 : 0x3232;
        return {(int32_t)__byte_perm((uint32_t)two.least, 0, both),
                (int32_t)__byte_perm((uint32_t)two.most, 0, both)};
    }
    __device__ __forceinline__ void take(state &s, uint32_t word, uint32_t) const {
        const uint2 pair = this->words.pairs(word);
        this->words.stretch(pair.x, s.of[0].least, s.of[0].most);
        if (WORDS == 2)
            this->words.stretch(pair.y, s.of[WORDS - 1].least, s.of[WORDS - 1].most);
    }
};
