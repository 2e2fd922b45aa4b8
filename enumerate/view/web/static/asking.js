// JSON from this server. What it refuses becomes an error with its own words.
export async function ask(path, params) {
  const answer = await fetch(`${path}?${new URLSearchParams(params)}`, { headers: { accept: "application/json" } })
    .catch(() => { throw new Error("the server does not answer; start it again in the terminal"); });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error);
  return content;
}

// What this browser remembers; storage may be forbidden or full, then only this page knows.
export function recall(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

export function remember(name, value) {
  try { localStorage.setItem(name, value); } catch { /* then not */ }
}
