/** The examples name the address under which this page was reached. */
const base = new URL('.', location.href).href.replace(/\/$/, '')
for (const place of document.querySelectorAll('[data-base]')) place.textContent = base
