// JSON from this server. A refusal becomes an error with the server's message.
export async function ask(path, params) {
  const answer = await fetch(`${path}?${new URLSearchParams(params)}`, { headers: { accept: "application/json" } })
    .catch(() => { throw new Error("the server does not answer; start it again in the terminal"); });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error);
  return content;
}

// What this browser remembers. If storage is forbidden or full, nothing is kept.
export function recall(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

export function remember(name, value) {
  try { localStorage.setItem(name, value); } catch { /* nothing is kept */ }
}
