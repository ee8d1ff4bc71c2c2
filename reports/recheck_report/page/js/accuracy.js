// how far results are from float64's: the proof of every case, on real inputs

const INEXACT = CASES.filter((each) => each.error && stands(each) && EXPERIMENTS.get(each.experiment).ordinary);
if (INEXACT.length) VIEWS.push({ name: "accuracy", title: "Accuracy", show: showAccuracy });

function showAccuracy(root, state) {
  const known = ordinary().filter(({ name }) => INEXACT.some((each) => each.experiment === name));
  const experiment = EXPERIMENTS.get(chosen(state.experiment, known.map(({ name }) => name)));
  const own = INEXACT.filter((each) => each.experiment === experiment.name);
  const choices = known.map(({ name, title }) => [name, title]);
  add(
    root,
    el("h1", {}, "Accuracy"),
    el("p", { class: "answer small", id: "answer" }, rich(experiment.accuracy)),
    el("p", { class: "note" }, "Errors of the regime that ranks the rows (CPU rows: hot) on real inputs, against float64; other regimes have other random inputs. Speed has each with the bound that it must keep."),
    controls(select("experiment", "Experiment", choices, experiment.name, (name) => go({ view: "accuracy", experiment: name }))),
    sizesPlot(experiment, own, experiment.drawn, "error", "error", `${experiment.title}: ${own[0].error_metric}`),
    sizesTable(experiment, own, "error", "error"),
  );
}
