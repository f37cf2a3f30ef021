"use strict";
// Everything is readable without this script: it opens what a link leads to, filters, and copies.
(() => {
  const opened = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", opened);

  for (const block of document.querySelectorAll("pre.copy")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(block.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(block);
        button.textContent = "Selected: copy it with the keyboard";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.before(button);
  }

  const section = document.getElementById("checks");
  const bar = document.getElementById("filter");
  if (!bar) {  // a run that ended before its first check
    opened();
    return;
  }
  const text = bar.querySelector("input[type=search]");
  const said = bar.querySelector("output");
  const checks = [...section.querySelectorAll("[data-outcome]")];
  const words = new Map(checks.map((check) => [check, check.textContent.toLowerCase()]));
  const families = [...section.querySelectorAll("details.family")];
  const before = new Map([...section.querySelectorAll("details")].map((one) => [one, one.open]));
  const filter = () => {
    const wanted = text.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const outcomes = [...bar.querySelectorAll("input[type=checkbox]:checked")].map((box) => box.value);
    const active = wanted.length > 0 || outcomes.length > 0;
    let shown = 0;
    for (const check of checks) {
      const fits = (!outcomes.length || outcomes.includes(check.dataset.outcome))
        && wanted.every((word) => words.get(check).includes(word));
      check.hidden = !fits;
      shown += fits;
    }
    for (const passed of section.querySelectorAll("details.passed")) {
      passed.hidden = !passed.querySelector("[data-outcome]:not([hidden])");
    }
    for (const family of families) family.hidden = !family.querySelector("[data-outcome]:not([hidden])");
    for (const [one, open] of before) if (one.matches("details.family, details.passed")) one.open = active || open;
    said.textContent = active ? `${shown} of ${checks.length} checks` : "";
  };
  bar.addEventListener("input", filter);
  bar.hidden = false;
  opened();
})();
