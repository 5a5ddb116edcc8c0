// The worker's own side: a process that lays problems out on its device and tries what it is asked to.
#include <algorithm>
#include <array>
#include <csignal>
#include <list>
#include <nlohmann/json.hpp>

#include "templates/manifest/catalog.h"
#include "tuner/trial/operands.h"
#include "tuner/worker/worker.h"

namespace smemtune {

namespace {

using nlohmann::json;

// Of the memory that is free: what it takes to lay a problem out beside others leaves as much again to whoever else
// uses the device.
constexpr double most_of_free = 0.5;

// The problems that are laid out, the one in use first.
class TestbedCache {
public:
    TestbedCache(Backend& backend, unsigned seed) : backend_(backend), seed_(seed) {}

    // What is free when a problem is laid out may be gone when its operands rotate, or are made anew: then the others
    // make room.
    json answer(const json& question) {
        const bool lays_out = question.at("do") == "prepare";
        const std::size_t needed = lays_out ? 0 : 1;
        try {
            return attempt(question);
        } catch (const OutOfMemory&) {
            if (lays_out && question.at("ahead")) return {{"laid_out", problems()}};  // does without
            if (places_.size() <= needed && question.at("do") != "trial") throw;
        }
        places_.resize(needed);
        json answer;
        try {
            answer = attempt(question);
        } catch (const NoRoomForWorkspace& error) {
            if (question.at("do") != "trial") throw;
            answer["report"] = TrialReport{.outcome = Rejection{Stage::launch, error.what()}};
        }
        answer["laid_out"] = problems();
        return answer;
    }

private:
    struct Place {
        Problem problem;
        std::unique_ptr<Testbed> testbed;
        bool over = false;
    };

    json attempt(const json& question) {
        const std::string what = question.at("do");
        if (what == "prepare") return lay_out(question);
        auto& testbed = *places_.front().testbed;
        const auto policy = question.at("policy").get<SamplingPolicy>();
        if (what == "final") {
            return {{"measurements", play_final(backend_, testbed, question.at("inputs").get<std::vector<TrialInput>>(),
                                                policy, question.at("rounds").get<int>())}};
        }
        const auto report = try_candidate(backend_, testbed, question.at("input").get<TrialInput>(), policy,
                                          question.at("best_us").get<double>());
        json answer{{"report", report}};
        const auto* rejection = std::get_if<Rejection>(&report.outcome);
        if (rejection != nullptr && rejection->stage == Stage::wrong) {
            // Whatever it wrote elsewhere must not be held against those that come later.
            places_.resize(1);
            answer["laid_out"] = problems();
        }
        return answer;
    }

    // One that is laid out ahead takes no memory from the others, but from those that are over.
    json lay_out(const json& question) {
        const auto problem = question.at("problem").get<Problem>();
        const bool ahead = question.at("ahead");
        const auto over = question.at("over").get<std::vector<Problem>>();
        for (auto& place : places_) place.over = place.over || std::ranges::count(over, place.problem) > 0;
        const auto found = std::ranges::find(places_, problem, &Place::problem);
        if (found == places_.end()) {
            const auto kernel = load_template(question.at("files").get<SourceTree>());
            const auto bytes = testbed_bytes(kernel.operation, problem, backend_.device());
            while (!fits(bytes) && drop_one_that_is_over()) {
            }
            while (!ahead && !places_.empty() && !fits(bytes)) places_.pop_back();
            if (!ahead || fits(bytes)) {
                auto testbed = std::make_unique<Testbed>(backend_, kernel.operation, problem,
                                                         question.at("binaries").get<TestbedBinaries>(), seed_);
                places_.insert(ahead ? places_.end() : places_.begin(), {problem, std::move(testbed)});
            }
        } else if (!ahead) {
            found->over = false;
            places_.splice(places_.begin(), places_, found);
        }
        return {{"laid_out", problems()}};
    }

    // The one that was in use longest ago.
    bool drop_one_that_is_over() {
        const auto last = std::find_if(places_.rbegin(), places_.rend(), [](const Place& place) { return place.over; });
        if (last == places_.rend()) return false;
        places_.erase(std::next(last).base());
        return true;
    }

    [[nodiscard]] bool fits(double bytes) { return bytes < most_of_free * static_cast<double>(backend_.free_bytes()); }

    [[nodiscard]] std::vector<Problem> problems() const {
        std::vector<Problem> problems;
        for (const auto& place : places_) problems.push_back(place.problem);
        return problems;
    }

    Backend& backend_;
    unsigned seed_;
    std::list<Place> places_;
};

}  // namespace

void serve_as_worker(const std::string& device, unsigned seed) {
    // These are the coordinator's to answer, after the trial in flight; they reach the whole process group.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    Channel channel(from_coordinator, to_coordinator);
    std::unique_ptr<Backend> backend;
    std::unique_ptr<TestbedCache> desk;
    try {
        backend = open_backend(device, {.seed = seed});
        backend->make_current();
        desk = std::make_unique<TestbedCache>(*backend, seed);
        channel.send({{"ready", true}});
        json question;
        while (channel.receive(question, std::chrono::steady_clock::time_point::max()) == Channel::Wait::message) {
            if (!channel.send(desk->answer(question))) break;
        }
    } catch (const DeviceFault& fault) {
        channel.send({{"rejection", Rejection{Stage::crash, fault.what()}}});
        // Nothing works after a fault, tidying up included.
        std::_Exit(1);
    } catch (const std::exception& error) {
        channel.send({{"error", error.what()}});
        std::_Exit(1);
    }
    // Nobody listens any more. The system takes everything back faster than one matrix after the other.
    std::_Exit(0);
}

}  // namespace smemtune
