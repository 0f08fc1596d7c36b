// From the embedded data to a page that answers.

function read() {
  const found = JSON.parse(document.getElementById("data").textContent);
  found.policies.forEach((policy, i) => {
    policy.colour = `--p${i % 5}`;
    policy.visible = true;
    policy.queue = stepsOf(found.submit, policy.start, () => 1);
    policy.usage = stepsOf(policy.start, policy.end, (job) => found.size[job]);
  });
  found.chosen = found.policies[0];
  return found;
}

const data = read();
const canvases = Object.fromEntries(
  ["gantt", "usage", "queue", "shares", "sizes"].map((id) => [id, document.getElementById(id)]));

function draw() {
  drawGantt(canvases.gantt, data.chosen);
  drawLines(canvases.usage, "usage", data.processors);
  drawLines(canvases.queue, "queue");
  drawShares(canvases.shares);
  drawSizes(canvases.sizes);
}

function describe() {
  const { name, figures } = data.chosen;
  canvases.gantt.setAttribute("aria-label",
    `Gantt chart of ${figures.jobs} jobs under ${name}; the table of jobs below has the same facts.`);
  canvases.usage.setAttribute("aria-label",
    `Processors in use over time. Under ${name} ${Math.round(figures.utilisation * 100)} % on average.`);
  canvases.queue.setAttribute("aria-label",
    `Jobs that wait over time. Under ${name} at most ${figures.longest_queue}.`);
}

function choose(policy) {
  data.chosen = policy;
  describe();
  drawJobs(policy);
  redraw();
}

function buildControls() {
  const policies = document.getElementById("policies");
  data.policies.forEach((policy, i) => {
    const radio = Object.assign(document.createElement("input"),
      { type: "radio", name: "policy", value: policy.name, checked: i === 0 });
    radio.addEventListener("change", () => choose(policy));
    const label = document.createElement("label");
    label.append(radio, ` ${policy.name}`);
    policies.append(label);
  });
  document.querySelectorAll("[data-move]").forEach((button) =>
    button.addEventListener("click", () => move(button.dataset.move)));
}

const swatch = (colour) => {
  const mark = document.createElement("i");
  mark.style.background = colour;
  return mark;
};

function buildKeys() {
  const gantt = document.getElementById("gantt-key");
  gantt.replaceChildren(...[["in order", 0], ["backfilled", 1]].map(([text, kind]) => {
    const entry = document.createElement("span");
    entry.append(swatch(ganttColour(kind, 2)), text);
    return entry;
  }));
  document.querySelectorAll(".lines-key").forEach((key) =>
    key.replaceChildren(...data.policies.map((policy) => visibility(policy))));
}

// A policy's name and colour, with a box to leave its lines out.
function visibility(policy) {
  const entry = document.createElement("label");
  const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: policy.visible });
  box.addEventListener("change", () => { policy.visible = box.checked; buildKeys(); redraw(); });
  entry.append(box, " ", swatch(`var(${policy.colour})`), policy.name);
  return entry;
}

view.max = view.to = Math.max(1, ...data.policies.map((p) => p.end.reduce((a, b) => Math.max(a, b), 0)));
watchers.push(draw);
listen(canvases.gantt, (event) => {
  const job = jobAt(canvases.gantt, data.chosen, event);
  return job < 0 ? null : tellJob(data.chosen, job);
});
listen(canvases.usage, (event) => tellLines(canvases.usage, "usage", event));
listen(canvases.queue, (event) => tellLines(canvases.queue, "queue", event));
point(canvases.shares, tellShares);
point(canvases.sizes, tellSizes);
buildControls();
buildKeys();
listenToTable();
choose(data.chosen);
addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { buildKeys(); redraw(); });
