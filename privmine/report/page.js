"use strict";
(() => {
  const make = (tag, settings) => Object.assign(document.createElement(tag), settings);

  function sortable(table, status) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const name = head.textContent;
      const button = make("button", { type: "button", textContent: name });
      const printed = make("span", { className: "print", textContent: name });
      printed.setAttribute("aria-hidden", "true");
      head.replaceChildren(button, printed);
      button.addEventListener("click", () => {
        const numeric = head.classList.contains("number");
        const before = head.getAttribute("aria-sort");
        const order = before ? (before === "ascending" ? "descending" : "ascending") : (numeric && column ? "descending" : "ascending");
        const sign = order === "ascending" ? 1 : -1;
        const key = (row) => row.cells[column].dataset.value;
        const rows = [...body.rows];
        rows.sort((one, other) => sign * (numeric
          ? Number(key(one)) - Number(key(other))
          : one.cells[column].textContent.localeCompare(other.cells[column].textContent)));
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", order);
        body.append(...rows);
        status.textContent = `Sorted by ${name}, ${order}.`;
      });
    });
  }

  function filterable(table, number) {
    const rows = [...table.tBodies[0].rows];
    const identity = `filter-${number}`;
    const status = make("span", { role: "status" });
    const input = make("input", { type: "search", id: identity, autocomplete: "off" });
    const label = make("label", { htmlFor: identity, textContent: `Show only rows with` });
    const bar = make("div", { className: "filter" });
    bar.append(label, input, status);
    table.parentElement.before(bar);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = [...row.cells].filter((cell) => !cell.classList.contains("number"))
          .map((cell) => cell.textContent).join(" ").toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      status.textContent = `${shown} of ${rows.length} rows shown; a print has all.`;
    });
    return status;
  }

  document.querySelectorAll("table.sorts").forEach((table, number) => sortable(table, filterable(table, number + 1)));
})();
