export type Child = Node | string | number | null | undefined | false | readonly Child[]

/** Of an element: its properties, listeners (`onclick`), and attributes where the name has a dash (`aria-label`). */
export type Properties = Readonly<
  Record<string, string | number | boolean | null | undefined | ((event: never) => void)>
>

type Tags = {
  readonly [K in keyof HTMLElementTagNameMap]: (
    ...content: readonly [Properties, ...Child[]] | readonly Child[]
  ) => HTMLElementTagNameMap[K]
}

/**
 * A function for each kind of element: `a({ href: '#notes' }, 'Notes')`. Texts become text nodes, never markup; what is
 * null or false is left out.
 */
export const tags = new Proxy({} as Tags, {
  get:
    (_, name: string) =>
    (...content: readonly (Properties | Child)[]) => {
      const [first, ...rest] = content
      return isProperties(first)
        ? element(name, first, rest as Child[])
        : element(name, {}, content as Child[])
    },
})

function isProperties(content: Properties | Child): content is Properties {
  return (
    typeof content === 'object' && content !== null && !(content instanceof Node) && !Array.isArray(content)
  )
}

function element(name: string, properties: Properties, children: readonly Child[]): HTMLElement {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value as unknown as EventListener)
    else if (key in made && !key.includes('-')) Object.assign(made, { [key]: value })
    else made.setAttribute(key, String(value))
  }
  made.append(...nodes(children))
  return made
}

/** What can be appended of these. */
export function nodes(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child) => {
    if (child === null || child === undefined || child === false) return []
    if (child instanceof Node || typeof child === 'string') return [child]
    return typeof child === 'number' ? [String(child)] : nodes(child)
  })
}
