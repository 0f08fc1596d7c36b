// Numbers over time, for all policies at once. Each point shows the mean of its span of time, read
// from the running sum, so that a chart of a year is as true as one of a minute. Where more happens
// than a screen can show, the points are fewer than the pixels, so that curves can be told apart, and
// a shade behind the chosen policy shows the least and the most within each span.

const POINTS = 160;

function stepsOf(up, down, amount) {
  const changes = new Map();
  const add = (time, value) => changes.set(time, (changes.get(time) ?? 0) + value);
  for (let job = 0; job < up.length; job++) {
    add(up[job], amount(job));
    add(down[job], -amount(job));
  }
  const time = Float64Array.from(changes.keys()).sort();
  const value = new Float64Array(time.length), sum = new Float64Array(time.length);
  for (let i = 0; i < time.length; i++) {
    value[i] = (i ? value[i - 1] : 0) + changes.get(time[i]);
    sum[i] = i ? sum[i - 1] + value[i - 1] * (time[i] - time[i - 1]) : 0;
  }
  return { time, value, sum };
}

// The last step at or before a time; -1: none.
function stepAt(steps, time) {
  let low = -1, high = steps.time.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (steps.time[middle] <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}

const valueAt = (steps, time) => { const i = stepAt(steps, time); return i < 0 ? 0 : steps.value[i]; };

function sumTo(steps, time) {
  const i = stepAt(steps, time);
  return i < 0 ? 0 : steps.sum[i] + steps.value[i] * (time - steps.time[i]);
}

const isCrowded = (steps, pixels) => stepAt(steps, view.to) - stepAt(steps, view.from) > pixels;

function means(steps, points) {
  const width = (view.to - view.from) / points, found = new Float64Array(points);
  let before = sumTo(steps, view.from);
  for (let i = 0; i < points; i++) {
    const after = sumTo(steps, view.from + (i + 1) * width);
    found[i] = (after - before) / width;
    before = after;
  }
  return found;
}

// The least and the most of a number within each of so many spans of the view.
function extremes(steps, points) {
  const width = (view.to - view.from) / points;
  const least = new Float64Array(points), most = new Float64Array(points);
  let step = stepAt(steps, view.from);
  for (let i = 0; i < points; i++) {
    const since = view.from + i * width, until = view.from + (i + 1) * width;
    while (steps.time[step + 1] <= since) step++;
    least[i] = most[i] = step < 0 ? 0 : steps.value[step];
    while (steps.time[step + 1] < until) {
      const value = steps.value[++step];
      if (value < least[i]) least[i] = value;
      if (value > most[i]) most[i] = value;
    }
  }
  return { least, most };
}

function drawShade({ pen, box }, policy, { least, most }, y) {
  const step = box.width / least.length, x = (i) => box.left + (i + 0.5) * step;
  pen.fillStyle = css(policy.colour);
  pen.globalAlpha = 0.18;
  pen.beginPath();
  most.forEach((value, i) => pen.lineTo(x(i), y(value)));
  for (let i = least.length - 1; i >= 0; i--) pen.lineTo(x(i), y(least[i]));
  pen.fill();
  pen.globalAlpha = 1;
}

function drawLines(canvas, which, top) {
  const area = prepare(canvas), { pen, box } = area;
  const pixels = Math.max(1, Math.floor(box.width));
  const shown = data.policies.filter((policy) => policy.visible);
  const crowded = shown.some((policy) => isCrowded(policy[which], pixels));
  const points = crowded ? Math.min(POINTS, pixels) : pixels;
  const curves = shown.map((policy) => means(policy[which], points));
  const behind = crowded && data.chosen.visible ? extremes(data.chosen[which], points) : null;
  if (behind) curves.push(behind.most);
  const max = top ?? Math.max(1, ...curves.map((curve) => curve.reduce((a, b) => Math.max(a, b), 0)));
  const y = (value) => box.top + box.height * (1 - value / max);
  sideAxis(area, amounts(max, 4), y);
  if (behind) drawShade(area, data.chosen, behind, y);
  shown.forEach((policy, i) => {
    const chosen = policy === data.chosen;
    pen.strokeStyle = css(policy.colour);
    pen.lineWidth = chosen ? 2 : 1;
    pen.globalAlpha = chosen ? 1 : 0.75;
    pen.lineJoin = "bevel";
    pen.beginPath();
    const step = box.width / points;
    curves[i].forEach((value, point) => pen.lineTo(box.left + (point + 0.5) * step, y(value)));
    pen.stroke();
  });
  pen.globalAlpha = 1;
  pen.lineWidth = 1;
}

function tellLines(canvas, which, event) {
  const time = timeAt(canvas, event.offsetX);
  if (time < view.from || time > view.to) return null;
  const lines = data.policies.filter((policy) => policy.visible).map(
    (policy) => `${policy.name}: ${valueAt(policy[which], time).toLocaleString("en")}`);
  return [duration(time), ...lines].join("\n");
}
