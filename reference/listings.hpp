// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace recheck::reference {

// The documents' CPU programs in their own form: int indices, matrices without padding.

/// C (ha, wb) = A (ha, wa) · B (wa, wb), one fp32 sum for each element. With -O2, and without
/// optimisation. Source: S1 MatrixMulCPU (A01).
void s1_cpu(float* c, const float* a, const float* b, int wa, int ha, int wb);
void s1_cpu_o0(float* c, const float* a, const float* b, int wa, int ha, int wb);

/// r = matrix (row_size, column_size) · v, one fp32 sum for each row. With RECHECK_S3_FLAGS, as S3
/// did, and with -O0. Source: S3 mxv (A10).
void s3_mxv(int row_size, int column_size, const float* matrix, const float* v, float* r);
void s3_mxv_o0(int row_size, int column_size, const float* matrix, const float* v, float* r);

#ifdef RECHECK_HAVE_SSE
/// As s3_mxv, with four sums to a row, added up at the end. Needs a multiple of four columns, and
/// matrix and v at multiples of 16 bytes. Source: S3 mxvSSE (A11).
void s3_sse(int row_size, int column_size, const float* matrix, const float* v, float* r);

#ifdef RECHECK_HAVE_OPENMP
/// As s3_sse, on two threads, like S3 mxvSSEOpenmp (A12), and on all.
void s3_sse_openmp2(int row_size, int column_size, const float* matrix, const float* v, float* r);
void s3_sse_openmp(int row_size, int column_size, const float* matrix, const float* v, float* r);
#endif
#endif

}  // namespace recheck::reference
