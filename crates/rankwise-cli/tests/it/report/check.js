// Looks at a page in a frame, as a reader would, and lists what is wrong with it.
// `frame` shows the page; `note` takes a problem.
function checkPage(frame, note) {
  const doc = frame.contentDocument, win = frame.contentWindow, root = doc.documentElement;
  for (const entry of win.performance.getEntriesByType('resource')) {
    if (!entry.name.startsWith('data:')) note('loads ' + entry.name);
  }
  if (doc.scripts.length > 0) note('has a script');
  if (root.scrollWidth > root.clientWidth) note('is ' + root.scrollWidth + ' wide in ' + root.clientWidth);
  const ids = [...doc.querySelectorAll('[id]')].map(element => element.id);
  if (new Set(ids).size !== ids.length) note('an id is used twice');
  for (const link of doc.querySelectorAll('a')) {
    const target = link.getAttribute('href');
    if (!target.startsWith('#') || !ids.includes(target.slice(1))) note('links to ' + target);
  }
  for (const element of doc.querySelectorAll('*')) {
    checkKeyboard(win, element, note);
  }
  for (const svg of doc.querySelectorAll('svg')) checkPlot(svg, note);
  checkContrast(doc, win, note);
}

// What scrolls must take the focus, so that the arrow keys move it.
function checkKeyboard(win, element, note) {
  const overflow = win.getComputedStyle(element).overflowX;
  const scrolls = (overflow === 'auto' || overflow === 'scroll') && element.scrollWidth > element.clientWidth + 1;
  if (scrolls && element.tabIndex < 0) note('the keyboard cannot scroll ' + element.outerHTML.slice(0, 80));
  if (element.localName === 'details' && element.firstElementChild.localName !== 'summary') note('details without summary');
}

// Text inside the picture, and not on top of other text.
function checkPlot(svg, note) {
  const outer = svg.getBoundingClientRect();
  if (outer.width === 0) return;
  if (!svg.getAttribute('aria-label')) note('a plot without a label');
  const texts = [...svg.querySelectorAll('text')].map(text => [text.getBoundingClientRect(), text.textContent]);
  texts.forEach(([box, text], idx) => {
    if (box.left < outer.left - 2 || box.right > outer.right + 2) note('a plot cuts off "' + text + '"');
    for (const [other, otherText] of texts.slice(idx + 1)) {
      const width = Math.min(box.right, other.right) - Math.max(box.left, other.left);
      const height = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
      if (width > 2 && height > 4) note('"' + text + '" lies on "' + otherText + '"');
    }
  });
}

function checkContrast(doc, win, note) {
  const seen = new Set();
  const walker = doc.createTreeWalker(doc.body, win.NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.localName === 'title' || !element.getClientRects().length) continue;
    const style = win.getComputedStyle(element);
    const ink = element instanceof win.SVGElement ? style.fill : style.color;
    const paper = paperOf(win, element);
    if (seen.has(ink + paper)) continue;
    seen.add(ink + paper);
    const ratio = contrast(ink, paper);
    if (!(ratio >= 4.5)) note('contrast ' + ratio.toFixed(2) + ' of ' + element.outerHTML.slice(0, 80));
  }
  if (seen.size < 2) note('no text was looked at');
}

function paperOf(win, element) {
  for (let at = element; at; at = at.parentElement) {
    const colour = win.getComputedStyle(at).backgroundColor;
    if (colour !== 'rgba(0, 0, 0, 0)' && colour !== 'transparent') return colour;
  }
  return 'rgb(255, 255, 255)';
}

function contrast(a, b) {
  const luminance = colour => {
    const parts = colour.match(/[\d.]+/g).slice(0, 3).map(part => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

// Loads a page into a frame of some width, looks at it closed and with everything opened, and writes what it found.
function run(page, width, scheme) {
  const problems = [];
  const note = problem => problems.push(problem.replace(/[<>&]/g, '?'));
  const frame = document.createElement('iframe');
  frame.style = 'border:0;height:900px;width:' + width + 'px';
  const started = performance.now();
  frame.onload = () => {
    const height = frame.contentDocument.documentElement.scrollHeight;
    const time = performance.now() - started;
    const isDark = frame.contentWindow.matchMedia('(prefers-color-scheme: dark)').matches;
    if (isDark !== (scheme === 'dark')) note('the scheme is not ' + scheme);
    checkPage(frame, note);
    frame.contentDocument.querySelectorAll('details').forEach(element => { element.open = true; });
    checkPage(frame, problem => note('opened: ' + problem));
    const out = document.createElement('pre');
    out.id = 'found';
    out.textContent = ['milliseconds ' + time.toFixed(0), 'height ' + height, ...new Set(problems)].join('\n') + '\nend';
    document.body.append(out);
  };
  frame.src = page;
  document.body.append(frame);
}
