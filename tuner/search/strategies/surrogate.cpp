#include "tuner/search/strategies/surrogate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "tuner/search/adaptive_search.h"
#include "tuner/search/encoding.h"
#include "tuner/search/gaussian_process.h"
#include "tuner/search/strategies/neighbourhood.h"

namespace smemtune {

namespace {

// The model is our own, because no library fits: Debian's dlib depends on OpenCV and X11, Debian's xgboost has no
// static library, and neither can add a point without training again. It is a Gaussian process, which needs fewer
// points than other models. A search never has many points.
class Surrogate : public AdaptiveSearch {
public:
    explicit Surrogate(SearchSetup given)
        : AdaptiveSearch(std::move(given)),
          encoding_(feature_cache()),
          prior_{encoding_.inverse_scales()},
          covariance_(prior_) {}

private:
    static constexpr std::size_t first_sample = 10;  // number of points, proposed or observed, before the model is used
    static constexpr std::size_t most_candidates = 2000;
    static constexpr std::size_t most_modelled = 256;  // limit of points with a known outcome in a new model
    static constexpr std::size_t most_pending = 64;    // limit of pending points in the model
    static constexpr std::size_t most_fitted = 128;    // limit of points that the covariance is fitted to
    static constexpr int fitting_steps = 12;
    static constexpr float optimism = 2;  // number of standard deviations that the lower confidence bound subtracts

    struct Known {
        std::size_t index;
        std::optional<double> cost;  // infinity if the point was rejected; nothing while pending
        std::vector<float> row;
    };

    std::size_t propose() override {
        const auto index = choose();
        known_of_[index] = known_.size();
        known_.push_back({index, std::nullopt, encoding_.encode(index)});
        return index;
    }

    std::size_t choose() {
        if (!std::exchange(prepared_, true)) surround_start();
        while (!around_start_.empty()) {
            const auto index = around_start_.back();
            around_start_.pop_back();
            if (untried().contains(index)) return index;
        }
        if (feasible_.empty() || known_.size() < first_sample) return spread();
        if (known_.size() >= refresh_at_) refresh();
        const auto index = most_promising();
        return index ? *index : draw_untried();
    }

    void update(std::size_t index, double cost) override {
        if (const auto found = known_of_.find(index); found != known_of_.end()) {
            known_[found->second].cost = cost;
        } else {
            known_of_[index] = known_.size();
            known_.push_back({index, cost, encoding_.encode(index)});
        }
        if (cost == infinity) return;
        // A new best point forces a refresh, which makes its neighbours candidates.
        if (!feasible_.empty() && cost < feasible_.front()) refresh_at_ = 0;
        feasible_.insert(std::ranges::upper_bound(feasible_, cost), cost);
    }

    // Queues neighbours of the best start point: for each parameter, a neighbour that differs in this parameter by one
    // step. From these neighbours, the model learns the effect of each parameter near the start point.
    void surround_start() {
        const auto centre = best_start();
        if (!centre) return;
        const auto start = space().point(*centre);
        auto near = adjacent_neighbours(space(), *centre);
        shuffle(near);
        std::vector<bool> stepped(start.size());
        for (const auto index : near) {
            const auto differs = std::ranges::mismatch(start, space().point(index)).in1 - start.begin();
            if (stepped[static_cast<std::size_t>(differs)]) continue;
            stepped[static_cast<std::size_t>(differs)] = true;
            around_start_.push_back(index);
        }
    }

    // Returns the start point with the least cost. While no cost at all is known, returns the first start point.
    std::optional<std::size_t> best_start() const {
        std::optional<std::size_t> best;
        auto least = infinity;
        for (const auto& start : setup().starts) {
            const auto index = space().find(start);
            if (!index) continue;
            const auto cost = costs().find(*index);
            if (cost == costs().end() && !best && costs().empty()) best = index;
            if (cost == costs().end() || cost->second >= least) continue;
            best = index;
            least = cost->second;
        }
        return best;
    }

