import { html, wholePage, type Html } from '../kernel/pages/index.ts'
import { servedScripts } from './scripts.ts'

export interface ScriptedPage {
  readonly title?: string
  /** From the address of the page to that of the service: `.` or `..`, and so on. */
  readonly root: string
  /** In `browser/`, as `pages/api.js`. */
  readonly script: string
  /** What the address names, for the script. */
  readonly named?: Readonly<Record<string, string>>
  /** What is loaded besides. */
  readonly head?: Html | undefined
  /** What is there before the script runs, which draws the page where this is nothing. */
  readonly body?: Html
}

const drawn = html`<noscript><p>This page needs JavaScript; the API does the same without.</p></noscript>`

/** A page with a script of `browser/`, of which it names all files, so that they are fetched at once. */
export async function scriptedPage({
  title,
  root,
  script,
  named = {},
  head,
  body = drawn,
}: ScriptedPage): Promise<Html> {
  const { version, needed } = await servedScripts()
  const [main, ...others] = needed(script).map((name) => `${root}/-/scripts/${version}/${name}`)
  return wholePage({
    title,
    root,
    head: html`${head} ${others.map((one) => html`<link rel="modulepreload" href="${one}" />`)}
      <script type="module" src="${main}"></script>`,
    body: html`<body data-root="${root}" data-named="${JSON.stringify(named)}">
      ${body}
    </body>`,
  })
}
