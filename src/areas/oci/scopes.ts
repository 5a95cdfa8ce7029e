import { isName } from './address.ts'
import type { Action } from './tokens.ts'

/** One thing that a client asks a token for. */
export interface Scope {
  readonly type: 'repository' | 'registry'
  readonly name: string
  readonly actions: readonly Action[]
}

/** Scopes of one request; clients ask for one or two. */
const most = 20
const actions: readonly Action[] = ['pull', 'push', 'delete', '*']

/** The scopes of a token request: several parameters, or several in one. What is no scope is left out. */
export function readScopes(values: readonly string[]): Scope[] {
  return values
    .flatMap((value) => value.split(' '))
    .slice(0, most)
    .flatMap((text) => {
      const scope = readScope(text)
      return scope === undefined ? [] : [scope]
    })
}

function readScope(text: string): Scope | undefined {
  const [, type, name = '', list = ''] =
    /^(repository|registry)(?:\([a-z]+\))?:([^:]+):([a-z*,]+)$/.exec(text) ?? []
  const asked = actions.filter((action) => list.split(',').includes(action))
  if (type === 'registry') return name === 'catalog' ? { type, name, actions: asked } : undefined
  return type === 'repository' && isName(name) ? { type, name, actions: asked } : undefined
}
