import { address } from '../here.ts'

/** The examples name the address under which this page was reached. */
const base = address`/`.replace(/\/$/, '')
for (const place of document.querySelectorAll('[data-base]')) place.textContent = base
