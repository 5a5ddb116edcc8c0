#include "tuner/cli/command_line.h"

#include <fmt/format.h>

#include <limits>
#include <set>
#include <sstream>

#include "templates/manifest/catalog.h"

namespace smemtune {

namespace po = boost::program_options;

CommandLine::CommandLine(std::string name, std::string usage) : name_(std::move(name)), usage_(std::move(usage)) {
    add()("help,h", "show this help");
}

void CommandLine::add_database(const ProcessEnvironment& process_environment) {
    add()("db", po::value<std::string>()->default_value(process_environment.database.string())->value_name("FILE"),
          "tuning database; SMEMTUNE_DB sets the default");
}

// Read as a wider type: read as unsigned, -1 would be a large number.
void CommandLine::add_seed(const char* of_what) {
    add()("seed", po::value<long long>()->default_value(1)->value_name("N"), of_what);
}

long long CommandLine::number(const std::string& name, long long least, long long most) const {
    const auto value = get<long long>(name);
    if (value < least) throw UsageError(fmt::format("--{} {} is less than {}", name, value, least));
    if (value > most) throw UsageError(fmt::format("--{} {} is more than {}", name, value, most));
    return value;
}

unsigned CommandLine::seed() const {
    return static_cast<unsigned>(number("seed", 0, std::numeric_limits<unsigned>::max()));
}

std::filesystem::path CommandLine::database() const {
    if (text("db").empty())
        throw UsageError("where is the database? HOME is not set; give --db FILE or set SMEMTUNE_DB");
    return text("db");
}

void CommandLine::add_json() { add()("json", po::bool_switch(), "print JSON on standard output instead of text"); }

void CommandLine::add_type() {
    std::set<std::string> known;
    for (const auto& kernel : load_templates(builtin_sources())) known.insert(kernel.types.begin(), kernel.types.end());
    const auto help = fmt::format("numerics class of the elements: {}", fmt::join(known, ", "));
    add()("type", po::value<std::string>()->default_value("f32")->value_name("T"), help.c_str());
}

void CommandLine::positional(std::initializer_list<const char*> names) {
    for (const auto* name : names) positional_.add(name, 1);
}

bool CommandLine::parse(const std::vector<std::string>& arguments) {
    const auto remedy = "; see 'smemtune " + name_ + " --help'";
    try {
        // No guessing of shortened names: --template is a mistake, not --templates.
        const auto style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
        po::store(po::command_line_parser(arguments).options(options_).positional(positional_).style(style).run(),
                  values_);
        if (!has("help")) po::notify(values_);
    } catch (const po::too_many_positional_options_error&) {
        throw UsageError("'" + arguments.back() + "' is one word too many" + remedy);
    } catch (const po::error& error) {
        throw UsageError(error.what() + remedy);
    }
    if (has("help")) {
        std::ostringstream options;
        options << options_;
        fmt::print("{}\n\n{}", usage_, options.str());
        return false;
    }
    return true;
}

}  // namespace smemtune
