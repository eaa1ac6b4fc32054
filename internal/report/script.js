'use strict';
(() => {
  const list = [...document.querySelectorAll('.finding')];
  const box = document.getElementById('filter');
  const code = document.getElementById('code');
  const shown = document.getElementById('shown');
  // The text of a finding that is not part of the document yet is in a script element.
  list.forEach(f => f.addEventListener('toggle', () => {
    const text = f.querySelector('script');
    if (f.open && text) text.outerHTML = text.textContent;
  }));
  // A link to a finding opens it.
  const follow = () => {
    const f = document.getElementById(location.hash.slice(1));
    if (f && f.classList.contains('finding')) {
      f.hidden = false;
      f.open = true;
      f.scrollIntoView();
      f.querySelector('summary').focus({preventScroll: true});
    }
  };
  addEventListener('hashchange', follow);
  follow();
  if (!box) return;
  const texts = list.map(f => f.querySelector('summary').textContent.toLowerCase());
  const filter = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    list.forEach((f, i) => {
      const hit = words.every(w => texts[i].includes(w)) && (!code.value || f.dataset.code === code.value);
      if (f.hidden === hit) f.hidden = !hit;
      if (hit) n++;
    });
    shown.textContent = n === list.length ? n : `${n} of ${list.length}`;
  };
  let timer;
  box.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(filter, 80); });
  code.addEventListener('change', filter);
  box.form.addEventListener('submit', e => e.preventDefault());
})();
