// Mode and colours, remembered in this browser. A classic script in the head, so no page appears in the wrong colours
// first.
(() => {
  const root = document.documentElement;
  const kept = { mode: "auto", palette: "wood" };
  const recall = (name) => {
    try { return localStorage.getItem(name); } catch { return null; } // storage may be forbidden
  };
  const remember = (name, value) => {
    try { localStorage.setItem(name, value); } catch { /* then for this page only */ }
  };
  for (const name of Object.keys(kept)) {
    kept[name] = recall(name) ?? kept[name];
    root.dataset[name] = kept[name];
  }
  document.addEventListener("DOMContentLoaded", () => {
    for (const select of document.querySelectorAll("[data-appearance]")) {
      const name = select.dataset.appearance;
      if ([...select.options].some((option) => option.value === kept[name])) select.value = kept[name];
      select.addEventListener("change", () => {
        root.dataset[name] = select.value;
        remember(name, select.value);
      });
    }
  });
})();
