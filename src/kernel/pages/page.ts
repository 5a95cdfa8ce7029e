import type { FastifyReply } from 'fastify'
import { html, type Html } from './html.ts'

/**
 * The pages load nothing from elsewhere, run no script but their own, and cannot be framed. `forms`: where theirs lead.
 * `guests`: whose scripts run, too, and open frames of their own. `written`: whether the page shows what people and
 * programs write, with pictures from everywhere and styles of its own.
 */
export function pageHeaders(
  forms: readonly string[],
  guests: readonly string[] = [],
  written = false,
): Record<string, string> {
  const policy = [
    "default-src 'none'",
    ["script-src 'self'", ...guests].join(' '),
    ...(guests.length > 0 ? [['frame-src', ...guests].join(' ')] : []),
    "style-src 'self'",
    written ? "img-src 'self' * data:" : "img-src 'self'",
    ...(written ? ["style-src-attr 'unsafe-inline'"] : []),
    "connect-src 'self'",
    "base-uri 'none'",
    `form-action ${forms.join(' ')}`,
    "frame-ancestors 'none'",
  ].join('; ')
  return {
    'content-security-policy': policy,
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
  }
}

/**
 * A page with what all of them have. `root`: from the address of the page to that of the service, as `..` for
 * `/users/sign_up`. `head`: what it loads besides. `body`: the whole element.
 */
export function wholePage({
  title,
  root,
  head,
  body,
}: {
  readonly title?: string | undefined
  readonly root: string
  readonly head?: Html | undefined
  readonly body: Html
}): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title !== undefined && `${title} · `}Guildhall</title>
        <link rel="icon" href="${root}/-/assets/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="${root}/-/assets/style.css" />
        ${head}
      </head>
      ${body}
    </html> `
}

export interface FormPage {
  readonly title: string
  readonly root: string
  readonly body: Html
  /** Of somebody else, with the places that it loads more from. */
  readonly script?: { readonly address: string; readonly sources: readonly string[] } | undefined
}

/**
 * Sends a small page with a form. It is made for one reader, and kept by nobody. Where the form may lead besides to us
 * is told in `targets`.
 */
export function sendFormPage(
  reply: FastifyReply,
  status: number,
  { title, root, body, script }: FormPage,
  targets: readonly string[] = [],
): FastifyReply {
  const page = wholePage({
    title,
    root,
    head: script && html`<script src="${script.address}" async defer></script>`,
    body: html`<body>
      <main class="home sign-in">
        <h1><img src="${root}/-/assets/icon.svg" alt="" />${title}</h1>
        ${body}
      </main>
    </body>`,
  })
  return reply
    .code(status)
    .headers(pageHeaders(["'self'", ...targets], script?.sources ?? []))
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(page.text)
}
