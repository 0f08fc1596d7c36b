// Numbers over time, for all policies at once. Each pixel shows the mean of its span of time, read
// from the running sum, so that a chart of a year is as true as one of a minute.

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

function means(steps, pixels) {
  const width = (view.to - view.from) / pixels, found = new Float64Array(pixels);
  let before = sumTo(steps, view.from);
  for (let i = 0; i < pixels; i++) {
    const after = sumTo(steps, view.from + (i + 1) * width);
    found[i] = (after - before) / width;
    before = after;
  }
  return found;
}

function drawLines(canvas, which, top) {
  const area = prepare(canvas), { pen, box } = area;
  const pixels = Math.max(1, Math.floor(box.width));
  const shown = data.policies.filter((policy) => policy.visible);
  const curves = shown.map((policy) => means(policy[which], pixels));
  const max = top ?? Math.max(1, ...curves.map((curve) => curve.reduce((a, b) => Math.max(a, b), 0)));
  const y = (value) => box.top + box.height * (1 - value / max);
  sideAxis(area, amounts(max, 4), y);
  shown.forEach((policy, i) => {
    const chosen = policy === data.chosen;
    pen.strokeStyle = css(policy.colour);
    pen.lineWidth = chosen ? 2 : 1;
    pen.globalAlpha = chosen ? 1 : 0.75;
    pen.lineJoin = "bevel";
    pen.beginPath();
    curves[i].forEach((value, pixel) => pen.lineTo(box.left + pixel + 0.5, y(value)));
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
