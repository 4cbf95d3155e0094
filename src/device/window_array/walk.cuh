/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk of window_strip of ints, at a cost that does not depend on the window. A warp owns a strip of columns,
 * channels being columns too, and walks down it, or the warps of a block own one together. A lane keeps the sum of
 * what the window holds of each of its COLUMNS neighbouring columns, and the sum of squares: a row enters, another
 * leaves. A row of outputs takes prefix sums over the strip, those of each channel for itself; a window is the
 * difference of two.
 */
#pragma once

#include "outputs.cuh"

/*
 * How a lane's columns lie: side by side and aligned; or, of bytes, from any address on; or in two groups that are
 * aligned, by whose bytes they are put together a row later; or apart, of one picture or of several side by side.
 * Each has a register then: what waited for the loads of bytes to put them together would take all others on.
 */
enum walk_columns { WALK_TOGETHER, WALK_ANYWHERE, WALK_GROUPS, WALK_APART, WALK_PACKED };

/* Of bytes from any address on: the word behind, and the bits in front of the first byte. */
template <bool ANYWHERE> struct walk_rest {};
template <> struct walk_rest<true> { uint32_t word, shift; };

template <class SUMS, int BYTES, int COLUMNS, int CHANNELS, bool USUAL, walk_columns LIE> class walk {
    static constexpr bool PACKED = LIE == WALK_PACKED, EDGE = LIE == WALK_APART || PACKED,
                          groups = LIE == WALK_GROUPS, anywhere = LIE == WALK_ANYWHERE;
    static constexpr int words = COLUMNS * BYTES / 4;
    static constexpr bool moves = USUAL && BYTES < 4 && (anywhere || LIE == WALK_APART); /* of 4 bytes: slower */
    typedef strip_row<COLUMNS, EDGE ? 4 : BYTES> one_row;
    struct raw_row {
        one_row of[groups ? 2 : 1];
        walk_rest<anywhere> rest;
    };
    typedef walk_outputs<SUMS, BYTES, COLUMNS, CHANNELS, USUAL, PACKED, moves> outputs_of;
    static constexpr int ahead = GP_STRIP_AHEAD;

    const strip_arguments &a;
    const strip_place &p;
    const unsigned kept;       /* bytes to prefix sums: column j has entry j + j / 4, against bank conflicts */
    const unsigned lane, warp; /* of the strip's */
    int32_t *const apart;      /* where columns are that do not stand together: [COLUMNS][32] */
    const bool has_sign;
    const uint32_t flip;                   /* bits that make an element less its pivot, which has a sign */
    const uint32_t nothing;                /* stands for elements that are not there */
    const int32_t column;                  /* the lane's first */
    bool stands = false;                   /* of groups: those of the warp need none */
    int32_t above = 0;                     /* rows to those of the lane's columns, of parts of a picture */
    const unsigned char *own_plane = NULL; /* row 0 of the part */

  public:
    __device__ walk(const strip_arguments &arguments, const strip_place &place, unsigned shared)
        : a(arguments), p(place), kept(shared), lane(threadIdx.x % 32),
          warp(threadIdx.x / 32 & (arguments.cut.warps - 1)),
          apart((int32_t *)(prefixes + shared + arguments.cut.prefix_bytes) + warp * (32 * COLUMNS) + lane),
          has_sign(gp_type_is_signed(arguments.box.type)), flip(BYTES == 4 || has_sign ? 0
                                                                : BYTES == 1           ? 0x80808080u
                                                                                       : 0x80008000u),
          nothing(!USUAL && arguments.box.border == GP_BORDER_SHRINK ? flip : 0),
          column((int32_t)place.first + (int32_t)(warp * (32 * COLUMNS) + lane * COLUMNS)) {
        if (EDGE)
            find_columns();
    }
    /*
     * Finds the two groups: of the lane's ints in shared memory, where they begin, and behind it selectors by two, by
     * which bytes of one word after the other are put into a word of columns. False: they are more, or not whole.
     */
    __device__ bool find_groups() {
        int32_t begin[2] = {-1, -1};
        bool found = a.cut.vectors == GP_VECTORS_TOGETHER;
        apart[0] = column;
        stands = __all_sync(GP_FULL_WARP, stands_together());
        if (stands)
            return true;
#pragma unroll 1
        for (int i = 2; i < 2 + words * words; i++)
            apart[i * 32] = 0x32103210;
#pragma unroll 1
        for (int k = 0; k < COLUMNS; k++) {
            const int32_t source = source_of(k), group = source / COLUMNS * COLUMNS;
            if (source < 0)
                continue;
            const int second = begin[0] >= 0 && begin[0] != group;
            found = found && (begin[second] < 0 || begin[second] == group);
            begin[second] = group;
            const int byte = source - group, number = (k / 4 * 2 + second) * words + byte / 4;
            apart[(2 + number / 2) * 32] ^= (k % 4 ^ (4 + byte % 4)) << (number % 2 * 16 + k % 4 * 4);
        }
        for (int g = 0; g < 2; g++) {
            apart[g * 32] = max(begin[g], 0);
            found = found && apart[g * 32] + COLUMNS <= (int32_t)gp_window_x(&a.box)->n * CHANNELS;
        }
        __syncwarp();
        return found;
    }
    __device__ bool any_of_strip(bool x) const {
        return together() ? __syncthreads_or(x) : __any_sync(GP_FULL_WARP, x);
    }
    __device__ bool stands_together() const {
        const int more = anywhere ? 3 : 0; /* bytes of a word that has some of the lane's */
        return a.cut.vectors == (anywhere ? GP_VECTORS_ANYWHERE : GP_VECTORS_TOGETHER) && column >= more &&
               column + COLUMNS + more <= (int32_t)gp_window_x(&a.box)->n * CHANNELS;
    }

  private:
    /* Which column of the input windows see as the lane's k-th; -1: none. */
    __device__ int32_t source_of(int k) const {
        const int32_t own = column + k - (int32_t)p.first;
        const strip_spot spot = PACKED ? spot_of(a.cut.pack, own) : strip_spot{0, own};
        const int32_t at = (int32_t)p.first + spot.at;
        const int32_t pixel = at >= 0 ? at / CHANNELS : ~(~at / CHANNELS);
        const int64_t source = spot.picture < p.pictures && spot.at < (int32_t)(p.cols + a.cut.skew + a.cut.reach)
                                   ? source_near(a.box.border, (int64_t)gp_window_x(&a.box)->n, pixel)
                                   : -1;
        return source < 0 ? -1 : (int32_t)(source - pixel) * CHANNELS + at + spot.picture * p.picture_units;
    }
    __device__ void find_columns() {
        if (PACKED)
            above = rows_above(a.cut, p, spot_of(a.cut.pack, column - (int32_t)p.first).picture);
        own_plane = p.plane + above * a.fold.in;
#pragma unroll 1
        for (int k = 0; k < COLUMNS; k++)
            apart[k * 32] = source_of(k);
        __syncwarp();
    }
    __device__ bool together() const {
        return a.cut.warps > 1;
    }
    __device__ void sync() const {
        if (together())
            __syncthreads();
        else
            __syncwarp();
    }
    __device__ raw_row fetch(int32_t i) const {
        int32_t row = i;
        const unsigned char *plane = PACKED ? own_plane : p.plane;
        if (!PACKED)
            row = a.fold.row_at(i);
        else if (i < 0 || (int64_t)i + p.above_most >= a.fold.n) { /* for some parts of a picture, if not for all */
            row = a.fold.row_at(i + above);
            plane = p.plane;
        }
        const unsigned char *const line = plane + (uint64_t)(uint32_t)row * a.fold.in;
        raw_row raw = filled();
        if constexpr (EDGE) {
            const int32_t step = CHANNELS == 1 ? (int32_t)gp_window_x(&a.box)->in : BYTES;
#pragma unroll
            for (int k = 0; k < COLUMNS; k++) {
                const int32_t at = apart[k * 32];
                const unsigned char *from; /* of 64 bits by one instruction */
                asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(from) : "r"(at), "r"(step), "l"(line));
                load_one<BYTES>(&raw.of[0].word[k], from, at | row);
            }
        } else if constexpr (anywhere) {
            const unsigned char *const first = line + column, *const from = first - (uintptr_t)first % 4;
            raw.rest.shift = 8 * (uint32_t)(first - from);
#pragma unroll
            for (int i = 0; i < words; i++)
                load_one<4>(&raw.of[0].word[i], from + 4 * i, row);
            load_one<4>(&raw.rest.word, from + 4 * words, row);
        } else
#pragma unroll
            for (int g = 0; g < (groups ? 2 : 1); g++)
                load_all(&raw.of[g], line + (int64_t)(groups ? apart[g * 32] : column) * BYTES,
                         g == 1 && stands ? -1 : row);
        return raw;
    }
    /* Where no elements are. */
    __device__ raw_row filled() const {
        raw_row raw;
#pragma unroll
        for (one_row &row : raw.of)
#pragma unroll
            for (uint32_t &word : row.word)
                word = EDGE ? nothing & ~0u >> (32 - 8 * BYTES) : nothing;
        if constexpr (anywhere)
            raw.rest = {nothing, 0};
        return raw;
    }
    /* The lane's columns of a row that has been loaded. */
    __device__ one_row columns_of(const raw_row &raw) const {
        one_row row = raw.of[0];
        if constexpr (anywhere)
#pragma unroll
            for (int i = 0; i < words; i++)
                row.word[i] =
                    __funnelshift_r(row.word[i], i + 1 < words ? row.word[i + 1] : raw.rest.word, raw.rest.shift);
        if (groups && !stands)
#pragma unroll
            for (int i = 0; i < words; i++) {
                row.word[i] = nothing;
#pragma unroll
                for (int j = 0; j < 2 * words; j++) {
                    const int number = i * 2 * words + j;
                    row.word[i] = __byte_perm(row.word[i], raw.of[groups ? j / words : 0].word[j % words],
                                              (uint32_t)apart[(2 + number / 2) * 32] >> number % 2 * 16);
                }
            }
        return row;
    }
    /* Column k, less its pivot. */
    __device__ int32_t element(const one_row &raw, int k) const {
        if constexpr (BYTES == 4)
            return (int32_t)raw.word[k];
        else if constexpr (EDGE) {
            constexpr uint32_t half = 1u << (8 * BYTES - 1);
            return (int32_t)(raw.word[k] ^ (has_sign ? half : 0)) - (int32_t)half;
        } else
            return (int32_t)permuted(raw.word[k * BYTES / 4] ^ flip, BYTES == 1 ? 0x8880 + k % 4 * 0x1111
                                                                     : k % 2    ? 0xbb32
                                                                                : 0x9910);
    }
    /* One row enters, and one leaves unless the walk begins. Returns bits that magnitudes of what enters have. */
    template <bool LEAVES>
    __device__ uint32_t slide(SUMS (&held)[COLUMNS], const raw_row &raw, const raw_row &left) const {
        const one_row enters = columns_of(raw), leaves = LEAVES ? columns_of(left) : enters;
        uint32_t bits = 0;
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            constexpr int each = 4 / BYTES;
            if constexpr (SUMS::widest)
                held[k].slide_any(enters.word[k], LEAVES ? leaves.word[k] : 0, has_sign);
            else if constexpr (EDGE || BYTES == 4 || !LEAVES) {
                const int32_t in = element(enters, k), out = LEAVES ? element(leaves, k) : 0;
                held[k].slide(in - out, in + out);
                if (BYTES == 4)
                    bits |= has_sign ? (uint32_t)(in ^ in >> 31) : (uint32_t)in;
            } else {
                const uint32_t in = enters.word[k / each] ^ flip, out = leaves.word[k / each] ^ flip;
                if constexpr (BYTES == 1) {
                    const int32_t both = (int32_t)__byte_perm(in, out, 0x0040 + k % 4 * 0x0011);
                    if (!SUMS::has_squares)
                        held[k].sum = (uint32_t)__dp4a(both, 0xff01, (int32_t)held[k].sum);
                    else
                        held[k].slide(__dp4a(both, 0xff01, 0), __dp4a(both, 0x0101, 0));
                } else {
                    const int32_t both = (int32_t)__byte_perm(in, out, k % 2 ? 0x7632 : 0x5410);
                    held[k].slide(__dp2a_lo(both, 0xff01, 0), __dp2a_lo(both, 0x0101, 0));
                }
            }
        }
        return bits;
    }
    /* Where the sums of a warp of the strip's are. */
    __device__ unsigned char *of_warp(unsigned number, int channel) const {
        return prefixes + kept + a.cut.prefix_bytes - GP_WALK_TOTALS + (number * CHANNELS + channel) * SUMS::bytes;
    }
    /* Prefix sums over what is held. */
    __device__ void put_prefixes(const SUMS (&held)[COLUMNS]) const {
        SUMS before[CHANNELS];
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            SUMS own = held[c];
#pragma unroll
            for (int k = c + CHANNELS; k < COLUMNS; k += CHANNELS)
                own.plus(held[k]);
            before[c] = own.scanned();
            if (together() && lane == 31)
                before[c].put(of_warp(warp, c));
            before[c].minus(own);
        }
        sync(); /* all have read the row before, and warps before have put their sums */
        if (together())
            for (unsigned w = 0; w < warp; w++)
