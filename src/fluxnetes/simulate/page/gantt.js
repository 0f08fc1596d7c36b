// The Gantt chart: time from left to right, processors from top to bottom, a box for each run of
// neighbouring processors that a job has. Boxes are drawn colour by colour, only those in view.

const SHADES = 5;

// Job number -> its shade, so that neighbours differ.
const shadeOf = (job) => (job * 7) % SHADES;

function ganttColour(backfilled, shade) {
  const base = parseFloat(css("--shade"));
  return `hsl(${css(backfilled ? "--backfilled" : "--in-order")} ${base + (shade - 2) * 5}%)`;
}

function jobsByColour(policy) {
  const groups = Array.from({ length: 2 * SHADES }, () => []);
  for (let job = 0; job < policy.start.length; job++)
    groups[policy.backfilled[job] * SHADES + shadeOf(job)].push(job);
  return groups;
}

function drawGantt(canvas, policy) {
  const area = prepare(canvas), { pen, box, x } = area;
  const tall = box.height / data.processors;
  const y = (unit) => (tall < 1 ? box.top + unit * tall : Math.round(box.top + unit * tall));
  sideAxis(area, amounts(data.processors, 6), y);
  pen.save();
  pen.beginPath();
  pen.rect(box.left, box.top, box.width, box.height);
  pen.clip();
  policy.groups ??= jobsByColour(policy);
  policy.groups.forEach((jobs, group) => {
    pen.fillStyle = ganttColour(group >= SHADES, group % SHADES);
    for (const job of jobs) {
      if (policy.end[job] < view.from || policy.start[job] > view.to) continue;
      const left = x(policy.start[job]), width = Math.max(x(policy.end[job]) - left, 0.25);
      const gap = width > 4 ? 0.6 : 0;
      for (let run = policy.at[job]; run < policy.at[job + 1]; run++) {
        const top = y(policy.first[run]), bottom = y(policy.first[run] + policy.count[run]);
        pen.fillRect(left, top, width - gap, bottom - top - (bottom - top > 4 ? 0.6 : 0));
      }
    }
  });
  pen.restore();
}

// The job at a point of the chart, or -1. Of short jobs on one pixel, the nearest.
function jobAt(canvas, policy, event) {
  const time = timeAt(canvas, event.offsetX);
  const unit = Math.floor(((event.offsetY - 6) / (canvas.clientHeight - 28)) * data.processors);
  const slack = ((view.to - view.from) / canvas.clientWidth) * 1.5;
  let best = -1, nearest = slack;
  for (let job = 0; job < policy.start.length; job++) {
    const away = Math.max(policy.start[job] - time, time - policy.end[job], 0);
    if (away < nearest && has(policy, job, unit)) [best, nearest] = [job, away];
  }
  return best;
}

function has(policy, job, unit) {
  for (let run = policy.at[job]; run < policy.at[job + 1]; run++)
    if (unit >= policy.first[run] && unit < policy.first[run] + policy.count[run]) return true;
  return false;
}

// "0-15, 32-47": the processors of a job, cut where that gets long.
function whichUnits(policy, job, most = 4) {
  const runs = [];
  for (let run = policy.at[job]; run < policy.at[job + 1]; run++) {
    if (runs.length === most) return `${runs.join(", ")}, …`;
    const first = policy.first[run], last = first + policy.count[run] - 1;
    runs.push(first === last ? `${first}` : `${first}-${last}`);
  }
  return runs.join(", ");
}

function tellJob(policy, job) {
  const { start, end, backfilled } = policy;
  return [
    `Job ${data.number[job]}${data.user[job] >= 0 ? ` of user ${data.user[job]}` : ""}` +
      ` on ${data.size[job].toLocaleString("en")} processors (${whichUnits(policy, job)})`,
    `submitted ${duration(data.submit[job])}, waited ${duration(start[job] - data.submit[job])}`,
    `ran ${duration(end[job] - start[job])} of ${duration(data.walltime[job])}, from ${duration(start[job])}`,
    backfilled[job] ? "backfilled: an earlier job was waiting" : "started in order",
  ].join("\n");
}
