// The span of time that all charts show, and what moves it: wheel, drag, keys and buttons.

const view = { from: 0, to: 1, min: 0, max: 1 };
const LEFT = 58, RIGHT = 8;
const watchers = [];
let asked = false;

// Draw at the next frame, once, however many changes there were.
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; watchers.forEach((draw) => draw()); });
}

function show(from, to) {
  const whole = view.max - view.min;
  const length = Math.min(whole, Math.max(to - from, Math.min(10, whole)));
  view.from = Math.max(view.min, Math.min(from, view.max - length));
  view.to = view.from + length;
  redraw();
}

function zoom(factor, around = (view.from + view.to) / 2) {
  show(around - (around - view.from) * factor, around + (view.to - around) * factor);
}

function move(way) {
  const step = (view.to - view.from) / 4;
  if (way === "in") zoom(0.5);
  if (way === "out") zoom(2);
  if (way === "left") show(view.from - step, view.to - step);
  if (way === "right") show(view.from + step, view.to + step);
  if (way === "all") show(view.min, view.max);
}

const KEYS = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all" };

const timeAt = (canvas, x) =>
  view.from + ((x - LEFT) / (canvas.clientWidth - LEFT - RIGHT)) * (view.to - view.from);

function listen(canvas, tell) {
  let drag = null;
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey) return;
    event.preventDefault();
    const along = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const width = view.to - view.from;
    if (along) show(view.from + (event.deltaX / 800) * width, view.to + (event.deltaX / 800) * width);
    else zoom(Math.exp(Math.max(-100, Math.min(100, event.deltaY)) / 300), timeAt(canvas, event.offsetX));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.offsetX, from: view.from, to: view.to };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", () => { drag = null; });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      const width = drag.to - drag.from, pixels = canvas.clientWidth - LEFT - RIGHT;
      const shift = ((drag.x - event.offsetX) / pixels) * width;
      show(drag.from + shift, drag.from + shift + width);
    }
    tip(event, drag ? null : tell(event));
  });
  canvas.addEventListener("pointerleave", () => tip(null, null));
  canvas.addEventListener("keydown", (event) => {
    if (!KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move(KEYS[event.key]);
  });
}

function tip(event, text) {
  const box = document.getElementById("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  box.style.left = `${Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8)}px`;
  box.style.top = `${Math.min(event.clientY + 14, innerHeight - box.offsetHeight - 8)}px`;
}

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A canvas ready to be drawn on, sharp on any screen.
function plain(canvas) {
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = "12px system-ui, sans-serif";
  return { pen, box: { left: LEFT, top: 6, width: Math.max(1, width - LEFT - RIGHT), height: height - 28 } };
}

// The same with a time axis below.
function prepare(canvas) {
  const { pen, box } = plain(canvas), width = canvas.clientWidth;
  const x = (time) => box.left + ((time - view.from) / (view.to - view.from)) * box.width;
  const axis = ticks(view.from, view.to, box.width / 90);
  pen.strokeStyle = css("--line");
  pen.fillStyle = css("--faint");
  pen.textAlign = "center";
  for (const time of axis.times) {
    line(pen, x(time), box.top, x(time), box.top + box.height);
    const text = tickLabel(time, axis.step), half = pen.measureText(text).width / 2;
    pen.fillText(text, Math.min(Math.max(x(time), half), width - half), box.top + box.height + 16);
  }
  return { pen, box, x };
}

function line(pen, x1, y1, x2, y2) {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}

function sideAxis({ pen, box }, values, y) {
  pen.fillStyle = css("--faint");
  pen.strokeStyle = css("--line");
  pen.textAlign = "right";
  for (const value of values) {
    line(pen, box.left, y(value), box.left + box.width, y(value));
    pen.fillText(value.toLocaleString("en"), box.left - 6, y(value) + 4);
  }
}
