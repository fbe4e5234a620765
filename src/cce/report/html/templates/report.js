"use strict";
// Filters, sorts and opens the cases of the table that the page already shows. Whatever comes from
// the payload enters the page as text, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("payload").textContent);
  const table = document.getElementById("table");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const find = document.getElementById("find");
  const show = document.getElementById("show");
  const tag = document.getElementById("tag");
  const metric = document.getElementById("metric");
  const hasDeltas = Object.keys(data.deltas).length > 0;
  const opened = new Map();
  let sorting = { by: "set", sign: 1 };

  const cases = [...body.rows].map((row, position) => ({
    row,
    position,
    id: row.querySelector("b").textContent,
    text: row.cells[0].textContent.toLowerCase(),
    tags: [...row.querySelectorAll("i:not(.mark)")].map((each) => each.textContent),
    isCritical: row.querySelector("i.mark:not(.block)") !== null,
    isBlocking: row.querySelector("i.block") !== null,
  }));
  let order = cases;

  function element(name, className, ...children) {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  /** Six decimals of an integer of 1e-6. */
  function figure(micro, isSigned) {
    if (micro === null || micro === undefined) return "n/a";
    const size = Math.abs(micro);
    const sign = micro < 0 ? "-" : isSigned ? "+" : "";
    return `${sign}${Math.floor(size / 1e6)}.${String(size % 1e6).padStart(6, "0")}`;
  }

  const rankText = (rank) => (rank === null ? "" : rank === 0 ? "none" : `rank ${rank}`);
  const trend = (delta) => (delta > 0 ? "up" : delta < 0 ? "down" : "tie");
  const shownMetric = () => Number(metric.value);
  const deltaOf = (position) => data.deltas[data.metrics[shownMetric()]][position];

  // ---- what is shown -------------------------------------------------------------------------

  const tests = {
    all: () => true,
    moved: ({ position }) => Object.values(data.deltas).some((deltas) => deltas[position]),
    worse: ({ position }) => deltaOf(position) < 0,
    better: ({ position }) => deltaOf(position) > 0,
    missed: ({ position }) => data.ranks.some((ranks) => ranks[position] === 0),
    critical: (each) => each.isCritical,
    blocking: (each) => each.isBlocking,
  };

  function filter() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const test = tests[show.value];
    const wanted = tag ? tag.value : "";
    let n = 0;
    for (const each of cases) {
      const fits =
        test(each) && (!wanted || each.tags.includes(wanted)) && words.every((word) => each.text.includes(word));
      each.row.hidden = !fits;
      const detail = opened.get(each.position);
      if (detail) detail.hidden = !fits;
      if (fits) n += 1;
    }
    const all = `${cases.length} ${cases.length === 1 ? "case" : "cases"}`;
    document.getElementById("count").textContent = n === cases.length ? all : `${n} of ${all}`;
    document.getElementById("nothing").hidden = n > 0;
  }

  function showAll() {
    find.value = "";
    show.value = "all";
    if (tag) tag.value = "";
    filter();
  }

  function key(each) {
    if (sorting.by === "set") return each.position;
    if (sorting.by === "delta") return deltaOf(each.position);
    return data.figures[Number(sorting.by)][shownMetric()][each.position];
  }

  const compareIds = (a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

  function compareKeys(a, b) {
    const [left, right] = [key(a), key(b)];
    if (left === right) return 0;
    if (left === null) return sorting.sign;
    if (right === null) return -sorting.sign;
    return left < right ? -1 : 1;
  }

  function sort() {
    const compare = sorting.by === "id" ? compareIds : compareKeys;
    order = [...cases].sort((a, b) => sorting.sign * compare(a, b) || a.position - b.position);
    const sorted = document.createDocumentFragment();
    for (const each of order) {
      sorted.append(each.row);
      if (opened.has(each.position)) sorted.append(opened.get(each.position));
    }
    body.append(sorted);
    for (const head of heads) {
      if (head.dataset.sort !== sorting.by) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", sorting.sign > 0 ? "ascending" : "descending");
    }
  }

  /** The first press shows what is worst, the second what is best, the third the order of the set. */
  function pressed(by) {
    if (sorting.by !== by) sorting = { by, sign: 1 };
    else if (sorting.sign > 0) sorting = { by, sign: -1 };
    else sorting = { by: "set", sign: 1 };
    sort();
  }

  function showMetric() {
    const chosen = shownMetric();
    for (const { row, position } of cases) {
      data.columns.forEach((_, column) => {
        const micro = data.figures[column][chosen][position];
        const cell = row.cells[1 + column];
        cell.firstChild.nodeValue = figure(micro);
        cell.className = `v${Math.ceil((micro || 0) / 5e4)}`;
      });
      if (hasDeltas) {
        const cell = row.cells[1 + data.columns.length];
        cell.textContent = figure(deltaOf(position), true);
        cell.className = trend(deltaOf(position));
      }
    }
    if (sorting.by !== "set" && sorting.by !== "id") sort();
    filter();
  }

  // ---- one case ------------------------------------------------------------------------------

  function figuresOf(position) {
    const head = element("tr", "", element("th", "", "metric"));
    for (const name of data.columns) head.append(element("th", "num foreign", name));
    if (hasDeltas) head.append(element("th", "num", "difference"));
    for (const cell of head.cells) cell.scope = "col";
    const rows = data.labels.map((name, which) => {
      const row = element("tr", "", element("th", "", name));
      row.cells[0].scope = "row";
      for (const of of data.figures) row.append(element("td", "num", figure(of[which][position])));
      if (hasDeltas) {
        const delta = data.deltas[data.metrics[which]][position];
        row.append(element("td", `num ${trend(delta)}`, figure(delta, true)));
      }
      return row;
    });
    return element("table", "", element("thead", "", head), element("tbody", "", ...rows));
  }

  function anchorsOf([k, anchors, grades]) {
    const entries = anchors.map((text, which) => {
      const entry = element("li", "", element("span", "chip", String(which + 1)), element("code", "foreign", text));
      if (grades) entry.append(element("small", "", `grade ${grades[which]}`));
      return entry;
    });
    const title = element("h3", "", "Anchors ", element("small", "", `what a good answer touches, k = ${k}`));
    return element("div", "", title, element("ol", "anchors", ...entries));
  }

  function hitOf([chunk, score, ...matches], position) {
    const [path, first, last, kind, opening] = data.chunks[chunk];
    const head = element(
      "div",
      "hit",
      element("span", "rank", String(position + 1)),
      element("span", "place foreign", first === null ? data.paths[path] : `${data.paths[path]}:${first}-${last}`),
      element("span", "kind foreign", data.kinds[kind]),
    );
    for (const which of matches) {
      const chip = element("span", "chip yes", `✓ ${which + 1}`);
      chip.title = `matches anchor ${which + 1}`;
      chip.prepend(element("span", "visually-hidden", "matches anchor "));
      head.append(chip);
    }
    head.append(element("span", "score", figure(score)));
    const entry = element("li", matches.length ? "match" : "", head);
    if (opening) {
      const text = element("pre", "foreign", opening);
      text.tabIndex = 0;
      entry.append(text);
    }
    return entry;
  }

  function rankingOf([backend, ...hits], nAnchors) {
    const touched = new Set(hits.flatMap(([, , ...matches]) => matches));
    const missed = [...Array(nAnchors).keys()].filter((which) => !touched.has(which));
    const said = hits.length === 0 ? "no result" : missed.length === 0 ? "all anchors matched" : "missed";
    const title = element("h3", "", element("span", "foreign", data.backends[backend]), " ", element("small", "", said));
    if (hits.length) {
      for (const which of missed) title.append(" ", element("span", "chip no", String(which + 1)));
    }
    if (!hits.length) return element("div", "", title, element("p", "empty", "This backend returned nothing."));
    return element("div", "", title, element("ol", "hits", ...hits.map(hitOf)));
  }

  function detailOf(position) {
    const cell = element("td", "");
    cell.colSpan = heads.length;
    const known = data.cases[position];
    if (!known) cell.append(figuresOf(position));
    else {
      if (known[3]) cell.append(element("p", "note foreign", known[3]));
      const title = element("h3", "", "Figures");
      cell.append(element("div", "split", anchorsOf(known), element("div", "", title, figuresOf(position))));
      cell.append(element("div", "answers", ...known[4].map((ranking) => rankingOf(ranking, known[1].length))));
    }
    const row = element("tr", "detail", cell);
    row.id = `detail-${position}`;
    row.setAttribute("role", "row");
    cell.setAttribute("role", "cell");
    return row;
  }

  function toggle(each, isOpen) {
    if (isOpen === opened.has(each.position)) return;
    if (isOpen) {
      opened.set(each.position, detailOf(each.position));
      each.row.after(opened.get(each.position));
    } else {
      opened.get(each.position).remove();
      opened.delete(each.position);
    }
    each.row.classList.toggle("is-open", isOpen);
    each.button.setAttribute("aria-expanded", String(isOpen));
  }

  function openNamed() {
    const named = /^#case-([0-9]+)$/.exec(location.hash);
    const each = named && cases[Number(named[1])];
    if (!each) return;
    if (each.row.hidden) showAll();
    toggle(each, true);
    each.row.scrollIntoView({ block: "start" });
    each.button.focus({ preventScroll: true });
  }

  // ---- the page comes alive ------------------------------------------------------------------

  for (const each of cases) {
    const name = each.row.querySelector("b");
    each.button = element("button", "open foreign", each.id);
    each.button.type = "button";
    each.button.setAttribute("aria-expanded", "false");
    each.button.setAttribute("aria-controls", `detail-${each.position}`);
    name.replaceWith(each.button);
    each.row.dataset.case = each.position;
    // Roles in words: some browsers forget what a table is once it is laid out as cards.
    each.row.setAttribute("role", "row");
    for (const cell of each.row.cells) cell.setAttribute("role", cell.tagName === "TH" ? "rowheader" : "cell");
    data.columns.forEach((column, which) => (each.row.cells[1 + which].dataset.label = column));
    if (hasDeltas) each.row.cells[1 + data.columns.length].dataset.label = "difference";
  }
  table.setAttribute("role", "table");
  for (const group of [table.tHead, body]) group.setAttribute("role", "rowgroup");
  table.tHead.rows[0].setAttribute("role", "row");
  for (const head of heads) {
    const button = element("button", "sort foreign", ...head.childNodes);
    button.type = "button";
    button.addEventListener("click", () => pressed(head.dataset.sort));
    head.append(button);
    head.setAttribute("role", "columnheader");
  }
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-case]");
    if (!row || (event.target.closest("button") === null && String(getSelection()))) return;
    const each = cases[Number(row.dataset.case)];
    toggle(each, !opened.has(each.position));
  });
  for (const plot of document.querySelectorAll(".plot svg")) {
    plot.addEventListener("click", (event) => {
      const bar = event.target.closest("rect");
      if (!bar) return;
      history.replaceState(null, "", `#case-${bar.dataset.case}`);
      openNamed();
    });
  }
  const slices = document.getElementById("slice-metric");
  if (slices) {
    const bodies = [...document.querySelectorAll(".slices tbody")];
    const choose = () => bodies.forEach((each) => (each.hidden = each.dataset.metric !== slices.value));
    document.querySelectorAll(".slices .of").forEach((each) => (each.hidden = true));
    slices.addEventListener("change", choose);
    choose();
  }
  for (const tools of document.querySelectorAll("[data-script]")) {
    tools.hidden = false;
    tools.addEventListener("submit", (event) => event.preventDefault());
  }
  find.addEventListener("input", filter);
  show.addEventListener("change", filter);
  if (tag) tag.addEventListener("change", filter);
  metric.addEventListener("change", showMetric);
  document.getElementById("clear").addEventListener("click", showAll);
  addEventListener("hashchange", openNamed);
  // A browser that comes back to the page keeps what was typed and chosen.
  if (shownMetric() !== 0) showMetric();
  else if (find.value || show.value !== "all" || (tag && tag.value)) filter();
  openNamed();
  document.documentElement.dataset.ready = "yes";
})();
