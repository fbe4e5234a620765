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

  function caseOf(row, place) {
    const name = row.querySelector("b");
    return {
      row,
      place,
      position: Number(row.id.slice("case-".length)),
      id: name.textContent,
      address: name.id,
      text: row.cells[0].textContent.toLowerCase(),
      tags: [...row.querySelectorAll("i:not(.mark)")].map((each) => each.textContent),
      isCritical: row.querySelector("i.mark:not(.block)") !== null,
      isBlocking: row.querySelector("i.block") !== null,
    };
  }

  // By their positions in the set; `place` is where the page shows a case at first: those that moved lead.
  const cases = [...body.rows].map(caseOf).sort((a, b) => a.position - b.position);
  let order = cases;
  let current = null; // the case that the address names: the one that was opened last

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

  /** Three decimals for the eye; whatever shows them has all six as its title. */
  function brief(micro, isSigned) {
    if (micro === null || micro === undefined) return "n/a";
    const size = Math.floor((Math.abs(micro) + 500) / 1000);
    if (!isSigned && micro > 0 && size === 0) return "<0.001";
    const sign = micro < 0 ? "-" : isSigned ? "+" : "";
    return `${sign}${Math.floor(size / 1000)}.${String(size % 1000).padStart(3, "0")}`;
  }

  function figureCell(className, micro, isSigned) {
    const cell = element("td", className, brief(micro, isSigned));
    cell.title = figure(micro, isSigned);
    return cell;
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

  function refilter() {
    filter();
    writeAddress();
  }

  function showAll() {
    find.value = "";
    show.value = "all";
    if (tag) tag.value = "";
    filter();
  }

  function key(each) {
    if (sorting.by === "set") return each.place;
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
    order = [...cases].sort((a, b) => sorting.sign * compare(a, b) || a.place - b.place);
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

  /** The first press shows what is worst, the second what is best, the third the order at first. */
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
        cell.firstChild.nodeValue = brief(micro);
        cell.title = figure(micro);
        cell.className = `v${Math.ceil((micro || 0) / 5e4)}`;
      });
      if (hasDeltas) {
        const cell = row.cells[1 + data.columns.length];
        cell.textContent = brief(deltaOf(position), true);
        cell.title = figure(deltaOf(position), true);
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
      for (const of of data.figures) row.append(figureCell("num", of[which][position]));
      if (hasDeltas) {
        const delta = data.deltas[data.metrics[which]][position];
        row.append(figureCell(`num ${trend(delta)}`, delta, true));
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

  function placeOf([path, first, last, kind]) {
    const place = first === null ? data.paths[path] : `${data.paths[path]}:${first}-${last}`;
    return [element("span", "place foreign", place), element("span", "kind foreign", data.kinds[kind])];
  }

  function openingOf([, , , , opening]) {
    if (!opening) return [];
    const text = element("pre", "foreign", opening);
    text.tabIndex = 0;
    return [text];
  }

  function hitOf([chunk, score, ...matches], position) {
    const found = data.chunks[chunk];
    const head = element("div", "hit", element("span", "rank", String(position + 1)), ...placeOf(found));
    for (const which of matches) {
      const chip = element("span", "chip yes", `✓ ${which + 1}`);
      chip.title = `matches anchor ${which + 1}`;
      chip.prepend(element("span", "visually-hidden", "matches anchor "));
      head.append(chip);
    }
    const shown = element("span", "score", brief(score));
    shown.title = figure(score);
    head.append(shown);
    return element("li", matches.length ? "match" : "", head, ...openingOf(found));
  }

  /** An anchor that was missed: its text, and the rank at which it would have come. */
  function missOf([which, rank, chunk, reason], known) {
    const chip = element("span", "chip no", String(which + 1));
    chip.prepend(element("span", "visually-hidden", "missed anchor "));
    const head = element("div", "hit", chip, element("span", "place foreign", known[1][which]));
    if (rank) head.append(element("span", "would", rank > known[0] ? `would be rank ${rank}` : `rank ${rank} if more are asked`));
    else if (reason) head.append(element("span", "would foreign", reason));
    if (chunk < 0) return element("li", "miss", head);
    const found = data.chunks[chunk];
    return element("li", "miss", head, element("div", "hit", ...placeOf(found)), ...openingOf(found));
  }

  function rankingOf([backend, hits, misses], known) {
    const said = hits.length === 0 ? "no result" : misses.length === 0 ? "all anchors matched" : "missed";
    const title = element("h3", "", element("span", "foreign", data.backends[backend]), " ", element("small", "", said));
    if (hits.length) {
      for (const [which] of misses) title.append(" ", element("span", "chip no", String(which + 1)));
    }
    const shown = hits.length
      ? element("ol", "hits", ...hits.map(hitOf))
      : element("p", "empty", "This backend returned nothing.");
    const missed = misses.map((miss) => missOf(miss, known));
    return element("div", "", title, shown, ...(missed.length ? [element("ul", "hits misses", ...missed)] : []));
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
      cell.append(element("div", "answers", ...known[4].map((ranking) => rankingOf(ranking, known))));
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

  /** Opened by hand: the address follows. */
  function turn(each, isOpen) {
    toggle(each, isOpen);
    if (isOpen) current = each;
    else if (current === each) current = null;
    writeAddress();
  }

  /** Opened from elsewhere: whatever hides it goes, and it comes to the top of the window. */
  function lead(each) {
    if (each.row.hidden) showAll();
    turn(each, true);
    each.button.focus({ preventScroll: true });
    let nLooks = 8;
    // Rows out of sight are laid out when they come near, so what is above may still grow.
    (function look() {
      const { top } = each.row.getBoundingClientRect();
      if (top < 0 || top > innerHeight / 4) each.row.scrollIntoView({ block: "start", behavior: "instant" });
      if ((nLooks -= 1) > 0) requestAnimationFrame(look);
    })();
  }

  // ---- the address: #case=pin-check, and behind it what is filtered --------------------------

  const controls = { find, show, tag };

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text; // typed by hand
    }
  }

  function readAddress() {
    const found = {};
    for (const part of location.hash.slice(1).split("&")) {
      const [, name, value] = /^(case|nth|find|show|tag|metric)=(.*)$/.exec(part) || [];
      if (name) found[name] = decoded(value);
    }
    return found;
  }

  function writeAddress() {
    const parts = [];
    if (current) {
      const [, nth] = /&nth=([0-9]+)$/.exec(current.address.slice("case=".length + current.id.length)) || [];
      parts.push(`case=${encodeURIComponent(current.id)}`);
      if (nth) parts.push(`nth=${nth}`);
    }
    for (const [name, control] of Object.entries(controls)) {
      const standard = name === "show" ? "all" : "";
      if (control && control.value !== standard) parts.push(`${name}=${encodeURIComponent(control.value)}`);
    }
    if (shownMetric() !== 0) parts.push(`metric=${data.metrics[shownMetric()]}`);
    // A section that the reader went to keeps its address until there is something to say.
    if (!parts.length && !Object.keys(readAddress()).length) return;
    history.replaceState(null, "", `#${parts.join("&") || "cases"}`);
  }

  function followAddress() {
    const found = readAddress();
    for (const [name, control] of Object.entries(controls)) {
      const fits = !control || !control.options || [...control.options].some(({ value }) => value === found[name]);
      if (control && name in found && fits) control.value = found[name];
    }
    const chosen = data.metrics.indexOf(found.metric);
    if (chosen >= 0) metric.value = String(chosen);
    if (shownMetric() !== 0 || chosen >= 0) showMetric();
    filter();
    const address = `case=${found.case}${found.nth ? `&nth=${found.nth}` : ""}`;
    const each = "case" in found && cases.find((one) => one.address === address);
    if (each) lead(each);
  }

  // ---- the page comes alive ------------------------------------------------------------------

  for (const each of cases) {
    const name = each.row.querySelector("b");
    each.button = element("button", "open foreign", each.id);
    each.button.type = "button";
    each.button.setAttribute("aria-expanded", "false");
    each.button.setAttribute("aria-controls", `detail-${each.position}`);
    each.button.id = name.id;
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
    turn(each, !opened.has(each.position));
  });
  for (const plot of document.querySelectorAll(".plot svg")) {
    plot.addEventListener("click", (event) => {
      const bar = event.target.closest("rect");
      if (!bar) return;
      lead(cases[Number(bar.dataset.case)]);
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
  find.addEventListener("input", refilter);
  show.addEventListener("change", refilter);
  if (tag) tag.addEventListener("change", refilter);
  metric.addEventListener("change", () => {
    showMetric();
    writeAddress();
  });
  document.getElementById("clear").addEventListener("click", () => {
    showAll();
    writeAddress();
  });
  addEventListener("hashchange", followAddress);
  // A browser that comes back to the page keeps what was typed and chosen; an address says it anew.
  followAddress();
  document.documentElement.dataset.ready = "yes";
})();
