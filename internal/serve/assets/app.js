// What pages do beside what they do without scripts: search as one types, local
// times, keys, and new messages as they come.
"use strict";

document.documentElement.classList.add("script");
const $ = (selector) => document.querySelector(selector);
const list = $("#list");
const messages = $("#messages");

// local shows times as the clock on the wall has them.
function local(root) {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  for (const t of root.querySelectorAll("time[datetime]")) {
    const at = new Date(t.dateTime);
    if (t.title || isNaN(at)) continue;
    t.title = t.textContent;
    t.textContent = format.format(at);
  }
}

// load puts a part of a page in its place. A newer call ends an older one. While one
// types, the last word may not be finished.
let loading;
async function load(url, place, typing) {
  loading?.abort();
  loading = new AbortController();
  const part = new URL(url, location.href);
  part.searchParams.set("part", "list");
  if (typing) part.searchParams.set("typing", "1");
  try {
    const answer = await fetch(part, { signal: loading.signal });
    if (answer.status === 401) location.reload();
    if (!answer.ok) return false;
    place.innerHTML = await answer.text();
    local(place);
    return true;
  } catch (e) {
    if (e.name !== "AbortError") throw e;
    return false;
  }
}

// Search as one types.
const search = $("#search");
const box = search?.elements.q;
function address() {
  const url = new URL("/", location.href);
  const source = $(".filters select[name=source]")?.value;
  if (box.value) url.searchParams.set("q", box.value);
  const filters = $(".filters");
  if (filters) for (const tag of new FormData(filters).getAll("tag")) if (tag) url.searchParams.append("tag", tag);
  const order = $(".filters select[name=order]")?.value;
  if (source) url.searchParams.set("source", source);
  if (order && order !== "rank") url.searchParams.set("order", order); // to rank very many is for one search
  return url;
}
if (search && list) {
  let soon;
  box.addEventListener("input", () => {
    clearTimeout(soon);
    soon = setTimeout(async () => {
      const url = address();
      if (await load(url, list, true)) history.replaceState(null, "", url);
    }, 40);
  });
  search.addEventListener("submit", async (e) => {
    e.preventDefault();
    clearTimeout(soon);
    const url = address();
    if (await load(url, list)) history.replaceState(null, "", url);
  });
}
for (const filter of document.querySelectorAll(".filters select, .filters input[type=checkbox]")) {
  filter.addEventListener("change", () => {
    const query = filter.form.elements.q;
    if (query && box) query.value = box.value;
    filter.form.requestSubmit();
  });
}

// Keys: / to search, j and k along the list or the messages, n and N along what was
// searched for, o opens and shuts what is folded.
function step(by) {
  const all = [...document.querySelectorAll(list ? "#list .sessions li > a" : ".message > header a:first-of-type")];
  const at = all.indexOf(document.activeElement);
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by];
  next?.focus();
  next?.scrollIntoView({ block: list ? "nearest" : "start" });
}
// match goes to another match, past the ends of the page to the next page.
function match(by) {
  const all = [...document.querySelectorAll("mark[id]")];
  const at = all.findIndex((m) => m.id === location.hash.slice(1));
  const below = (m) => m.getBoundingClientRect().top >= 0;
  const next = at >= 0 ? all[at + by] : by > 0 ? all.find(below) : all.findLast((m) => !below(m));
  if (next) location.replace("#" + next.id);
  else if (messages?.dataset.query) $(by > 0 ? "a[rel=next]" : "a[rel=prev]")?.click();
}
function fold() {
  const all = [...document.querySelectorAll(".message details")];
  const open = all.some((d) => !d.open);
  for (const d of all) d.open = open;
}
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.target.matches("input, select, textarea")) {
    if (e.key === "Escape") e.target.blur();
    if (e.key === "ArrowDown" && e.target === box && list) { e.preventDefault(); step(1); }
    return;
  }
  const does = { "/": () => box?.focus(), j: () => step(1), k: () => step(-1), n: () => match(1), N: () => match(-1), o: fold }[e.key];
  if (does) { e.preventDefault(); does(); }
});
if (messages?.querySelector("details")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Unfold all";
  button.addEventListener("click", () => {
    fold();
    button.textContent = document.querySelector(".message details[open]") ? "Fold all" : "Unfold all";
  });
  $(".actions")?.append(button);
}

// A link to what is folded opens it.
function unfold() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  for (let d = target.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
  const folded = target.querySelector("details");
  if (folded && (target.matches(".tool") || !target.querySelector(".body"))) folded.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", unfold);

// New messages as they come.
async function append(session) {
  const last = messages.querySelector(".message:last-of-type");
  const url = new URL("/session", location.href);
  url.searchParams.set("id", session);
  url.searchParams.set("part", "messages");
  if (last) url.searchParams.set("after", last.id.slice(2));
  if (messages.dataset.query) url.searchParams.set("q", messages.dataset.query);
  const answer = await fetch(url);
  if (!answer.ok) return;
  const part = document.createElement("template");
  part.innerHTML = await answer.text();
  for (const m of part.content.querySelectorAll(".message")) {
    if (!document.getElementById(m.id)) messages.append(m);
  }
  local(messages);
  $("p.empty")?.remove();
}
function follow() {
  const lists = () => list?.querySelector("[data-live=list]") || (list && !box.value && list.querySelector(".empty"));
  const reads = messages?.dataset.live === "messages";
  if (!lists() && !reads) return;
  let events;
  let soon = false; // what comes meanwhile is seen as well
  const look = () => {
    if (soon) return;
    soon = true;
    setTimeout(() => {
      soon = false;
      if (reads) append(messages.dataset.session);
      else if (lists() && !box.value && !list.contains(document.activeElement)) load(location.href, list);
    }, 150);
  };
  // A browser has six connections to a server: a page that nobody sees has none.
  const listen = () => {
    events?.close();
    if (document.hidden) return;
    events = new EventSource("/events");
    events.addEventListener("open", look); // for what came since the page was made
    events.addEventListener("message", (e) => {
      if (!reads || JSON.parse(e.data).session === messages.dataset.session) look();
    });
  };
  listen();
  document.addEventListener("visibilitychange", listen);
  addEventListener("pagehide", () => events?.close());
}

// How far a look for damage is.
const status = $("[role=status]");
if (status && location.pathname === "/health") setTimeout(() => location.reload(), 1000);

local(document);
unfold();
follow();
