/* Light and dark as the system has it, or as was last chosen in this browser. */
window.tallyTurnDark = () => { const dark = !document.body.classList.contains('body--dark');
  localStorage.setItem('tally-dark', dark ? '1' : '0'); Quasar.Dark.set(dark); };
window.addEventListener('DOMContentLoaded', () => { const kept = localStorage.getItem('tally-dark');
  if (kept !== null) { const turn = () => window.Quasar ? Quasar.Dark.set(kept === '1') : setTimeout(turn, 20); turn(); } });

/* The editor gives its field no name of its own, and keeps the keyboard from scrolling it. It is drawn whenever its code
   has come, so it is named in the moment it appears: nobody meets it without. */
new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach((made) => {
  if (!made.matches?.('.tally-editor .cm-editor')) return;
  made.querySelector('.cm-content').ariaLabel = 'Text of the file';
  made.querySelector('.cm-scroller').setAttribute('tabindex', '0');
}))).observe(document, { childList: true, subtree: true });

/* What was typed stays: when the server goes away or the session ends it is kept in this window, and put back when the
   page is there again. Everything here goes in and out of the page as text. */
(() => {
  const KEPT = 'tally-kept:' + location.pathname + location.search;
  const LOST = ['The server does not answer.',
    'It was stopped or restarted, or the network is away. This page tries again by itself; what you typed is kept.'];
  const EXPIRED = ['Your session has ended.', 'Nothing was sent. What you typed is kept in this window until you are back.'];
  const PATIENCE_MS = 10000;
  const typed = new Set();
  /* What an earlier visit of this window left. Until the page is joined to the server it counts as lost. */
  const before = JSON.parse(sessionStorage.getItem(KEPT) || 'null');
  let lost = true, leaving = false;

  const words = (tag, text, name) => { const made = document.createElement(tag); made.textContent = text;
    if (name) made.className = name; return made; };
  const editorOf = (field) => { const box = field.closest('.tally-editor');
    return box && window.getElement ? window.getElement(Number(box.id.slice(1)))?.editor : null; };
  const isText = (field) => field.matches?.('textarea, input, .cm-content')
    && !['password', 'checkbox', 'radio', 'file', 'hidden'].includes(field.type);
  const nameOf = (field) => field.getAttribute('aria-label') || field.closest('label')?.querySelector('.q-field__label')?.textContent
    || field.labels?.[0]?.textContent || '';
  const read = (field) => field.matches('.cm-content') ? (editorOf(field)?.state.doc.toString() ?? '') : field.value;
  const write = (field, text) => {
    const editor = editorOf(field);
    if (editor) { editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } }); return; }
    const kind = field.matches('textarea') ? HTMLTextAreaElement : HTMLInputElement;
    Object.getOwnPropertyDescriptor(kind.prototype, 'value').set.call(field, text);
    field.dispatchEvent(new Event('input', { bubbles: true }));
  };

  const keep = () => {
    const said = { ...before };
    typed.forEach((field) => { const text = document.contains(field) ? read(field) : '';
      if (text && nameOf(field)) said[nameOf(field)] = text; });
    if (Object.keys(said).length) sessionStorage.setItem(KEPT, JSON.stringify(said));
  };
  document.addEventListener('input', (event) => { if (event.isTrusted && isText(event.target)) { typed.add(event.target);
    if (lost) keep(); } }, true);
  window.addEventListener('beforeunload', () => { leaving = true; setTimeout(() => { leaving = false; }, 3000); });

  const notice = (role, title, said, more) => {
    document.getElementById('tally-notice')?.remove();
    const box = words('div', '', 'tally-notice');
    box.id = 'tally-notice';
    box.setAttribute('role', role);
    box.append(words('strong', title), words('span', said), ...(more || []));
    if (role === 'status') { const close = words('button', 'Close', 'tally-plain-button');
      close.type = 'button'; close.addEventListener('click', () => box.remove()); box.append(close); }
    document.body.append(box);
  };

  /* The server says so when it no longer knows who is looking. */
  window.tallyExpired = () => {
    lost = true; keep();
    const back = words('a', 'Log in again', 'tally-plain-button');
    back.href = '/login?next=' + encodeURIComponent(location.pathname + location.search);
    if (!document.getElementById('tally-notice')?.dataset.ended) notice('alert', ...EXPIRED, [back]);
    document.getElementById('tally-notice').dataset.ended = '1';
  };

  /* Whoever logs out in one window is logged out in all of this browser's: they are told once the cookie is gone. */
  document.addEventListener('submit', (event) => {
    if (event.target.getAttribute('action') !== '/logout') return;
    event.preventDefault();
    fetch('/logout', { method: 'POST', redirect: 'manual' }).then(() => {
      localStorage.setItem('tally-left', String(Date.now())); location.assign('/login'); }, () => event.target.submit());
  });
  window.addEventListener('storage', (event) => { if (event.key === 'tally-left') { lost = true; keep(); location.reload(); } });

  const putBack = (said, since) => {
    Object.keys(said).forEach((name) => {
      const field = [...document.querySelectorAll('textarea, input, .cm-content')].find((one) => isText(one) && nameOf(one) === name);
      if (field && (!field.matches('.cm-content') || editorOf(field))) { write(field, said[name]); typed.add(field); delete said[name]; }
    });
    const left = Object.entries(said);
    if (left.length && Date.now() - since < PATIENCE_MS) { setTimeout(putBack, 300, said, since); return; }
    sessionStorage.removeItem(KEPT);
    const more = left.flatMap(([name, text]) => [words('span', 'The field for this is not here now: ' + name), words('pre', text, 'tally-code')]);
    notice('status', 'The page is back.', left.length ? 'Not all of what you typed could be put back:' : 'What you had typed was put back.', more);
  };

  const watch = () => {
    if (!window.socket || !window.did_handshake) { setTimeout(watch, 50); return; }
    const popup = document.getElementById('popup');
    popup?.setAttribute('role', 'alert');
    popup?.querySelectorAll('span').forEach((line, place) => { line.textContent = LOST[place] ?? ''; });
    window.socket.on('disconnect', () => { if (!leaving) { lost = true; keep(); } });
    /* Back without a reload: everything is still where it was typed. */
    window.socket.on('connect', () => setTimeout(() => { lost = false; sessionStorage.removeItem(KEPT); }, 3000));
    lost = false;
    if (before) putBack(before, Date.now()); else sessionStorage.removeItem(KEPT);
  };
  window.addEventListener('DOMContentLoaded', watch);
})();

