"use strict";
// Lists and opens the trials that are packed into the page. Texts go in as text, never as markup; the address after
// the # holds every filter, so that the browser's own back and links work.
(async () => {
  const explorer = document.getElementById("explorer");
  for (const time of document.querySelectorAll("time")) {
    const at = new Date(time.dateTime);
    if (isNaN(at)) continue;
    const two = (n) => String(n).padStart(2, "0");
    time.textContent =
      `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
  }
  let unopened = [];
  addEventListener("beforeprint", () => {
    unopened = [...document.querySelectorAll("#quality details:not([open])")];
    for (const one of unopened) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of unopened) one.open = false; });
  for (const link of document.querySelectorAll("summary a")) {
    link.addEventListener("click", (event) => event.stopPropagation());
  }

  const el = (name, options, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(options || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (key === "class") made.className = value;
      else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else made.setAttribute(key, value === true ? "" : value);
    }
    for (const child of children.flat(Infinity)) if (child !== null && child !== undefined && child !== false) made.append(child);
    return made;
  };
  const unpack = async (script) => {
    const bytes = Uint8Array.from(atob(script.textContent.trim()), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  };
  if (!("DecompressionStream" in window)) {
    explorer.textContent = "…";
    return;
  }

  const PAGE = 100;
  const SIGNS = { passed: "●", failed: "✕", excluded: "◌", error: "△" };
  const MARKS = { pa: "passed", fa: "failed", ex: "excluded", er: "error" };
  const STATUS = { PASS: "●", FAIL: "✕", SCORE: "", EXCLUDED: "◌", ERROR: "△", NOT_APPLICABLE: "–" };
  const LETTERS = { passed: "pS", failed: "fs", decided: "pfsS", excluded: "x", error: "e", not_applicable: "n", mock: "m" };
  const blocks = document.querySelectorAll("script.block");
  const unpacked = new Map();
  let index = null, words = {}, found = [], shown = PAGE, current = -1;

  const load = async () => {
    if (index) return;
    index = await unpack(document.getElementById("index"));
    words = index.words;
    index.rows.forEach((row, at) => { row.at = at; });
  };
  const opened = async (row) => {
    const block = Math.floor(row.at / index.block);
    if (!unpacked.has(block)) unpacked.set(block, unpack(blocks[block]));
    return (await unpacked.get(block))[row.at % index.block];
  };
  const keyOf = (row) => `${index.types[row.t]}/${row.i}/${row.n}`;
  const filters = () => new URLSearchParams(location.hash.startsWith("#cases?") ? location.hash.slice(7) : "");
  const go = (changes) => {
    const wanted = filters();
    for (const [key, value] of Object.entries(changes)) value ? wanted.set(key, value) : wanted.delete(key);
    location.hash = `cases?${wanted}`;
  };

  const matches = (wanted) => {
    const place = (list, key) => (wanted.has(key) ? list.indexOf(wanted.get(key)) : null);
    const type = place(index.types, "type"), scene = place(index.scenes, "scene"), metric = place(index.metrics, "metric");
    const tool = place(index.tools, "tool"), why = place(index.texts, "why"), reason = place(index.texts, "reason");
    const expected = place(index.texts, "expected"), came = place(index.texts, "came");
    const letters = LETTERS[wanted.get("verdict")] || "", mark = wanted.get("mark");
    const search = (wanted.get("q") || "").normalize("NFKC").toLowerCase();
    const round = wanted.has("round") ? Number(wanted.get("round")) : null;
    const distance = wanted.has("distance") ? Number(wanted.get("distance")) : null;
    return (row) => {
      if (type !== null && row.t !== type) return false;
      if (scene !== null && row.s !== scene) return false;
      if (mark && MARKS[row.m] !== mark) return false;
      if (why !== null && row.w !== why) return false;
      if (wanted.has("lucky") && !row.l) return false;
      if (wanted.has("culprit") && row.b !== wanted.get("culprit")) return false;
      if (wanted.has("unmocked") && !row.u) return false;
      if (tool !== null && !(row.k || []).includes(tool)) return false;
      if (round !== null || distance !== null) {
        const hit = (row.d || []).some(([m, r, d]) => (metric === null || m === metric)
          && (round === null || r === round) && (distance === null || d === distance));
        if (!hit) return false;
      } else if (metric !== null || letters) {
        const hit = row.v.some(([m, letter, why, wantedLabel, cameLabel]) => (metric === null || m === metric)
          && (!letters || letters.includes(letter)) && (reason === null || why === reason)
          && (expected === null || wantedLabel === expected) && (came === null || cameLabel === came));
        if (!hit) return false;
      }
      return !search || `${row.i} ${row.x}`.normalize("NFKC").toLowerCase().includes(search);
    };
  };

  const chooser = (key, options) => {
    const value = filters().get(key) || "";
    const select = el("select", { onchange: () => go({ [key]: select.value, open: "" }) },
      el("option", { value: "" }, words.any),
      options.map(([id, name]) => el("option", { value: id, selected: id === value }, name)));
    return el("label", {}, words[key === "mark" ? "outcome" : key], select);
  };
  const controls = () => {
    const wanted = filters();
    const search = el("input", { type: "search", id: "search", placeholder: words.search, value: wanted.get("q") || "",
      "aria-label": words.search, onchange: () => go({ q: search.value, open: "" }) });
    const others = ["reason", "why", "tool", "round", "distance", "expected", "came", "culprit", "lucky", "unmocked"]
      .filter((key) => wanted.has(key))
      .map((key) => el("span", { class: "chip" }, words[key] + (["lucky", "unmocked"].includes(key) ? "" : `: ${wanted.get(key)}`)));
    return el("div", { class: "filters" }, search,
      chooser("mark", Object.values(MARKS).map((mark) => [mark, words[mark]])),
      chooser("type", index.types.map((one) => [one, one])),
      chooser("scene", index.scenes.map((one) => [one, index.sceneNames[one] || one])),
      chooser("metric", index.metrics.map((one) => [one, index.metricNames[one] || one])),
      chooser("verdict", Object.keys(LETTERS).map((one) => [one, words[one]])),
      others,
      [...wanted].length > 0 && el("button", { type: "button", onclick: () => { location.hash = "cases?"; } }, words.clear));
  };

  const said = (who, text, kind) => el("div", { class: `said ${kind}` }, el("b", {}, who), text);
  const ratio = (n, m) => `${Math.round(n * 100) / 100} / ${Math.round(m * 100) / 100}`;
  const milliseconds = (ms) => (ms === undefined || ms === null ? "" : `${Math.round(ms).toLocaleString("en")} ms`);

  const conversation = (one) => {
    const parts = (one.history || []).map((message) => said(`${words.history} · ${message.role}`, message.text, "user"));
    for (const turn of one.turns || []) {
      const times = [milliseconds(turn.ms), turn.refers && `${words.refers} ${turn.refers.join(", ")}`].filter(Boolean);
      parts.push(said(`${words.user}${one.turns.length > 1 ? ` · ${words.round} ${turn.round}` : ""}`, turn.user, "user"));
      parts.push(said([words.agent, ...times].join(" · "), turn.answer === undefined ? `(${words.noAnswer})` : turn.answer, "agent"));
      if (turn.keywords) {
        parts.push(el("p", { class: "note" }, `${words.keywords}: `,
          turn.keywords.map(([word, there]) => el("span", { class: there ? "chip" : "chip bad" }, `${there ? "●" : "✕"} ${word}`))));
      }
      if (turn.reference) parts.push(said(words.reference, turn.reference, "reference"));
    }
    if (one.fault) parts.push(el("p", { class: "warning" }, `△ ${one.fault.kind}: ${one.fault.message}`));
    if (one.tries) parts.push(el("p", { class: "note" }, `${words.tries}: ${one.tries}`));
    if (one.reference && !(one.turns || []).some((turn) => turn.reference)) {
      parts.push(said(words.reference, one.reference, "reference"));
    }
    return el("div", {}, el("h4", {}, words.conversation), parts);
  };
  const agreement = (agrees) => (agrees === true ? "agrees" : agrees === false ? "differs" : "");
  const rows = (names, lines) => el("table", {},
    el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, lines));
  const cells = (kind, ...values) => el("tr", { class: kind }, values.map((value) => el("td", {}, value)));

  const happened = (one) => {
    const parts = [];
    if (one.compared) {
      parts.push(rows(["", words.expected, words.actual], one.compared.map(([name, expected, actual, agrees]) =>
        cells(agreement(agrees), words[name] || name, expected ?? "–", actual ?? "–"))));
    }
    for (const call of one.tools || []) {
      const states = [call.called ? null : words.notCalled, call.expected || call.agrees !== false ? null : words.notExpected,
        call.mocked && words.mock, call.unmocked && words.unmocked].filter(Boolean);
      parts.push(el("h5", { class: call.agrees === false || call.unmocked ? "bad" : null },
        `${call.agrees === false ? "✕" : call.agrees ? "●" : "·"} ${words.tool} ${call.called || call.expected}`,
        states.length ? ` (${states.join(", ")})` : ""));
      if (call.arguments) {
        parts.push(rows([words.arguments, words.expected, words.actual], call.arguments.map(([name, expected, actual, fault]) =>
          cells(fault ? "differs" : call.expected && call.called ? "agrees" : "", fault ? `${name} · ${words[fault] || fault}` : name,
            expected ?? "–", actual ?? "–"))));
      }
      if (call.error) parts.push(el("p", { class: "bad" }, `△ ${call.error}`));
      if (call.result) parts.push(el("details", {}, el("summary", {}, words.result), el("div", { class: "passage" }, call.result)));
    }
    if (one.points) {
      parts.push(el("h5", {}, words.points), el("ul", {}, one.points.map((point) => el("li", { class: point.covered === false ? "bad" : null },
        `${judged(point.covered, words.covered, words.missing)} · ${point.text}`, point.why && el("div", { class: "note" }, point.why)))));
    }
    if (one.chunks) {
      parts.push(el("h5", {}, words.chunks), one.chunks.map((chunk) => el("div", {},
        el("span", { class: chunk.relevant === false ? "bad" : null },
          [judged(chunk.relevant, words.relevant, words.irrelevant), chunk.id, chunk.score !== undefined && chunk.score].filter(Boolean).join(" · ")),
        chunk.why && el("div", { class: "note" }, chunk.why), el("div", { class: "passage" }, chunk.text))));
    }
    const steps = (one.turns || []).flatMap((turn) => (turn.steps || []).map((step) => [turn.round, ...step]));
    if (steps.length) {
      parts.push(el("details", { class: "steps" }, el("summary", {}, `${words.steps} (${steps.length})`),
        rows(["", "", ""], steps.map(([round, module, what, ms]) =>
          cells("", [el("i", { class: `swatch ${module}` }), one.turns.length > 1 ? `${round} ` : "", index.moduleNames[module]], what, milliseconds(ms))))));
    }
    return el("div", {}, el("h4", {}, words.happened), parts);
  };
  const judged = (yes, right, wrong) => (yes === true ? `● ${right}` : yes === false ? `✕ ${wrong}` : `◌ ${words.unknown}`);

  const itemWords = (metric) => ({
    retrieval_precision: [words.relevant, words.irrelevant], retrieval_recall: [words.covered, words.missing],
  }[metric] || [words.retained, words.lost]);
  const verdict = (one, trial) => {
    const shownBeside = { retrieval_precision: trial.chunks, retrieval_recall: trial.points }[one.metric];
    const whole = one.status === "SCORE" && one.ratio ? (one.ratio[0] === one.ratio[1] ? "●" : "✕") : STATUS[one.status];
    const parts = [el("b", {}, `${whole} ${index.metricNames[one.metric] || one.metric}`),
      one.ratio && ` ${ratio(...one.ratio)}`, one.metric === trial.main && el("small", {}, ` ${words.main}`)];
    const texts = [...new Set([one.reason, one.reasoning].filter(Boolean))];
    parts.push(texts.map((text) => el("p", {}, text)));
    if (one.status === "FAIL" && (one.expected || one.actual) && !one.judge) {
      parts.push(el("p", { class: "note" }, `${words.expected} ${one.expected ?? "–"} · ${words.actual} ${one.actual ?? "–"}`));
    }
    if (one.items && !shownBeside) {
      const [right, wrong] = itemWords(one.metric);
      const where = ["memory_decay_curve", "short_term_retention_rate"].includes(one.metric) ? `${words.round} ` : "";
      parts.push(el("ul", {}, one.items.map(([label, passed, why, keyword, distance]) => el("li", { class: passed ? null : "bad" },
        [`${passed ? "●" : "✕"} ${where}${label}`, passed ? right : wrong, keyword && words.byKeyword,
          distance !== null && distance !== undefined && `${words.distance} ${distance}`].filter(Boolean).join(" · "),
        why && el("div", { class: "note" }, why)))));
    }
    if (one.judge) {
      const judge = one.judge, several = (judge.votes || []).length > 1;
      parts.push(el("p", { class: "note" }, [judge.model, judge.prompt, judge.cached && words.cached,
        several && `${judge.votes.length} ${words.votes}`,
        judge.agreement !== undefined && judge.agreement !== null && `${words.agreement} ${Math.round(judge.agreement * 100)} %`]
        .filter(Boolean).join(" · ")));
      if (several) {
        parts.push(el("details", {}, el("summary", {}, words.votes), el("ul", {}, judge.votes.map(([word, error, cached, why]) =>
          el("li", {}, [word || error, cached && words.cached, why].filter(Boolean).join(" · "))))));
      } else if (judge.votes && judge.votes[0][1]) parts.push(el("p", { class: "bad" }, judge.votes[0][1]));
    }
    return el("div", { class: `verdict ${one.status} ${index.modules[one.metric] || ""}` }, parts);
  };
  const verdicts = (one) => {
    const order = { FAIL: 0, ERROR: 1, SCORE: 2, PASS: 3, EXCLUDED: 4, NOT_APPLICABLE: 5 };
    const sorted = [...(one.verdicts || [])].sort((a, b) => (b.metric === one.main) - (a.metric === one.main) || order[a.status] - order[b.status]);
    const blamed = (one.blame || []).map(([culprit, text]) => el("li", {}, el("i", { class: `swatch ${culprit}` }), text));
    return el("div", {}, blamed.length > 0 && [el("h4", {}, words.blame), el("ul", { class: "blamed" }, blamed)],
      el("h4", {}, words.verdicts), sorted.map((each) => verdict(each, one)));
  };
  const detail = (one) => [
    el("div", { class: "case" }, conversation(one), happened(one), verdicts(one)),
    one.cut && el("p", { class: "note" }, words.cut.replace("{characters}", one.cut[0].toLocaleString("en")).replace("{items}", one.cut[1])),
  ];

  const draw = async (scroll) => {
    await load();
    const wanted = filters(), open = wanted.get("open");
    found = index.rows.filter(matches(wanted));
    current = open ? found.findIndex((row) => keyOf(row) === open) : current;
    if (current >= shown) shown = current + PAGE;
    const list = el("div", { role: "list" });
    let target = null;
    for (const [at, row] of found.slice(0, shown).entries()) {
      const mark = MARKS[row.m], key = keyOf(row), isOpen = key === open;
      const line = el("div", { class: `case-row${isOpen ? " open" : ""}`, role: "listitem", tabindex: "0", "data-at": at,
        "aria-expanded": String(isOpen), onclick: () => go({ open: isOpen ? "" : key }),
        onkeydown: (event) => { if (event.key === "Enter") go({ open: isOpen ? "" : key }); } },
      el("span", { class: `mark ${mark}`, title: words[mark] }, SIGNS[mark]),
      el("span", {}, `${row.i} #${row.n}`),
      el("span", { class: "scene" }, index.sceneNames[index.scenes[row.s]] || index.scenes[row.s]),
      el("span", {}, row.x), el("span", { class: "because" }, row.y || (row.w !== undefined ? index.texts[row.w] : row.l ? words.lucky : "")));
      list.append(line);
      if (isOpen) {
        target = line;
        list.append(...detail(await opened(row)).filter(Boolean));
      }
    }
    const notes = [index.kept < index.total && `${words.thinned} (${index.kept} / ${index.total})`, index.cut[0] > 0 && words.shortened];
    explorer.replaceChildren(
      el("p", { class: "keys" }, words.help), controls(),
      el("p", {}, found.length ? `${found.length.toLocaleString("en")} ${words.found}` : words.none),
      ...notes.filter(Boolean).map((note) => el("p", { class: "note" }, note)), list,
      found.length > shown ? el("button", { type: "button", onclick: () => { shown += PAGE * 2; draw(false); } }, words.more) : "");
    if (scroll) (target || document.getElementById("cases")).scrollIntoView({ block: "start" });
  };
  const fail = () => { explorer.textContent = words.tooOld || "△"; };
  const follow = () => {
    if (location.hash.startsWith("#cases")) {
      if (!filters().get("open")) shown = PAGE;
      draw(true).catch(fail);
    } else {
      const section = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (section && section.tagName === "DETAILS") section.open = true;
    }
  };
  addEventListener("hashchange", follow);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
    if (event.key === "j" || event.key === "k") {
      if (!found.length) return void go({});
      current = Math.min(found.length - 1, Math.max(0, current + (event.key === "j" ? 1 : -1)));
      if (filters().get("open")) return void go({ open: keyOf(found[current]) });
      const row = explorer.querySelector(`[data-at="${current}"]`);
      if (row) row.focus();
    } else if (event.key === "f") go({ mark: filters().get("mark") === "failed" ? "" : "failed", open: "" });
    else if (event.key === "/") {
      event.preventDefault();
      const search = document.getElementById("search");
      if (search) search.focus();
    } else if (event.key === "e") {
      const steps = [...explorer.querySelectorAll(".case details")];
      const wanted = steps.some((one) => !one.open);
      for (const one of steps) one.open = wanted;
    } else if (event.key === "?") document.getElementById("cases").scrollIntoView();
  });
  if (location.hash) follow();
  if (!location.hash.startsWith("#cases")) {
    const later = window.requestIdleCallback || ((work) => setTimeout(work, 50));
    later(() => { if (!explorer.hasChildNodes()) draw(false).catch(fail); });
  }
})();
