/* SPDX-License-Identifier: Apache-2.0 */
/* The greatest difference of pairs of any type. */
#pragma once

#include "lane_twofold.cuh"

/* The greatest difference of two elements, which is rounded to their type: a number, or the bits of a double. */
struct apart_state {
    uint64_t most, nans;
    static __device__ apart_state none() {
        return {0, 0};
    }
    __device__ void join(const apart_state &other) {
        most = max(most, other.most);
        nans |= other.nans;
    }
};

struct lane_apart : lane_base<apart_state, lane_apart> {
    static const int BYTES = 0, PACKED = 1, OUTPUTS = 1;
    static const bool PAIRS = true;
    lane_twofold<0> real;
    lane_whole_pairs whole;
    __device__ explicit lane_apart(const reduce_arguments &a) : real(a), whole(a) {}
    __device__ __forceinline__ void take(apart_state &, uint64_t, uint32_t) const {}
    __device__ __forceinline__ void take_pair(apart_state &s, uint64_t raw, uint64_t partner, uint32_t) const {
        if (!is_float(real.type)) {
            s.most = max(s.most, whole.apart(whole.extended(raw), whole.extended(partner)));
            return;
        }
        const double x = real.value(raw), y = real.value(partner), wide = x - y,
                     d = real.type == GP_F64 ? wide : (double)((float)x - (float)y);
        if (d == d)
            s.most = max(s.most, (uint64_t)__double_as_longlong(fabs(d)));
        else if (!real.skip_nan || (x == x && y == y))
            s.nans = 1;
    }
};

__device__ inline bool value_of(const gp_pass &pass, unsigned, unsigned type, const apart_state &s, uint64_t *raw) {
    const double d = s.nans ? NAN : __longlong_as_double((long long)s.most);
    *raw = s.most;
    return !is_float(pass.type) || settle({d, d}, type, raw);
}