    // Draws 50 untried points and returns the one that is farthest from the points proposed so far. If the setup has an
    // estimate, every second point comes from draw_untried() instead.
    std::size_t spread() {
        if (feature_cache().has_estimate() && known_.size() % 2 == 0) return draw_untried();
        constexpr int draws = 50;
        std::size_t farthest = 0;
        auto least = infinity;
        for (int draw = 0; draw < draws; ++draw) {
            const auto index = untried().draw(random());
            const auto row = encoding_.encode(index);
            double crowding = 0;
            for (const auto& known : known_) {
                double distance = 0;
                for (std::size_t f = 0; f < row.size(); ++f) distance += std::abs(row[f] - known.row[f]);
                crowding += 1 / (distance * distance + 1e-3);
            }
            if (crowding >= least) continue;
            least = crowding;
            farthest = index;
        }
        return farthest;
    }

    // Returns the number that the model predicts in place of a cost: the logarithm of the cost, or the cost itself if
    // any observed cost is not positive.
    [[nodiscard]] double value(double cost) const { return feasible_.front() > 0 ? std::log(cost) : cost; }

    // Returns the standardised values of the points with the indices `which` in known_. Values are capped at median +
    // (median - best) / 2, and rejected points get the cap. Without a cap, the model would mostly explain differences
    // between bad points. Pending points have no value here. In each call, Posterior::predict() predicts a mean for
    // each pending point anew, and takes this mean as the point's value. If such means were stored as values, new
    // predictions would soon rest on old predictions.
    std::vector<std::optional<double>> standardised(const std::vector<std::size_t>& which) const {
        const auto median = value(feasible_[feasible_.size() / 2]);
        const auto worst = median + (median - value(feasible_.front())) / 2;
        std::vector<std::optional<double>> values;
        values.reserve(which.size());
        double count = 0;
        double sum = 0;
        for (const auto i : which) {
            auto& each = values.emplace_back();
            if (!known_[i].cost) continue;
            each = std::min(value(*known_[i].cost), worst);
            count += 1;
            sum += *each;
        }
        const auto mean = sum / count;
        double squares = 0;
        for (const auto& each : values) squares += each ? (*each - mean) * (*each - mean) : 0;
        const auto deviation = std::sqrt(squares / count) + 1e-9;
        for (auto& each : values) {
            if (each) each = (*each - mean) / deviation;
        }
        return values;
    }