/* A conversation is followed to its newest words from the moment somebody asks, until they scroll up or take hold of
   something to read it. Only more words count: a hint that opens over a button must not carry the button away. */
(() => {
  const UP = ['PageUp', 'ArrowUp', 'Home'];
  let following = false;
  const toTheEnd = () => { if (following) window.scrollTo(0, document.documentElement.scrollHeight); };
  const stop = () => { following = false; };
  let tall = 0;
  const grew = () => { const before = tall; tall = document.querySelector('.tally-talk')?.scrollHeight ?? 0; return tall > before; };
  window.tallyFollow = () => { following = true; toTheEnd(); };
  window.addEventListener('wheel', (event) => { if (event.deltaY < 0) stop(); }, { passive: true });
  window.addEventListener('touchmove', stop, { passive: true });
  window.addEventListener('pointerdown', (event) => { if (!event.target.closest?.('.tally-ask')) stop(); }, { passive: true });
  window.addEventListener('keydown', (event) => { if (UP.includes(event.key) && !event.target.closest?.('textarea, input')) stop(); });
  window.addEventListener('DOMContentLoaded', () => new MutationObserver(() => { if (following && grew()) toTheEnd(); })
    .observe(document.body, { childList: true, subtree: true, characterData: true }));
})();

/* The drawer is not told of a window made narrow or wide while a dialog is open, and would cover what comes after it.
   It looks again when its breakpoint changes; half a pixel is enough for that and means the same. */
window.addEventListener('DOMContentLoaded', () => {
  let held = false;
  const lookAgain = () => {
    const id = Number(document.querySelector('.tally-drawer')?.id.slice(1));
    const props = window.getElement?.(id)?.$root.elements[id].props;
    if (props) props.breakpoint = Math.floor(props.breakpoint) + (props.breakpoint % 1 ? 0 : 0.5);
  };
  new MutationObserver(() => {
    const now = document.body.classList.contains('q-body--prevent-scroll');
    if (held && !now) lookAgain();
    held = now;
  }).observe(document.body, { attributes: true, attributeFilter: ['class'] });
});

/* A page is there before it is joined to the server. What is typed until then goes out in the first moment after it, in
   no order; so a button that is pressed so early is pressed again once that moment is over. */
(() => {
  const LOOK_MS = 10, AFTER_MS = 60;
  const pressed = new Set();
  let joined = false;
  const look = () => setTimeout(window.did_handshake ? join : look, window.did_handshake ? AFTER_MS : LOOK_MS);
  const join = () => { joined = true; pressed.forEach((button) => button.isConnected && button.click()); pressed.clear(); };
  document.addEventListener('click', (event) => {
    const button = joined ? null : event.target.closest?.('button');
    if (!button) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    pressed.add(button);
  }, true);
  look();
})();
