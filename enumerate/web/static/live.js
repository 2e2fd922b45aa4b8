// The first page of a run follows it: when the records have changed, the part that shows them is fetched anew.
const live = document.getElementById("live");
const UNFINISHED = 2000;
const FINISHED = 15000;

function keepingFocus(change) {
  const focused = document.activeElement;
  const isTableOpen = live.querySelector("#table")?.open;
  const mark = focused?.id ? `#${CSS.escape(focused.id)}` : focused?.matches?.("svg a") ? `svg a[href="${CSS.escape(focused.getAttribute("href"))}"]` : null;
  change();
  const table = live.querySelector("#table");
  if (table && isTableOpen) table.open = true;
  if (mark) live.querySelector(mark)?.focus({ preventScroll: true });
}

async function follow() {
  let pause = UNFINISHED;
  try {
    const status = await (await fetch(live.dataset.status, { headers: { accept: "application/json" } })).json();
    if (status.stamp && status.stamp !== live.querySelector("#overview")?.dataset.stamp) {
      const answer = await fetch(live.dataset.fragment);
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        keepingFocus(() => live.replaceChildren(page.getElementById("overview")));
      }
    }
    if (status.state === "complete" || status.state === "exhausted") pause = FINISHED;
  } catch { /* the server was stopped, or the run cannot be read at the moment: later again */ }
  setTimeout(follow, pause);
}

setTimeout(follow, UNFINISHED);
