window.tallyTurnDark = () => { const dark = !document.body.classList.contains('body--dark');
  localStorage.setItem('tally-dark', dark ? '1' : '0'); Quasar.Dark.set(dark); };
window.addEventListener('DOMContentLoaded', () => { const kept = localStorage.getItem('tally-dark');
  if (kept !== null) { const turn = () => window.Quasar ? Quasar.Dark.set(kept === '1') : setTimeout(turn, 20); turn(); } });
