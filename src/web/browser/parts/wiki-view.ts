import { read } from '../api.ts'
import { tags } from '../dom.ts'
import type { Content } from '../frame.ts'
import { here } from '../here.ts'
import { prose } from './markdown.ts'
import { ago } from './time.ts'

const { a, aside, div, h1, li, nav, p, ul } = tags

interface WikiEntry {
  readonly slug: string
  readonly title: string
}

interface WikiPage extends WikiEntry {
  /** As its readers see it, which the service has made safe. */
  readonly content: string
  readonly last_version?: { readonly author_name: string; readonly created_at: string }
}

/**
 * The page of a wiki that the address names, or the one to begin with, beside a list of all. `at`: the endpoint of the wiki;
 * `address`: of its pages.
 */
export async function wikiView(at: string, address: string): Promise<Omit<Content, 'head'>> {
  const pages = await read<WikiEntry[]>(at)
  const begin = pages.find(({ slug }) => slug === 'home') ?? pages[0]
  const slug = here.named['rest'] ?? begin?.slug
  if (slug === undefined) {
    return { title: 'Wiki', body: [h1('Wiki'), p({ className: 'soft' }, 'There are no pages yet.')] }
  }
  const page = await read<WikiPage>(`${at}/${encodeURIComponent(slug)}`, { render_html: true })
  const { last_version: last } = page
  return {
    title: page.title,
    body: [
      h1(page.title),
      div(
        { className: 'beside' },
        div(
          div({ className: 'note' }, prose(page.content)),
          last && p({ className: 'soft' }, `${last.author_name} `, ago(last.created_at)),
        ),
        aside(
          nav(
            { 'aria-label': 'Pages of the wiki' },
            ul(
              { className: 'rows' },
              pages.map((one) =>
                li(
                  a(
                    {
                      href: `${address}/${one.slug.split('/').map(encodeURIComponent).join('/')}`,
                      'aria-current': one.slug === page.slug ? 'page' : undefined,
                    },
                    one.title,
                  ),
                ),
              ),
            ),
          ),
        ),
      ),
    ],
  }
}
