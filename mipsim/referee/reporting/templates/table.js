document.querySelectorAll("table.verdicts thead th").forEach((th, column) => {
  const button = document.createElement("button");
  button.type = "button"; button.textContent = th.textContent; th.replaceChildren(button);
  button.addEventListener("click", () => {
    const down = th.getAttribute("aria-sort") === "ascending", body = th.closest("table").tBodies[0];
    th.parentNode.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
    th.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = row => row.children[column].dataset.key ?? row.children[column].textContent.trim();
    const order = (a, b) => { const x = Number(key(a)), y = Number(key(b));
      return Number.isNaN(x) || Number.isNaN(y) ? key(a).localeCompare(key(b), undefined, {numeric: true}) : x - y; };
    [...body.rows].sort((a, b) => down ? order(b, a) : order(a, b)).forEach(row => body.append(row));
  });
});
document.querySelectorAll("table.verdicts").forEach(table => {
  const rows = [...table.tBodies[0].rows], bar = document.createElement("form"), tally = document.createElement("output");
  const field = (words, input) => { const label = document.createElement("label");
    label.append(words + " ", input); bar.append(label); for (const kind of ["input", "change"]) input.addEventListener(kind, narrow);
    return input; };
  const search = field("search", Object.assign(document.createElement("input"), {type: "search", name: "search"}));
  const choices = ["group", "verdict", "defect"].map(key => {
    const values = [...new Set(rows.map(row => row.dataset[key]))].filter(Boolean);
    if (values.length < 2) return null;
    const select = Object.assign(document.createElement("select"), {name: key});
    ["", ...values].forEach(value => select.append(new Option(value === "" ? "all" : value === "–" ? "none" : value, value)));
    return [key, field({group: "source", defect: "class"}[key] ?? key, select)];
  }).filter(Boolean);
  function narrow() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    rows.forEach(row => {
      const shown = words.every(word => row.dataset.text.includes(word)) &&
        choices.every(([key, select]) => select.value === "" || row.dataset[key] === select.value);
      row.hidden = !shown; left += shown;
      const section = document.getElementById(row.querySelector("a").hash.slice(1));
      if (section) section.hidden = !shown;
    });
    tally.textContent = left + " of " + rows.length;
  }
  bar.className = "narrow"; bar.addEventListener("submit", event => event.preventDefault()); bar.append(tally);
  table.closest(".scroll").before(bar); narrow();
  // A link to a section that is narrowed away shows everything again.
  addEventListener("hashchange", () => { const section = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("section");
    if (section?.hidden) { bar.reset(); narrow(); section.scrollIntoView(); } });
});