    // Returns indices into known_ of points with a known outcome: all of them if there are at most `most`. Otherwise,
    // the best `most` / 2 and as many others drawn at random.
    std::vector<std::size_t> selected(std::size_t most) {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < known_.size(); ++i) {
            if (known_[i].cost) order.push_back(i);
        }
        if (order.size() <= most) return order;
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return *known_[i].cost; });
        for (auto i = most / 2; i < most; ++i) std::swap(order[i], order[i + random_below(order.size() - i)]);
        order.resize(most);
        return order;
    }

    // Returns indices into known_ of the latest pending points.
    [[nodiscard]] std::vector<std::size_t> pending() const {
        std::vector<std::size_t> found;
        for (auto i = known_.size(); i-- > 0 && found.size() < most_pending;) {
            if (!known_[i].cost) found.push_back(i);
        }
        std::ranges::reverse(found);  // oldest proposal first, because outcomes mostly arrive in this order
        return found;
    }

    // Fits the covariance to points with a known outcome, if there are enough of them.
    void fit() {
        const auto fit_to = selected(most_fitted);
        if (fit_to.size() < first_sample) return;
        Rows rows;
        std::vector<double> values;
        for (const auto i : fit_to) rows.push_back(known_[i].row);
        for (const auto& each : standardised(fit_to)) values.push_back(*each);
        covariance_ = fitted(covariance_, prior_, rows, values, fitting_steps);
    }

    // Fits the covariance, renews the candidates, and rebuilds the model. The more points are known, the more new
    // points it takes until the next refresh.
    void refresh() {
        fit();
        candidates_ = new_candidates();
        Rows rows;
        for (const auto index : candidates_) rows.push_back(encoding_.encode(index));
        posterior_.emplace(covariance_, rows);
        modelled_ = selected(most_modelled);
        const auto latest = pending();  // pending points are last, so that all known costs contribute to their means
        modelled_.insert(modelled_.end(), latest.begin(), latest.end());
        for (const auto i : modelled_) posterior_->add(known_[i].row);
        next_modelled_ = known_.size();
        refresh_at_ = known_.size() + std::clamp<std::size_t>(known_.size() / 8, 1, 64);
    }

    // Returns new candidates, all of them untried. In a small space, these are all untried points. In a large space,
    // there are three kinds: (1) the earlier candidates with the lowest confidence bounds, and the neighbours of the
    // best few of them; (2) neighbours and random variants of the best known points; (3) points drawn at random.
    std::vector<std::size_t> new_candidates() {
        std::vector<std::size_t> found;
        if (space().size() <= most_candidates) {
            found.resize(space().size());
            std::iota(found.begin(), found.end(), std::size_t{0});
        } else {
            add_best_bounds(found);
            add_near_best(found);
            add_drawn(found);
        }
        std::ranges::sort(found);
        found.erase(std::unique(found.begin(), found.end()), found.end());
        std::erase_if(found, [&](std::size_t index) { return !untried().contains(index); });
        return found;
    }

    // Fills the candidates up to `most_candidates` with points drawn at random. If the setup has features or an
    // estimate, keeps most of the earlier random points, because new ones cost time to encode.
    void add_drawn(std::vector<std::size_t>& found) {
        const auto wanted = most_candidates - std::min(found.size(), most_candidates);
        const auto kept = feature_cache().has_any() ? std::min(drawn_.size(), wanted - wanted / 16) : 0;
        drawn_.erase(drawn_.begin(), drawn_.end() - static_cast<std::ptrdiff_t>(kept));
        while (drawn_.size() < wanted) drawn_.push_back(untried().draw(random()));
        found.insert(found.end(), drawn_.begin(), drawn_.end());
    }

    void add_near(std::size_t index, std::vector<std::size_t>& found) const {
        const auto near = neighbours(space(), index);
        found.insert(found.end(), near.begin(), near.end());
    }

    void add_best_bounds(std::vector<std::size_t>& found) const {
        constexpr std::size_t most_surrounded = 10;
        std::vector<std::size_t> order(bounds_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return bounds_[i]; });
        for (std::size_t i = 0; i < std::min(order.size(), most_candidates / 4); ++i) {
            found.push_back(candidates_[order[i]]);
            if (i < most_surrounded) add_near(candidates_[order[i]], found);
        }
    }

    void add_near_best(std::vector<std::size_t>& found) {
        constexpr std::size_t most_surrounded = 5;
        constexpr int jumps = 60;  // number of random variants of each point; a variant changes 2 or 3 parameters
        auto best = selected(2 * most_surrounded);
        std::ranges::stable_sort(best, {}, [&](std::size_t i) { return *known_[i].cost; });
        best.resize(std::min(best.size(), most_surrounded));
        for (const auto i : best) {
            add_near(known_[i].index, found);
            for (int jump = 0; jump < jumps; ++jump) {
                const auto index = changed(space(), known_[i].index, 2 + random_below(2), random());
                if (index) found.push_back(*index);
            }
        }
    }

    std::optional<std::size_t> most_promising() {
        for (; next_modelled_ < known_.size(); ++next_modelled_) {
            modelled_.push_back(next_modelled_);
            posterior_->add(known_[next_modelled_].row);
        }
        const auto [mean, variance] = posterior_->predict(standardised(modelled_));
        bounds_.resize(candidates_.size());
        std::optional<std::size_t> best;
        auto least = std::numeric_limits<float>::infinity();
        for (std::size_t c = 0; c < candidates_.size(); ++c) {
            bounds_[c] = mean[c] - optimism * std::sqrt(variance[c]);
            if (bounds_[c] >= least || !untried().contains(candidates_[c])) continue;
            least = bounds_[c];
            best = candidates_[c];
        }
        return best;
    }

    Encoding encoding_;
    Covariance prior_;
    Covariance covariance_;
    std::vector<Known> known_;  // all points, in the order in which they were first proposed or observed
    std::unordered_map<std::size_t, std::size_t> known_of_;
    std::vector<double> feasible_;  // the costs of all points that were not rejected, lowest first
    bool prepared_ = false;
    std::vector<std::size_t> around_start_;
    std::vector<std::size_t> candidates_;
    std::vector<std::size_t> drawn_;     // random candidates; the latest is last
    std::vector<float> bounds_;          // lower confidence bounds of the candidates at the last proposal
    std::vector<std::size_t> modelled_;  // the points in the model, as indices into known_
    std::size_t next_modelled_ = 0;      // the first index into known_ that is not in the model yet
    std::optional<Posterior> posterior_;
    std::size_t refresh_at_ = 0;
};

}  // namespace

std::unique_ptr<Search> surrogate_search(SearchSetup setup) { return std::make_unique<Surrogate>(std::move(setup)); }

}  // namespace smemtune
