// --- start ------------------------------------------------------------------------------------------

function showSections() {
  const names = { groups: clustered ? "Clusters" : "Classes", review: "To check", conflicts: "Suspected errors",
    duplicates: "Copies", suggestions: "To label", map: "Map", confusion: data.byFolder ? "Sub-folders" : "True classes",
    skipped: "Not read", results: "Summary", count: "Number of clusters" };
  const links = new Map();
  for (const section of document.querySelectorAll("main > section")) {
    const link = make("a", { href: `#${section.id}` }, names[section.id]);
    links.set(section, link);
    $("sections").append(make("li", {}, link));
  }
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) {
        for (const [section, link] of links) {
          if (section === target) link.setAttribute("aria-current", "true");
          else link.removeAttribute("aria-current");
        }
      }
    }
  }, { rootMargin: "-30% 0px -65% 0px" });
  for (const section of links.keys()) seen.observe(section);
}

const theme = makeTheme(() => {
  map.paint();
  confusion.paint();
});

function resize() {
  sheets.resize();
  map.resize();
  charts.resize();
}

root.classList.toggle("with-photos", photos);
showResults();
search.start();
sheets.start();
showReview();
showSuggestions();
showDuplicates();
showSkipped();
map.start();
confusion.start();
charts.start();
showSections();
theme.start();
resize();
document.querySelector("#count details")?.addEventListener("toggle", () => charts.resize());
new ResizeObserver(() => requestAnimationFrame(resize)).observe($("sheets"));
