// The overview of a run stays up to date: when the records have changed, the part that shows them is fetched again.
const live = document.getElementById("live");
const UNFINISHED = 2000;
const FINISHED = 5000; // a larger budget may continue it

function keepingFocus(change) {
  const focused = document.activeElement;
  const isTableOpen = live.querySelector("#table")?.open;
  const mark = focused?.id ? `#${CSS.escape(focused.id)}` : focused?.matches?.("svg a") ? `svg a[href="${CSS.escape(focused.getAttribute("href"))}"]` : null;
  change();
  const table = live.querySelector("#table");
  if (table && isTableOpen) table.open = true;
  if (mark) live.querySelector(mark)?.focus({ preventScroll: true });
}

function showTrouble(message) {
  const line = document.getElementById("trouble");
  if (line.textContent !== message) line.textContent = message;
  line.hidden = !message;
}

async function renew() {
  const answer = await fetch(live.dataset.fragment);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  keepingFocus(() => live.replaceChildren(page.getElementById("overview")));
}

async function follow() {
  let pause = UNFINISHED;
  try {
    const answer = await fetch(live.dataset.status, { headers: { accept: "application/json" } });
    const status = await answer.json();
    showTrouble(status.error ?? "");
    if (answer.ok && status.stamp !== live.querySelector("#overview").dataset.stamp) await renew();
    if (["complete", "exhausted"].includes(status.state)) pause = FINISHED;
  } catch {
    showTrouble("The server does not answer; this page shows the run as it was before.");
  }
  setTimeout(follow, pause);
}

setTimeout(follow, UNFINISHED);
