// Times are seconds since the first submit. How they are written, and where an axis marks them.

const MINUTE = 60, HOUR = 3600, DAY = 86400;
const TICKS = [
  1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
  HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 5 * DAY, 10 * DAY, 20 * DAY,
  50 * DAY, 100 * DAY, 200 * DAY, 500 * DAY, 1000 * DAY, 5000 * DAY,
];

const two = (n) => String(n).padStart(2, "0");

// 97384 -> "1 d 03:03:04"
function duration(seconds) {
  const s = Math.round(seconds), days = Math.floor(s / DAY);
  const clock = `${two(Math.floor(s / HOUR) % 24)}:${two(Math.floor(s / MINUTE) % 60)}:${two(s % 60)}`;
  return days ? `${days.toLocaleString("en")} d ${clock}` : clock;
}

function tickLabel(time, step) {
  if (step >= DAY) return `day ${Math.round(time / DAY).toLocaleString("en")}`;
  const days = Math.floor(time / DAY);
  const text = duration(time - days * DAY);
  return `${days ? `d ${days} ` : ""}${step >= MINUTE ? text.slice(0, 5) : text}`;
}

function ticks(from, to, most) {
  const step = TICKS.find((t) => (to - from) / t <= most) ?? TICKS.at(-1);
  const found = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) found.push(t);
  return { step, times: found };
}

// Round numbers up to `max` for an axis of amounts.
function amounts(max, most) {
  const raw = Math.max(max, 1) / most, size = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, [1, 2, 5, 10].find((m) => m * size >= raw) * size);
  const found = [];
  for (let v = 0; v <= max; v += step) found.push(v);
  return found;
}
