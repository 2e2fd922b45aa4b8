// Mode and colours, remembered on this machine. A classic script in the head, so that no page is first seen in the
// wrong colours.
(() => {
  const root = document.documentElement;
  const kept = { mode: "auto", palette: "wood" };
  const recall = (name) => {
    try { return localStorage.getItem(name); } catch { return null; } // storage may be forbidden
  };
  const remember = (name, value) => {
    try { localStorage.setItem(name, value); } catch { /* then only for this page */ }
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
