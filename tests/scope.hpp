// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

namespace recheck {

/// Each thread's view of a word in shared memory that one thread of its block wrote before a
/// barrier: `threads` words per block. Blocks wait for all others between the two reads, so all
/// must be on the device at once. `arrived` must be 0 before.
void look_at_shared(int blocks, int threads, unsigned* at_first, unsigned* after_all_others,
                    unsigned* arrived, cudaStream_t stream);

/// The number of such blocks that a device holds at once.
int blocks_at_once(int threads);

/// The value of each thread's own variable, in a register and in local memory, after all threads of
/// its block wrote to theirs: `threads` words.
void look_at_own(int threads, unsigned* in_register, unsigned* in_local_memory,
                 cudaStream_t stream);

/// The multiprocessor of each thread: blocks · threads words. A block stays for a moment, so that
/// none waits for a place while others are free.
void note_multiprocessors(int blocks, int threads, unsigned* multiprocessors, cudaStream_t stream);

/// The index of the thread in lane 0 of each thread's warp, found by a shuffle, in blocks of `x` by
/// `y` by `z` threads, where x runs first: x · y · z words.
void note_first_of_warp(int x, int y, int z, unsigned* first, cudaStream_t stream);

/// The clock of each thread's multiprocessor, as a block's threads read it `times` times: times ·
/// threads words. `apart`: each half of a warp reads it on a path of its own.
void note_clocks(bool apart, int threads, int times, unsigned* clocks, cudaStream_t stream);

/// Adds to each element of a matrix those to its left.
void add_left(int rows, int columns, float* matrix, cudaStream_t stream);

/// Runs S3's loop over the transposed matrix, with `rows` a multiple of 32. `most`: the number of
/// different words of the vector that a warp loads at a time, at most; `loads`: how often warps
/// load from it; both must be 0 before. `apart`: lanes load neighbours within a sector instead.
void watch_vector(bool apart, int rows, int columns, const float* matrix, const float* vector,
                  float* result, unsigned* most, unsigned* loads, cudaStream_t stream);

}  // namespace recheck
