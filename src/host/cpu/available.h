/* SPDX-License-Identifier: Apache-2.0 */
/* How many processors there are to use. */
#ifndef GP_AVAILABLE_H
#define GP_AVAILABLE_H

/* Processors this process may really use: affinity mask and control-group quota. At least 1. */
unsigned gp_threads_available(void);

#endif
