/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread gathers of elements with partners: of those that a mask leaves, and of pairs of ints. */
#pragma once

#include "lane.cuh"

/* Whether elements of `with` are not zero: -0 is. */
struct partner_mask {
    uint64_t kept;
    __device__ explicit partner_mask(const gp_pass &pass)
        : kept(is_float(pass.with_type) ? ~((uint64_t)1 << (8 * bytes_of(pass.with_type) - 1)) : ~(uint64_t)0) {}
    __device__ bool covers(uint64_t partner) const {
        return (partner & kept) != 0;
    }
};

/* LANE's elements where the partner is not zero. */
template <class LANE> struct lane_masked : LANE {
    typedef lane_masked one_t;
    static const bool PAIRS = true;
    partner_mask mask;
    __device__ explicit lane_masked(const reduce_arguments &a) : LANE(a), mask(a.pass) {}
    __device__ __forceinline__ void take_pair(typename LANE::state &s, raw_of<LANE::BYTES> raw, uint64_t partner,
                                              uint32_t id) const {
        if (mask.covers(partner))
            LANE::take(s, raw, id);
    }
};

/* Sums of integers that a mask leaves, or of pairs. */
struct lane_whole_pairs : lane_integers {
    typedef lane_whole_pairs one_t;
    static const bool PAIRS = true;
    bool where;
    partner_mask mask;
    __device__ explicit lane_whole_pairs(const reduce_arguments &a)
        : lane_integers(a), where(a.pass.where), mask(a.pass) {}
    __device__ __forceinline__ uint64_t apart(uint64_t x, uint64_t y) const {
        return (has_sign ? (int64_t)x > (int64_t)y : x > y) ? x - y : y - x;
    }
    /* What a mask hides is counted in the upper half. */
    __device__ __forceinline__ void take_pair(integers_total &s, uint64_t raw, uint64_t partner, uint32_t) const {
        const uint64_t x = extended(raw), y = extended(partner), product = x * y;
        if (where && !mask.covers(partner)) {
            s.count += (uint64_t)1 << 32;
        } else if (where) {
            integers_take(s, x, wants, has_sign);
        } else {
            if (wants & GP_WANT_DOT) /* of 4 bytes at most */
                add_words(s.sum, product, has_sign ? (uint64_t)((int64_t)product >> 63) : 0, 0);
            integers_take(s, apart(x, y), wants, false);
        }
    }
};