#pragma unroll
                for (int c = 0; c < CHANNELS; c++)
                    before[c].plus(SUMS::get(of_warp(w, c)));
        unsigned char *const to = prefixes + kept + (warp * 32 + lane) * (COLUMNS / 4 * 5 * SUMS::bytes);
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            before[k % CHANNELS].put(to + (k / 4 * 5 + k % 4) * SUMS::bytes);
            before[k % CHANNELS].plus(held[k]);
        }
        sync();
    }

  public:
    /* The strip's rows of outputs from `row` on. Returns the first that is not done, as elements came that need wider
     * sums: their magnitudes have bits of `over`. seen: gets the bits that the lane's have. */
    __device__ __forceinline__ unsigned walk_down(unsigned row, uint32_t over, uint32_t *seen) {
        const gp_window_axis *y = gp_window_y(&a.box);
        const int32_t window = (int32_t)y->window;
        const unsigned rows = p.rows;
        int32_t first = (int32_t)(p.y + row - y->before); /* row of the input that windows begin with */
        outputs_of outputs(a, p, kept, warp, row);
        SUMS held[COLUMNS];
#pragma unroll
        for (int k = 0; k < COLUMNS; k++)
            held[k] = {0, 0};
        uint32_t bits = slide<false>(held, filled(), filled()); /* leaves when the first row of outputs comes */
#pragma unroll(ahead)
        for (int32_t i = 0; i < window - 1; i++) {
            const raw_row raw = fetch(first + i);
            bits |= slide<false>(held, raw, raw);
        }
        raw_row enters = fetch(first + window - 1), leaves = filled();
#pragma unroll 1
        for (;; first++) {
            bits |= slide<true>(held, enters, leaves);
            if (BYTES == 4 && any_of_strip((bits & over) != 0)) {
                *seen = bits;
                return row;
            }
            if (row + 1 < rows) {
                enters = fetch(first + window);
                leaves = fetch(first);
            }
            put_prefixes(held);
            outputs.write(row);
            if (++row == rows)
                return rows;
        }
    }
};
