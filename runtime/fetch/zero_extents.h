// Matrix products with extents of 0 or with alpha = 0 give the results that BLAS defines.
#pragma once

#include <vector>

#include "runtime/cublas/gemm_arguments.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// The problem to fetch a kernel for when the application asks for `problem`. For matrix products, extents of 0 become
/// 1. Other operations do not accept extents of 0, so their problems stay as they are.
Problem without_zero_extents(const Problem& problem, const std::vector<KernelTemplate>& templates);

/// Whether C has no elements, so that there is nothing to launch.
bool is_empty(const GemmArguments& product);

/// If K = 0 or alpha = 0, sets both to 0. The kernel then computes C = beta * C and reads neither A nor B.
/// Precondition: is_verified_without_products() is true for the kernel's operation.
void skip_products(GemmArguments& product);

/// Whether one of the operation's checks verifies kernels with K = 0.
bool is_verified_without_products(const Operation& operation);

}  // namespace smemtune
