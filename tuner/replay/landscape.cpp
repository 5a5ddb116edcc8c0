#include "tuner/replay/landscape.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <stdexcept>

#include "db/store.h"
#include "templates/launch/limits.h"
#include "templates/manifest/catalog.h"
#include "templates/space/value.h"
#include "tuner/cli/shell_text.h"
#include "tuner/replay/kernel_tuner_cache.h"

namespace smemtune {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
    throw std::invalid_argument(path.string() + ": " + what);
}

bool is_database(const std::filesystem::path& path) {
    static constexpr std::string_view magic("SQLite format 3\0", 16);
    std::string start(magic.size(), '\0');
    std::ifstream(path, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size()));
    return start == magic;
}

struct CloseGzip {
    void operator()(gzFile_s* file) const { gzclose_r(file); }
};

// Returns the value of a text that is one whole number in canonical form (`-5`, but not `+5` or `05`); nothing for
// others.
std::optional<std::int64_t> whole(const std::string& spelling) {
    std::int64_t value = 0;
    const auto* end = spelling.data() + spelling.size();
    const auto [stop, error] = std::from_chars(spelling.data(), end, value);
    return error == std::errc{} && stop == end && std::to_string(value) == spelling ? std::optional(value)
                                                                                    : std::nullopt;
}

// The values of a configuration are whole numbers. If a parameter has any other value (a string, a fraction), all its
// values are replaced by their indices, and Landscape::spellings keeps the original texts.
std::vector<Parameter> to_parameters(const std::vector<RecordedParameter>& recorded, Landscape& landscape) {
    std::vector<Parameter> parameters;
    for (const auto& [name, spellings] : recorded) {
        auto& parameter = parameters.emplace_back(Parameter{.name = name});
        const bool numbers = std::ranges::all_of(spellings, [](const auto& each) { return whole(each).has_value(); });
        for (std::size_t i = 0; i < spellings.size(); ++i) {
            parameter.values.push_back(numbers ? *whole(spellings[i]) : static_cast<std::int64_t>(i));
        }
        if (!numbers) landscape.spellings[name] = spellings;
        parameter.default_value = parameter.values.empty() ? 0 : parameter.values.front();
    }
    return parameters;
}

void set_points(Landscape& landscape, std::vector<Parameter> parameters,
                const std::map<Configuration, std::optional<double>>& known) {
    std::vector<Configuration> points;
    points.reserve(known.size());
    for (const auto& [configuration, cost] : known) points.push_back(configuration);
    landscape.space = std::make_shared<ParameterSpace>(std::move(parameters), points);
    landscape.costs.resize(known.size());
    for (const auto& [configuration, cost] : known) landscape.costs[*landscape.space->find(configuration)] = cost;
}

Landscape from_cache(const std::filesystem::path& path) {
    auto recording = parse_kernel_tuner_cache(path.string(), read_unpacked(path));
    Landscape landscape{.device = std::move(recording.device),
                        .kernel = std::move(recording.kernel),
                        .problem = std::move(recording.problem),
                        .objective = std::move(recording.objective)};
    auto parameters = to_parameters(recording.parameters, landscape);
    std::map<Configuration, std::optional<double>> known;
    for (const auto& entry : recording.entries) {
        Configuration configuration;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            configuration.values[parameters[i].name] = parameters[i].values[entry.values[i]];
        }
        known[std::move(configuration)] = entry.cost;
    }
    set_points(landscape, std::move(parameters), known);
    return landscape;
}

// Returns a hint such as `; --sizes 512x512x512 | 1024x1024x1024`: an option and the names to choose from. If there are
// more than six names, lists the first six and the total number. Empty if there is only one name.
std::string choices(const char* option, const std::set<std::string>& names) {
    constexpr std::size_t most = 6;
    if (names.size() < 2) return {};
    std::string text = std::string("; ") + option + " ";
    std::size_t count = 0;
    for (const auto& name : names) {
        if (count == most) break;
        text += (count++ == 0 ? "" : " | ") + name;
    }
    return names.size() > most ? text + " | ... (" + std::to_string(names.size()) + " in all)" : text;
}

// Returns the trials of one recording. If the database has several versions of a template or device, returns only the
// trials of the version with the latest trial.
std::vector<TrialRow> one_recording(const std::filesystem::path& path, const Store& store,
                                    const LandscapeFilter& filter) {
    auto rows = store.rows({.devices = filter.devices,
                            .kernel_templates = filter.kernel_templates,
                            .sizes = filter.sizes,
                            .operations = filter.operations});
    std::erase_if(rows,
                  [&](const TrialRow& row) { return !filter.layout.empty() && row.problem.layout != filter.layout; });
    if (rows.empty())
        fail(path, "holds no trial of that device, template and size; see " + command_for(path, "db trials"));
    std::set<std::string> devices;
    std::set<std::string> kernel_templates;
    std::set<std::string> problems;
    for (const auto& row : rows) {
        devices.insert(row.device);
        kernel_templates.insert(row.kernel_template);
        problems.insert(to_text(row.problem));
    }
    if (devices.size() > 1 || kernel_templates.size() > 1 || problems.size() > 1) {
        fail(path, "holds several recordings; choose one" + choices("--device", devices) +
                       choices("--templates", kernel_templates) + choices("--sizes and --layout, of", problems));
    }
    const auto last = std::ranges::max_element(rows, {}, &TrialRow::finished_at)->record.key;
    std::erase_if(rows, [&](const TrialRow& row) { return row.record.key != last; });
    return rows;
}

