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
