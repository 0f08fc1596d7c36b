// The table of jobs: a page of it at a time, so that a hundred thousand jobs are no burden.

const ROWS = 25;
const table = { page: 0, order: "submit", find: "" };

function orderedJobs(policy) {
  const key = {
    wait: (job) => policy.start[job] - data.submit[job],
    size: (job) => data.size[job],
    run: (job) => policy.end[job] - policy.start[job],
  }[table.order];
  let jobs = Array.from(data.number.keys());
  if (table.find) jobs = jobs.filter((job) => String(data.number[job]).startsWith(table.find));
  return key ? jobs.sort((a, b) => key(b) - key(a) || a - b) : jobs;
}

function drawJobs(policy) {
  const jobs = orderedJobs(policy), pages = Math.max(1, Math.ceil(jobs.length / ROWS));
  table.page = Math.min(table.page, pages - 1);
  const rows = jobs.slice(table.page * ROWS, (table.page + 1) * ROWS).map((job) => {
    const { start, end } = policy, row = document.createElement("tr");
    const cells = [
      data.number[job], duration(data.submit[job]), duration(start[job] - data.submit[job]),
      duration(start[job]), duration(end[job] - start[job]), duration(data.walltime[job]),
      data.size[job].toLocaleString("en"), whichUnits(policy, job, 3), policy.backfilled[job] ? "yes" : "",
    ];
    row.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
    return row;
  });
  document.querySelector("#jobs tbody").replaceChildren(...rows);
  document.getElementById("jobs-policy").textContent = policy.name;
  document.getElementById("page").textContent =
    `page ${table.page + 1} of ${pages.toLocaleString("en")}`;
  document.getElementById("before").disabled = table.page === 0;
  document.getElementById("after").disabled = table.page === pages - 1;
}

function listenToTable() {
  const change = (key, value) => {
    Object.assign(table, { page: 0, [key]: value });
    drawJobs(data.chosen);
  };
  document.getElementById("find").addEventListener("input", (e) => change("find", e.target.value.trim()));
  document.getElementById("order").addEventListener("change", (e) => change("order", e.target.value));
  document.getElementById("before").addEventListener("click", () => change("page", table.page - 1));
  document.getElementById("after").addEventListener("click", () => change("page", table.page + 1));
}