// Returns the recorded template's valid configurations; nothing if its files cannot be read any more.
std::optional<ParameterSpace> valid_space(const Store& store, const TrialRow& row) {
    const auto kernel = store.recall_template(row.record.key.kernel_template);
    if (!kernel || kernel->files.empty()) return std::nullopt;
    try {
        const auto loaded = load_template(kernel->files);
        for (const auto& [id, device] : store.devices()) {
            if (id == row.record.key.device) return feasible_space(loaded, row.problem, device);
        }
    } catch (const ManifestError&) {
    } catch (const ExpressionError&) {
    }
    return std::nullopt;
}

Landscape from_database(const std::filesystem::path& path, const LandscapeFilter& filter) {
    const Store store(path, Store::Access::read);
    const auto rows = one_recording(path, store, filter);
    std::map<std::string, std::set<std::int64_t>> values;
    std::map<Configuration, std::optional<double>> known;
    for (const auto& row : rows) {
        const auto* measured = std::get_if<Measurement>(&row.record.outcome);
        known[row.record.configuration] = measured != nullptr ? std::optional(measured->median_us) : std::nullopt;
        for (const auto& [name, value] : row.record.configuration.values) values[name].insert(value);
    }
    std::vector<Parameter> parameters;
    parameters.reserve(values.size());
    for (const auto& [name, each] : values) {
        parameters.push_back({.name = name, .values = {each.begin(), each.end()}, .default_value = *each.begin()});
    }
    Landscape landscape{.device = rows.front().device,
                        .kernel = rows.front().kernel_template,
                        .problem = to_text(rows.front().problem),
                        .objective = "us",
                        .of_database = true};
    if (const auto space = valid_space(store, rows.front())) {
        landscape.valid = space->size();
        for (const auto& [configuration, cost] : known) landscape.tried += space->find(configuration) ? 1 : 0;
    }
    set_points(landscape, std::move(parameters), known);
    return landscape;
}

}  // namespace

// gzopen() also reads files that are not gzip.
std::string read_unpacked(const std::filesystem::path& path) {
    if (!std::filesystem::exists(path)) fail(path, "does not exist");
    const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(path.c_str(), "rb"));
    if (!file) fail(path, "cannot be read; check its permissions");
    std::string text;
    std::vector<char> block(1 << 20);
    int count = 0;
    while ((count = gzread(file.get(), block.data(), static_cast<unsigned>(block.size()))) > 0) {
        text.append(block.data(), static_cast<std::size_t>(count));
        // The limit is checked while unpacking, because 1 MB of gzip can unpack to 1 GB.
        if (text.size() > longest_cache) {
            fail(path, "has more than " + std::to_string(longest_cache) + " bytes when unpacked; is it a cache file?");
        }
    }
    int code = Z_OK;
    const std::string message = gzerror(file.get(), &code);
    if (code == Z_BUF_ERROR) fail(path, "ends in the middle of its gzip data; copy it again");
    if (code != Z_OK && code != Z_STREAM_END) fail(path, "is damaged gzip data (" + message + "); copy it again");
    return text;
}

Landscape::Spelled Landscape::spelled(const Configuration& configuration) const {
    Spelled result;
    for (const auto& [name, value] : configuration.values) {
        const auto known = spellings.find(name);
        result[name] = known == spellings.end() ? value_text(value) : known->second[static_cast<std::size_t>(value)];
    }
    return result;
}

std::optional<Configuration> Landscape::configuration(const Spelled& spelled) const {
    Configuration result;
    for (const auto& [name, text] : spelled) {
        std::optional<std::int64_t> value;
        if (const auto known = spellings.find(name); known == spellings.end()) {
            value = whole(text);
        } else if (const auto at = std::ranges::find(known->second, text); at != known->second.end()) {
            value = at - known->second.begin();
        }
        if (!value) return std::nullopt;
        result.values[name] = *value;
    }
    return space->find(result) ? std::optional(std::move(result)) : std::nullopt;
}

std::vector<std::size_t> Landscape::by_cost() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < costs.size(); ++i) {
        if (costs[i]) order.push_back(i);
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return *costs[i]; });
    return order;
}

Landscape read_landscape(const std::filesystem::path& path, const LandscapeFilter& filter) {
    if (!std::filesystem::exists(path)) fail(path, "does not exist");
    if (!std::filesystem::is_regular_file(path)) fail(path, "is not a file; give a Kernel Tuner cache or a database");
    auto landscape = is_database(path) ? from_database(path, filter) : from_cache(path);
    if (landscape.by_cost().empty()) {
        fail(path, "none of its " + std::to_string(landscape.costs.size()) +
                       " configurations succeeded, so there is nothing to find; record it again");
    }
    return landscape;
}

}  // namespace smemtune
