/** Pages that are made for one reader: forms that work without a script. */
export { html, Html } from './html.ts'
export { pageHeaders, sendFormPage, wholePage, type FormPage } from './page.ts'
