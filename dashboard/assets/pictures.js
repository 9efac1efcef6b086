/* Gives every figure a second button beside the one that saves it as PNG: the same picture as SVG. */
function as2dPictures() {
  if (window.as2dPictureWatch) return;
  const save = "Download plot as a PNG";
  const label = "Download plot as SVG";
  const curve = "M0 720h230v230H0z M770 50h230v230H770z M75 700C75 330 380 130 750 125v80C430 210 155 380 155 700z";
  const add = () => {
    for (const png of document.querySelectorAll(`.js-plotly-plot .modebar-btn[data-title="${save}"]`)) {
      const figure = png.closest(".js-plotly-plot");
      if (png.parentNode.querySelector(`[data-title="${label}"]`)) continue;
      const svg = png.cloneNode(true);
      svg.dataset.title = label;
      svg.setAttribute("aria-label", label);
      const path = svg.querySelector("path");
      path.removeAttribute("transform");
      path.setAttribute("d", curve);
      svg.addEventListener("click", () => {
        const { filename } = figure._context.toImageButtonOptions;
        Plotly.downloadImage(figure, { format: "svg", filename: filename || "as2d" });
      });
      png.after(svg);
    }
  };
  let waiting = false;
  window.as2dPictureWatch = new MutationObserver(() => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; add(); });
  });
  window.as2dPictureWatch.observe(document.body, { childList: true, subtree: true });
  add();
}
