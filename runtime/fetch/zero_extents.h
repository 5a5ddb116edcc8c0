// Products of matrices with zero extents and with alpha = 0, as BLAS defines them.
#pragma once

#include <vector>

#include "runtime/cublas/gemm_arguments.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// The problem whose kernel computes `problem`. For matrix products, extents of 0 become 1. Other operations keep
/// extents of 0 and refuse them.
Problem without_zero_extents(const Problem& problem, const std::vector<KernelTemplate>& templates);

/// Whether the product has no element, so that there is nothing to launch.
bool is_empty(const GemmArguments& product);

/// If K = 0 or alpha = 0, sets both to 0, so that the kernel computes C = beta * C and reads neither A nor B. Only for
/// kernels of an operation that is_verified_without_products().
void skip_products(GemmArguments& product);

/// Whether a check of the operation has K = 0.
bool is_verified_without_products(const Operation& operation);

}  // namespace smemtune
