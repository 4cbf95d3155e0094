/* SPDX-License-Identifier: Apache-2.0 */
/* Words of 1 to 16 bytes that are moved at once. */
#ifndef GP_REARRANGE_ARRAY_WORD_CUH
#define GP_REARRANGE_ARRAY_WORD_CUH

#include <stdint.h>

template <int bytes> struct word_of;
template <> struct word_of<1> { typedef uint8_t type; };
template <> struct word_of<2> { typedef uint16_t type; };
template <> struct word_of<4> { typedef uint32_t type; };
template <> struct word_of<8> { typedef uint2 type; };
template <> struct word_of<16> { typedef uint4 type; };

#endif
