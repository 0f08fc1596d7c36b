// How long jobs waited: the share of jobs over the wait, and the wait over the size of jobs. Waits
// are spread over seconds to weeks, so both charts have a logarithmic axis of time.

const WAITS = [1, 10, MINUTE, 10 * MINUTE, HOUR, 4 * HOUR, DAY, 7 * DAY, 30 * DAY, 365 * DAY];
const WAIT_NAMES = ["1 s", "10 s", "1 min", "10 min", "1 h", "4 h", "1 d", "7 d", "30 d", "1 y"];

const waitLog = (seconds) => Math.log(Math.max(1, seconds));

function waitsOf(policy) {
  policy.waits ??= Float64Array.from(policy.start, (start, job) => start - data.submit[job]).sort();
  return policy.waits;
}

function longestWait() {
  const found = data.policies.map((policy) => waitsOf(policy).at(-1) ?? 0);
  return WAITS.find((wait) => wait >= Math.max(10, ...found)) ?? Math.max(...found);
}

function mark(area, x, text) {
  const { pen, box } = area, half = pen.measureText(text).width / 2;
  pen.fillStyle = css("--faint");
  pen.textAlign = "center";
  pen.fillText(text, Math.min(Math.max(x, half), box.left + box.width - half), box.top + box.height + 16);
}

function drawShares(canvas) {
  const area = plain(canvas), { pen, box } = area, longest = longestWait();
  const x = (wait) => box.left + (waitLog(wait) / waitLog(longest)) * box.width;
  const y = (share) => box.top + box.height * (1 - share / 100);
  sideAxis(area, [0, 25, 50, 75, 100], y);
  WAITS.forEach((wait, i) => { if (wait <= longest) mark(area, x(wait), WAIT_NAMES[i]); });
  for (const policy of data.policies.filter((each) => each.visible)) {
    const waits = waitsOf(policy);
    pen.strokeStyle = css(policy.colour);
    pen.lineWidth = policy === data.chosen ? 2 : 1;
    pen.beginPath();
    for (let pixel = 0; pixel <= box.width; pixel++) {
      const wait = Math.exp((pixel / box.width) * waitLog(longest));
      pen.lineTo(box.left + pixel, y((100 * countUpTo(waits, wait)) / Math.max(1, waits.length)));
    }
    pen.stroke();
  }
  pen.lineWidth = 1;
}

// How many sorted values are at most a limit.
function countUpTo(sorted, limit) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

// A group of bars for each class of sizes: up to the median, and a thin line up to p95.
function drawSizes(canvas) {
  const area = plain(canvas), { pen, box } = area, longest = longestWait();
  const y = (wait) => box.top + box.height * (1 - waitLog(wait) / waitLog(longest));
  pen.strokeStyle = css("--line");
  WAITS.forEach((wait, i) => {
    if (wait > longest) return;
    line(pen, box.left, y(wait), box.left + box.width, y(wait));
    pen.fillStyle = css("--faint");
    pen.textAlign = "right";
    pen.fillText(WAIT_NAMES[i], box.left - 6, y(wait) + 4);
  });
  const shown = data.policies.filter((each) => each.visible), classes = data.chosen.by_size;
  const step = box.width / Math.max(1, classes.length), wide = Math.min(24, (step * 0.8) / Math.max(1, shown.length));
  classes.forEach((each, i) => {
    const middle = box.left + (i + 0.5) * step;
    mark(area, middle, each.least === each.most ? `${each.least}` : `${each.least}-${each.most}`);
    shown.forEach((policy, j) => {
      const { median_wait: median, p95_wait: p95 } = policy.by_size[i];
      const left = middle + (j - shown.length / 2) * wide;
      pen.fillStyle = pen.strokeStyle = css(policy.colour);
      pen.fillRect(left, y(median), wide - 1, box.top + box.height - y(median));
      line(pen, left + wide / 2, y(median), left + wide / 2, y(p95));
    });
  });
}

function tellSizes(canvas, event) {
  const classes = data.chosen.by_size, width = canvas.clientWidth - LEFT - RIGHT;
  const at = Math.floor(((event.offsetX - LEFT) / width) * classes.length);
  if (!classes[at]) return null;
  const { least, most, jobs } = classes[at];
  return [`${jobs.toLocaleString("en")} jobs of ${least === most ? least : `${least} to ${most}`} processors`,
    ...data.policies.filter((each) => each.visible).map(({ name, by_size: found }) =>
      `${name}: median ${duration(found[at].median_wait)}, p95 ${duration(found[at].p95_wait)}`)].join("\n");
}

function tellShares(canvas, event) {
  const width = canvas.clientWidth - LEFT - RIGHT, part = (event.offsetX - LEFT) / width;
  if (part < 0 || part > 1) return null;
  const wait = Math.exp(part * waitLog(longestWait()));
  return [`waited at most ${duration(wait)}`, ...data.policies.filter((each) => each.visible).map((policy) =>
    `${policy.name}: ${((100 * countUpTo(waitsOf(policy), wait)) / Math.max(1, waitsOf(policy).length)).toFixed(1)} %`,
  )].join("\n");
}

function point(canvas, tell) {
  canvas.addEventListener("pointermove", (event) => tip(event, tell(canvas, event)));
  canvas.addEventListener("pointerleave", () => tip(null, null));
}
