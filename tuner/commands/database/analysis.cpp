// smemtune db compare, db importance and db convergence: analyse stored trials.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tuner/analysis/convergence.h"
#include "tuner/analysis/stored_importance.h"
#include "tuner/analysis/winner_comparison.h"
#include "tuner/commands/command.h"
#include "tuner/commands/database/filters.h"
#include "tuner/report/stored/analysis_report.h"
#include "tuner/report/stored/csv.h"

namespace smemtune {

int database_compare_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "db compare",
         .summary = "Compare the winners of two databases, and say which differ beyond noise.",
         .words = "FILE FILE",
         .examples = {{"smemtune db compare before.db after.db", ""}},
         .columns = {{"ratio", "time in the first database / time in the second: above 1, the second is faster"},
                     {"95 %", "the interval of the ratio, from the samples of both winners"},
                     {"verdict", "faster or slower only if the whole interval lies more than 1 % away from 1"}},
         .notes = database_patterns});
    add_database_filters(line);
    add_output_formats(line);
    line.accept_words(2);
    if (!line.parse(arguments)) return success;
    if (line.words().size() != 2) throw UsageError("db compare needs two databases; see 'smemtune db compare --help'");
    const auto format = read_output_format(line);
    const ShownDatabase first(line.words()[0]);
    const ShownDatabase second(line.words()[1]);
    const auto filter = read_database_filter(line);
    const auto pairs = winner_pairs(first.store(), second.store(), filter);
    if (format == OutputFormat::csv) {
        fmt::print("{}", csv_text(comparison_json(pairs)));
    } else if (format == OutputFormat::json) {
        print_json_document("db compare", {{"databases", line.words()}, {"winners", comparison_json(pairs)}});
    } else {
        fmt::print("{}", comparison_text(pairs, line.words()[0], line.words()[1], line.table_width()));
    }
    return first.result(second.result());
}

int database_importance_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "db importance",
         .summary = "Show which parameters decide the speed of each template, from the stored trials.",
         .examples = {{"smemtune db importance --sizes 4096 --templates tiled", ""}},
         .columns = {{"share", "the share of the variance of log(time) that the parameter alone explains"},
                     {"best value", "the value whose configurations have the shortest time in the geometric mean"},
                     {"A with B", "the share that A and B explain together, minus the share of A and the share of B"}},
         .notes = fmt::format("The method is functional ANOVA. It is exact if every valid configuration was tried. "
                              "Otherwise, it uses a random forest, which needs at least {} measured configurations. {}",
                              least_measured, database_patterns)});
    add_database_filters(line);
    add_output_formats(line);
    line.add_database();
    if (!line.parse(arguments)) return success;
    const auto format = read_output_format(line);
    const ShownDatabase database(line.database());
    const auto& store = database.store();
    const auto filter = read_database_filter(line);
    const auto groups = stored_importance(store, filter);
    if (format == OutputFormat::csv) {
        fmt::print("{}", csv_text(importance_rows(groups)));
    } else if (format == OutputFormat::json) {
        print_json_document("db importance", {{"groups", importance_json(groups)}});
    } else {
        fmt::print("{}", importance_text(groups, line.table_width()));
    }
    if (groups.empty()) complain_of_nothing(line, store, filter);
    return database.result();
}

int database_convergence_command(const Arguments& arguments, const ProcessEnvironment& process_environment) {
    CommandLine line(
        process_environment,
        {.name = "db convergence",
         .summary = "Show after how many trials and seconds each problem came near its best time.",
         .examples = {{"smemtune db convergence --sizes 512..8192", ""}},
         .columns = {{"within 10 %", "trials, and seconds, until the best time so far was within 10 % of the best"},
                     {"best after", "trials and seconds until the best time"}},
         .notes = fmt::format("Trials of all templates count, also rejected ones. Seconds leave out the time between "
                              "runs. A second in which several sizes were tuned counts for each size. {}",
                              database_patterns)});
    add_database_filters(line);
    add_output_formats(line);
    line.add_database();
    if (!line.parse(arguments)) return success;
    const auto format = read_output_format(line);
    const ShownDatabase database(line.database());
    const auto& store = database.store();
    const auto filter = read_database_filter(line);
    const auto problems = stored_convergence(store, filter);
    if (format == OutputFormat::csv) {
        fmt::print("{}", csv_text(convergence_rows(problems)));
    } else if (format == OutputFormat::json) {
        print_json_document("db convergence", {{"problems", convergence_json(problems)}});
    } else if (!problems.empty()) {
        fmt::print("{}", convergence_text(problems, line.table_width()));
    }
    if (problems.empty()) complain_of_nothing(line, store, filter);
    return database.result();
}

}  // namespace smemtune
