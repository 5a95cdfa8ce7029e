import { tags, type Child } from '../dom.ts'
import type { Release } from '../entities.ts'
import { address, slashed } from '../here.ts'
import { prose } from './markdown.ts'
import { person } from './person.ts'
import { ago } from './time.ts'
import { treeAddress } from './tree-view.ts'

const { a, article, code, h2, li, p, span, ul } = tags

/** What a release says, and what it offers. `project`: its full path. */
export function releaseView(project: string, release: Release): HTMLElement {
  const { name, tag_name: tag, description_html, upcoming_release, released_at, author, assets } = release
  return article(
    { className: 'note' },
    h2(
      a({ className: 'subject', href: address`/${slashed(project)}/-/releases/${tag}` }, name),
      upcoming_release && span({ className: 'badge' }, 'upcoming'),
    ),
    p(
      { className: 'byline' },
      a({ href: treeAddress(project, { ref: tag, path: '' }) }, code(tag)),
      author !== null && [' by ', person(author)],
      ' ',
      ago(released_at),
    ),
    prose(description_html),
    offers(assets),
  )
}

function offers({ links, sources = [] }: Release['assets']): Child {
  return [
    links.length > 0 && ul(links.map(({ name, direct_asset_url: href }) => li(a({ href }, name)))),
    sources.length > 0 &&
      p(
        'The code: ',
        sources.map(({ format, url: href }, index) => [index > 0 && ', ', a({ href }, format)]),
      ),
  ]
}
