import { Refusal } from './api.ts'
import { nodes, tags, type Child } from './dom.ts'
import { address } from './here.ts'
import { account, signInLink } from './parts/account.ts'
import { brand } from './parts/brand.ts'
import { me } from './session.ts'

const { a, div, h1, header, main, nav, p } = tags

/** What a page shows below the bar that all of them have. */
export interface Content {
  readonly title: string
  /** Above the content, if there is something: where this is, and where else to go. */
  readonly head?: Child
  readonly body: readonly Child[]
}

const place = main({ id: 'content', tabIndex: -1 }, p({ className: 'soft', role: 'status' }, 'Loading…'))
const above = div({ className: 'above' })

/** Draws the page once its content is there; what is refused is told in its place. */
export async function show(make: () => Promise<Content>): Promise<void> {
  document.body.replaceChildren(
    a({ className: 'skip', href: '#content' }, 'Skip to the content'),
    bar(),
    above,
    place,
  )
  await make().then(draw, async (error: unknown) => draw(await insteadOfContent(error)))
}

function draw({ title, head, body }: Content): void {
  document.title = `${title} · Guildhall`
  above.replaceChildren(...nodes([head]))
  place.replaceChildren(...nodes(body))
  // On narrow screens not all places fit beside one another.
  above.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  // What the end of the address names is there only now.
  document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView()
}

function bar(): HTMLElement {
  const mine = div({ className: 'account' })
  void account().then((shown) => mine.replaceChildren(shown))
  return header(
    { className: 'bar' },
    brand(),
    nav(
      { className: 'everywhere', 'aria-label': 'Everywhere' },
      a({ href: address`/explore` }, 'Projects'),
      a({ href: address`/explore/groups` }, 'Groups'),
    ),
    mine,
  )
}

async function insteadOfContent(error: unknown): Promise<Content> {
  if (!(error instanceof Refusal)) throw error
  const isHidden = [401, 403, 404].includes(error.status)
  const title = isHidden ? 'There is nothing here' : 'That did not work'
  const isStranger = isHidden && (await me()) === undefined
  return {
    title,
    body: [
      h1(title),
      p(isHidden ? 'Nothing is at this address, or nothing that you may see.' : error.message),
      isStranger && p(signInLink('Sign in'), ' to see what is yours.'),
    ],
  }
}
