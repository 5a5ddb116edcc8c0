// Fits the models of stored portfolios again, to stored times. This needs no device.
#pragma once

#include <string>
#include <vector>

#include "db/store.h"
#include "templates/manifest/kernel_template.h"
#include "tuner/portfolio/build.h"

namespace smemtune {

/// Fits the models of every stored portfolio of an operation to the stored times, with the present terms of
/// `templates`. The stored models may have any version of the terms. The members, their machine code and their
/// verification do not change. Each report has the losses at problems that were left out, as in build_portfolio().
/// Throws StoreError if a member is damaged, its machine code is missing, `templates` lacks the version of its
/// template, or no times of a portfolio's members are stored. The portfolio with the error is then unchanged.
std::vector<PortfolioReport> refit_portfolios(Store& store, const std::string& operation,
                                              const std::vector<KernelTemplate>& templates);

}  // namespace smemtune
