// how far results are from float64's: the proof of every case, on real inputs

const INEXACT = CASES.filter((each) => each.error && stands(each) && EXPERIMENTS.get(each.experiment).ordinary);

VIEWS.accuracy = (root, state) => {
  const known = ordinary().filter(({ name }) => INEXACT.some((each) => each.experiment === name));
  const experiment = EXPERIMENTS.get(chosen(state.experiment, known.map(({ name }) => name)));
  const cases = INEXACT.filter((each) => each.experiment === experiment.name);
  const choices = known.map(({ name, title }) => [name, title]);
  add(
    root,
    answerOf(experiment.name),
    el("p", { class: "note" }, "Errors of the regime that ranks the rows (CPU rows: hot) on real inputs, against float64; other regimes have other random inputs. Speed has each with the bound that it must keep."),
    controls(select("experiment", "Experiment", choices, experiment.name, (name) => go({ view: "accuracy", experiment: name }))),
    sizesPlot(experiment, cases, experiment.drawn, "error", "error", `${experiment.title}: ${cases[0].error_metric}`),
    sizesTable(experiment, cases, "error", "error"),
  );
};
