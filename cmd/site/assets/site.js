'use strict';
(() => {
  const root = document.documentElement;
  root.classList.add('js');

  // The theme of the system, unless the reader has chosen another. A browser may forbid to store it.
  const stored = {
    get() { try { return localStorage.getItem('theme'); } catch { return null; } },
    set(theme) { try { localStorage.setItem('theme', theme); } catch { /* for this page only */ } },
  };
  const chosen = stored.get();
  if (chosen === 'light' || chosen === 'dark') root.dataset.theme = chosen;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const dark = () => (root.dataset.theme || (system.matches ? 'dark' : 'light')) === 'dark';

  // search returns the sections that have all words of a query, the best first, at most three of a
  // page. A section whose heading is the query comes before one that has its words in the heading,
  // and that before one that has them in its text; a word that begins like the query's, before one
  // that contains it. The title of the page may supply words, but not all of them.
  const search = (index, query, limit) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    const whole = words.join(' ');
    const letter = /[\p{L}\p{N}_]/u;
    const rank = (text, word) => {
      let best = 0;
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
        if (at > 0 && letter.test(text[at - 1])) { best = Math.max(best, 1); continue; }
        if (at + word.length === text.length || !letter.test(text[at + word.length])) return 3;
        best = 2;
      }
      return best;
    };
    const hits = [];
    index.forEach((entry, order) => {
      const [heading, page, text] = entry.low ||= [entry.h, entry.p, entry.t].map(s => s.toLowerCase());
      let score = heading === whole ? 1000 : 0;
      let own = false;
      for (const word of words) {
        const here = Math.max(40 * rank(heading, word), rank(text, word));
        const best = Math.max(here, 8 * rank(page, word));
        if (best === 0) return;
        own ||= here > 0;
        score += best;
      }
      if (words.length > 1 && text.includes(whole)) score += 10;
      if (own) hits.push({entry, score, order});
    });
    hits.sort((a, b) => b.score - a.score || a.order - b.order);
    const count = {};
    return hits.map(hit => hit.entry)
      .filter(e => (count[e.p] = (count[e.p] || 0) + 1) <= 3).slice(0, limit);
  };
  window.heddleSearch = search;

  // excerpt returns the part of a text around some words: where they are side by side, or else around
  // the first of them.
  const excerpt = (text, words) => {
    const low = text.toLowerCase();
    let at = low.indexOf(words.join(' '));
    if (at < 0) at = Math.min(...words.map(w => low.indexOf(w)).filter(i => i >= 0));
    const from = Number.isFinite(at) && at > 60 ? text.indexOf(' ', at - 60) + 1 : 0;
    let to = text.length;
    if (to > from + 180) to = text.lastIndexOf(' ', from + 180);
    if (to <= from) to = from + 180;
    return (from > 0 ? '... ' : '') + text.slice(from, to) + (to < text.length ? ' ...' : '');
  };
  // marked appends a text to an element, with words in mark elements.
  const marked = (element, text, words) => {
    const escaped = words.map(w => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    for (const part of text.split(new RegExp(`(${escaped.join('|')})`, 'gi'))) {
      if (!words.includes(part.toLowerCase())) { element.append(part); continue; }
      const mark = document.createElement('mark');
      mark.textContent = part;
      element.append(mark);
    }
  };

  const start = () => {
    const up = document.body.dataset.up;
    const box = document.getElementById('site-query');
    const results = document.getElementById('site-results');
    const found = document.getElementById('site-found');
    const theme = document.getElementById('site-theme');
    const open = document.getElementById('site-open');
    const menu = document.getElementById('site-menu');

    const pressed = () => theme.setAttribute('aria-pressed', dark());
    pressed();
    system.addEventListener('change', pressed);
    theme.addEventListener('click', () => {
      root.dataset.theme = dark() ? 'light' : 'dark';
      stored.set(root.dataset.theme);
      pressed();
    });

    const unfold = show => {
      menu.classList.toggle('open', show);
      open.setAttribute('aria-expanded', show);
    };
    open.addEventListener('click', () => {
      unfold(!menu.classList.contains('open'));
      if (menu.classList.contains('open')) scrollTo(0, 0);
    });

    // The contents of the page are open where they have a column of their own.
    const contents = document.querySelector('.contents details');
    const wide = matchMedia('(min-width: 1241px)');
    const fit = () => { if (contents) contents.open = wide.matches; };
    fit();
    wide.addEventListener('change', fit);
    // What scrolls sideways is reachable by keyboard; what fits needs no stop there.
    const scrolling = () => {
      for (const e of document.querySelectorAll('pre, .scroll')) {
        if (e.scrollWidth > e.clientWidth) e.tabIndex = 0; else e.removeAttribute('tabindex');
      }
    };
    scrolling();
    addEventListener('resize', scrolling);

    const here = menu.querySelector('[aria-current]');
    if (here && here.offsetTop > menu.clientHeight - 80) menu.scrollTop = here.offsetTop - menu.clientHeight / 2;

    // The index is loaded when it is first needed, by a script element: a page that is a file may
    // not fetch other files.
    let index = null;
    const load = () => {
      if (index) return;
      index = [];
      const script = document.createElement('script');
      script.src = up + 'search-index.js';
      script.onload = () => { index = window.heddleIndex; show(); };
      script.onerror = () => { index = null; found.textContent = 'The search index cannot be loaded'; };
      document.head.append(script);
    };
    const close = () => { results.hidden = true; found.textContent = ''; };
    const show = () => {
      const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      results.replaceChildren();
      if (words.length === 0 || !index) { close(); return; }
      const hits = search(index, box.value, 20);
      const list = document.createElement('ol');
      for (const hit of hits) {
        const a = document.createElement('a');
        a.href = up + hit.u;
        const title = document.createElement('b');
        marked(title, hit.h, words);
        a.append(title);
        if (hit.p !== hit.h) {
          const page = document.createElement('i');
          page.textContent = ` in ${hit.p}`;
          a.append(page);
        }
        const text = document.createElement('small');
        marked(text, excerpt(hit.t, words), words);
        a.append(text);
        const item = document.createElement('li');
        item.append(a);
        list.append(item);
      }
      found.textContent = hits.length === 1 ? '1 result' : `${hits.length} results`;
      if (hits.length > 0) {
        results.append(list);
      } else {
        const none = document.createElement('p');
        none.textContent = 'No section has all of these words.';
        results.append(none);
      }
      results.scrollTop = 0;
      results.hidden = false;
    };
    box.addEventListener('focus', load);
    box.addEventListener('input', () => { load(); show(); });
    box.form.addEventListener('submit', event => {
      event.preventDefault();
      const first = results.querySelector('a');
      if (first && !results.hidden) first.click();
    });
    results.addEventListener('click', event => { if (event.target.closest('a')) close(); });

    // Arrows walk through the results, Escape closes what is open, and / begins a search.
    addEventListener('keydown', event => {
      const links = [...results.querySelectorAll('a')];
      const at = links.indexOf(document.activeElement);
      if (event.key === 'Escape') {
        if (!results.hidden) { close(); box.focus(); } else if (menu.classList.contains('open')) { unfold(false); open.focus(); }
      } else if (event.key === '/' && !/^(input|textarea|select)$/i.test(event.target.tagName)) {
        event.preventDefault();
        box.focus();
        box.select();
      } else if (!results.hidden && (at >= 0 || event.target === box)) {
        if (event.key === 'ArrowDown' && at + 1 < links.length) { event.preventDefault(); links[at + 1].focus(); }
        if (event.key === 'ArrowUp' && at >= 0) { event.preventDefault(); (links[at - 1] || box).focus(); }
      }
    });
    addEventListener('click', event => { if (!results.contains(event.target) && event.target !== box) close(); });
  };
  if (document.readyState === 'loading') addEventListener('DOMContentLoaded', start); else start();
})();
