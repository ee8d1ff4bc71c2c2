// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

namespace recheck {

/// What each thread saw, `threads` words for each of the blocks: a word of shared memory that one
/// thread of its block had written before a barrier. Blocks wait for all others between the two
/// looks, so they have to be on the device at the same time; `arrived` is 0 before.
void look_at_shared(int blocks, int threads, unsigned* at_first, unsigned* after_all_others,
                    unsigned* arrived, cudaStream_t stream);

/// As many such blocks as a device holds at once.
int blocks_at_once(int threads);

/// What each thread finds in a variable of its own, in a register and in local memory, after all
/// threads of its block have written to theirs: `threads` words.
void look_at_own(int threads, unsigned* in_register, unsigned* in_local_memory,
                 cudaStream_t stream);

/// On which multiprocessor each thread ran: blocks · threads words. A block stays for a moment, so
/// that none has to wait for another one's place while places are free.
void note_multiprocessors(int blocks, int threads, unsigned* multiprocessors, cudaStream_t stream);

/// The index of the thread that holds lane 0 of each thread's warp, as a shuffle brings it, in
/// blocks of `x` by `y` by `z` threads, where x runs first: x · y · z words.
void note_first_of_warp(int x, int y, int z, unsigned* first, cudaStream_t stream);

}  // namespace recheck
