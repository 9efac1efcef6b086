"use strict";
/* Draws every figure of a report, and again as wide as the paper when it is printed. */
const figures = [...document.querySelectorAll(".figure")];
const paperWidth = 700;
for (const place of figures) {
  const found = JSON.parse(document.getElementById(place.id + "-data").textContent);
  Plotly.newPlot(place, found.data, found.layout, found.config);
}
as2dPictures();
addEventListener("beforeprint", () => {
  for (const place of figures) Plotly.relayout(place, { width: paperWidth, autosize: false });
});
addEventListener("afterprint", () => {
  for (const place of figures) Plotly.relayout(place, { width: null, autosize: true });
});
