// SPDX-License-Identifier: Apache-2.0
#include "plan.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>
#include <stdexcept>

#include "../base/text.hpp"
#include "../case/requirements.hpp"

namespace recheck {
namespace {

/// Throws an error that lists valid names if a chosen one is unknown.
void require_known(const char* what, const std::vector<std::string>& chosen,
                   const std::vector<std::string>& known) {
  for (const auto& name : chosen) {
    if (std::ranges::find(known, name) == known.end())
      throw std::invalid_argument(std::string("unknown ") + what + " '" + name +
                                  "': " + instead_of(name, known));
  }
}

std::size_t extents_of(const std::string& shape) {
  return 1 + static_cast<std::size_t>(std::ranges::count(shape, 'x'));
}

/// Throws an error that lists the axes of all experiments if no experiment has such a shape.
void require_shape(std::span<const Experiment* const> experiments, const std::string& text) {
  std::vector<std::string> known;
  for (const auto* experiment : experiments) {
    if (experiment->axes.size() == extents_of(text)) return;
    known.push_back(std::string(experiment->name) + " " + joined(experiment->axes, "x") + " as " +
                    to_string(Shape(experiment->axes.size(), 1024)));
  }
  throw std::invalid_argument("'" + text + "' is not a shape: give " + joined(known));
}

[[noreturn]] void refuse_table(const Experiment& experiment, const std::string& what) {
  throw std::invalid_argument("experiment '" + std::string(experiment.name) + "': " + what);
}

/// Names become parts of ids, files and links, so their characters are restricted.
bool is_name(std::string_view name, std::size_t longest) {
  return !name.empty() && name.size() <= longest &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

void require_rows(const Experiment& experiment) {
  std::set<std::string_view> names;
  for (const auto& row : experiment.ladder) {
    const std::string name(row.name), whole(row.part_of);
    const auto refuse_if = [&](bool wrong, const std::string& what) {
      if (wrong) refuse_table(experiment, "the row '" + name + "' " + what);
    };
    refuse_if(!is_name(name, 40),
              "may hold only a-z, 0-9 and _ in its name, 40 characters at most");
    if (!names.insert(row.name).second) refuse_table(experiment, "two rows are named " + name);
    // a component has no proof of its own
    const auto found = std::ranges::find(experiment.ladder, whole, &Strategy::name);
    refuse_if(!whole.empty() && found == experiment.ladder.end(),
              "is part of '" + whole + "', which is not one of its rows");
    refuse_if(!whole.empty() && row.role != Role::part,
              "is part of '" + whole + "', so its role is part");
    refuse_if(whole.empty() && row.role == Role::part, "is a part: name its row as part_of");
    refuse_if(row.launch.run == nullptr && row.launch.absent.empty(), "has no launch");
    refuse_if(row.source.document.empty(), "has no source: name a document, and a place in it");
  }
}

/// Checks references between outputs.
void require_outputs(const Experiment& experiment, const Strategy& row, const Shape& shape,
                     std::span<const Extent> inputs) {
  const auto outputs = experiment.problem_of(row).output(shape);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto refuse_if = [&](bool wrong, const std::string& what) {
      if (wrong)
        refuse_table(experiment,
                     "at " + to_string(shape) + " the output " + std::to_string(i) + what);
    };
    if (const auto& length = outputs[i].length_in) {
      const bool there = *length >= 0 && std::cmp_less(*length, outputs.size());
      const Extent holds = there ? outputs[static_cast<std::size_t>(*length)] : Extent{};
      refuse_if(holds.rows * holds.columns == 0 || holds.length_in,
                " has its length_in " + std::to_string(*length) +
                    ", which has to be another output, with an element, and no such length");
    }
    if (const auto& input = outputs[i].starts_as) {
      const bool there = *input >= 0 && std::cmp_less(*input, inputs.size());
      const Extent as = there ? inputs[static_cast<std::size_t>(*input)] : Extent{-1, -1};
      refuse_if(as.rows != outputs[i].rows || as.columns != outputs[i].columns ||
                    as.element != outputs[i].element,
                " starts_as " + std::to_string(*input) +
                    ", which has to be an input of the same extent and element");
      refuse_if(row.repeats, " starts as an input: '" + std::string(row.name) +
                                 "' cannot repeat its work in a launch");
    }
  }
}

void require_shape_of(const Experiment& experiment, const Shape& shape) {
  const std::string text = to_string(shape);
  if (shape.size() != experiment.axes.size())
    refuse_table(experiment, "the shape " + text + " does not have " +
                                 std::to_string(experiment.axes.size()) + " extents");
  if (std::ranges::any_of(shape, [](auto e) { return e < 0 || e > most_extent; }))
    refuse_table(experiment, "the extents of the shape " + text + " have to be from 0 to " +
                                 std::to_string(most_extent));
  const auto inputs = experiment.inputs(shape);
  if (inputs.empty()) refuse_table(experiment, "it has no input at " + text);
  auto matrices = inputs;
  const auto outputs = experiment.problem.output(shape);
  if (outputs.empty()) refuse_table(experiment, "it has no output at " + text);
  matrices.insert(matrices.end(), outputs.begin(), outputs.end());
  // so that a number of bytes is no overflow
  constexpr auto most = std::int64_t{1} << 56;
  for (const auto& matrix : matrices)
    if (matrix.rows < 0 || matrix.columns < 0 ||
        matrix.rows > most / std::max<std::int64_t>(1, matrix.columns))
      refuse_table(experiment, "at " + text + " an input or an output is " +
                                   std::to_string(matrix.rows) + "x" +
                                   std::to_string(matrix.columns));
  for (const auto& row : experiment.ladder) require_outputs(experiment, row, shape, inputs);
}

void require_timed(const Experiment& experiment) {
  std::set<Shape> timed;
  for (const auto& shape : experiment.timed) {
    if (experiment.is_empty(shape))
      refuse_table(experiment, "at " + to_string(shape) +
                                   " there is nothing to time: make it one of its edges");
    if (!timed.insert(shape).second)
      refuse_table(experiment, "the shape " + to_string(shape) + " is timed twice");
    if (experiment.terms(shape) < 1)
      refuse_table(experiment, "its terms at " + to_string(shape) +
                                   " have to be 1 or more: 1 where nothing is summed");
    const auto in = held_by(experiment.inputs(shape));
    for (const auto& row : experiment.ladder) {
      const auto [flops, bytes] = experiment.work(row, shape);
      const auto refuse = [&](const char* why) {
        refuse_table(experiment, "the work of '" + std::string(experiment.problem_of(row).says) +
                                     "' at " + to_string(shape) + why);
      };
      if (!std::isfinite(flops) || !std::isfinite(bytes) || flops < 0 || bytes < 0)
        refuse(" is not a finite number of operations and bytes");
      const auto out = held_by(experiment.problem_of(row).output(shape));
      for (const auto& held : {in, Held{in.elements + out.elements, in.bytes + out.bytes}})
        if (bytes == held.elements && bytes < held.bytes)
          refuse(" has as many bytes as there are elements: count bytes");
    }
  }
  if (!timed.contains(experiment.headline))
    refuse_table(experiment, "its headline " + to_string(experiment.headline) +
                                 " is not among the shapes timed");
}

/// Refuses tables with ambiguous rows or shapes, and tables that would measure nothing.
void require_form(const Experiment& experiment) {
  if (!is_name(experiment.name, 60))
    refuse_table(experiment, "its name may hold only a-z, 0-9 and _, 60 characters at most");
  for (const auto axis : experiment.axes)
    if (std::ranges::count(experiment.axes, axis) > 1)
      refuse_table(experiment, "two of its axes are named " + std::string(axis));
  const Problem& problem = experiment.problem;
  if (!experiment.inputs || !experiment.terms || !problem.output || !problem.work ||
      !problem.oracle)
    refuse_table(experiment, "it needs inputs, terms, and a problem with output, work and oracle");
  require_rows(experiment);
  for (const auto* shapes : {&experiment.timed, &experiment.edges})
    for (const auto& shape : *shapes) require_shape_of(experiment, shape);
  require_timed(experiment);
}

void require_sense(std::span<const Experiment> experiments, const Choice& choice) {
  std::vector<std::string> names, strategies, regime_names;
  for (const auto& experiment : experiments) {
    require_form(experiment);
    if (std::ranges::find(names, experiment.name) != names.end())
      throw std::invalid_argument("two experiments are named '" + std::string(experiment.name) +
                                  "'");
    names.emplace_back(experiment.name);
  }
  require_known("experiment", choice.experiments, names);
  std::vector<const Experiment*> chosen;
  for (const auto& experiment : experiments) {
    if (!wanted(choice.experiments, experiment.name)) continue;
    chosen.push_back(&experiment);
    for (const auto& strategy : experiment.ladder)
      if (std::ranges::find(strategies, strategy.name) == strategies.end())
        strategies.emplace_back(strategy.name);
  }
  require_known("strategy", choice.strategies, strategies);
  for (const auto& text : choice.shapes) require_shape(chosen, text);
  // only harness experiments match the choice: they alone would not measure anything it asks for
  if (choice.experiments.empty()) std::erase_if(chosen, [](auto* e) { return e->self; });
  const auto fits = [&](const std::string& text) {
    return std::ranges::any_of(chosen,
                               [&](const auto* e) { return e->axes.size() == extents_of(text); });
  };
  if (!choice.shapes.empty() && !chosen.empty() && std::ranges::none_of(choice.shapes, fits))
    require_shape(chosen, choice.shapes.front());
  for (const auto& kind : regimes) regime_names.emplace_back(kind.name);
  require_known("regime", choice.regimes, regime_names);
  if (!choice.cases.empty() && choice.narrowed())
    throw std::invalid_argument(
        "--cases already selects the cases: leave out --experiment, "
        "--strategy, --shape and --regime");
}

/// Whether a strategy can be timed in a regime at all.
bool applies(const Experiment& experiment, const Strategy& strategy, const RegimeKind& kind) {
  // a CPU's data is already in place, so its hot time is its end-to-end time too
  if (strategy.launch.backend == Backend::cpu) return kind.on_cpu;
  if (kind.repeats > 1 && !strategy.repeats) return false;
  const auto& lasting = experiment.sustained;
  if (kind.timing == Timing::seconds && std::ranges::find(lasting, strategy.name) == lasting.end())
    return false;
  return kind.of_parts || strategy.role != Role::part;
}

/// Whether a full run skips this case.
bool left_out(const Experiment& experiment, const Strategy& strategy, const Shape& shape,
              const RegimeKind& kind, const Choice& choice) {
  const bool named = !choice.cases.empty() && !experiment.self;
  if (kind.only_if_named && choice.regimes.empty() && !named) return true;
  if (!choice.shapes.empty()) return false;
  if (kind.timing == Timing::seconds) return shape != experiment.headline;
  // for rows that write little, the library's row at the headline shows that drained equals cold
  if (kind.drains && !writes_much(experiment, strategy, shape) &&
      (strategy.role != Role::baseline || shape != experiment.headline))
    return true;
  return experiment.leaves_out != nullptr && experiment.leaves_out(strategy, shape, kind.regime);
}

std::vector<Shape> shapes_of(const Experiment& experiment, const Choice& choice) {
  if (choice.shapes.empty()) return experiment.timed;
  std::vector<Shape> shapes;
  for (const auto& text : choice.shapes) {
    if (extents_of(text) != experiment.axes.size()) continue;
    auto shape = parse_shape(text, experiment.axes.size());
    if (experiment.is_empty(shape))
      throw std::invalid_argument("'" + text + "' is empty: give extents of 1 or more");
    if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(std::move(shape));
  }
  return shapes;
}

/// Keeps the cases with these ids, and those that every record needs: the machine's ceilings and
/// the self-audit. Throws std::invalid_argument for an id without a case.
void keep_named(std::vector<Case>& cases, const std::vector<std::string>& ids) {
  std::set<std::string> left(ids.begin(), ids.end());
  std::erase_if(cases, [&](const Case& c) {
    const bool named = left.erase(c.id()) > 0;
    // first calls must be named: a full run, which resumes this one, does not have them either
    return !named && (!c.experiment->self || c.kind().only_if_named);
  });
  if (!left.empty())
    throw std::invalid_argument("--cases names " + *left.begin() +
                                ", which is not a case; see --benchmark_list_tests");
}

}  // namespace

bool writes_much(const Experiment& experiment, const Strategy& strategy, const Shape& shape) {
  constexpr double share = 0.05;
  const auto bytes = [](const std::vector<Extent>& matrices) { return held_by(matrices).bytes; };
  return bytes(experiment.problem_of(strategy).output(shape)) >=
         share * bytes(experiment.inputs(shape));
}

Planned plan(std::span<const Experiment> experiments, const Choice& choice) {
  require_sense(experiments, choice);
  Planned planned;
  planned.coverage.preset = choice.narrowed() ? "chosen" : choice.cases.empty() ? "full" : "claims";
  for (const auto& experiment : experiments) {
    if (!wanted(choice.experiments, experiment.name)) continue;
    for (const auto& shape : shapes_of(experiment, choice)) {
      for (const auto& kind : regimes)
        for (const auto& strategy : experiment.ladder)
          if (applies(experiment, strategy, kind) &&
              !left_out(experiment, strategy, shape, kind, choice) &&
              wanted(choice.strategies, strategy.name) && wanted(choice.regimes, kind.name))
            planned.cases.push_back({&experiment, &strategy, shape, kind.regime});
    }
  }
  if (!choice.cases.empty()) keep_named(planned.cases, choice.cases);
  if (planned.cases.empty())
    throw std::invalid_argument(
        "nothing to measure: no such strategy has that shape or regime; CPU rows run hot "
        "only, and inner is for rows that can repeat their work");
  return planned;
}

}  // namespace recheck
