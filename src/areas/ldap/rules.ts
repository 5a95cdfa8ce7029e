import { isAssignable } from '../../access/index.ts'
import { conflict, invalidParameters } from '../../kernel/errors/index.ts'
import { parseFilter } from './config.ts'

export interface NewLink {
  readonly cn: string | null
  readonly filter: string | null
  readonly provider: string
}

const longest = { cn: 255, provider: 255, filter: 8192 } as const

/** Refuses a link whose parts are none, in the words of the completions (3.1). */
export function checkLink(link: NewLink): void {
  if (link.provider.trim() === '') throw invalidParameters(['provider is empty'])
  for (const name of ['cn', 'provider', 'filter'] as const) {
    if ((link[name]?.length ?? 0) > longest[name]) {
      const label = name[0]!.toUpperCase() + name.slice(1)
      throw conflict(`${label} is too long (maximum is ${longest[name]} characters)`)
    }
  }
  if (link.filter !== null && parseFilter(link.filter) === undefined) {
    throw conflict('Filter must be a valid filter')
  }
}

/** Minimal access exists in top-level groups only. */
export function checkLevel(level: number, minimal: boolean): void {
  if (!isAssignable(level, { minimal })) throw invalidParameters(['group_access does not have a valid value'])
}

/** One of the two, and not an empty one. */
export function named(params: {
  readonly cn?: string | null | undefined
  readonly filter?: string | null | undefined
}): { readonly cn: string | null; readonly filter: string | null } {
  const cn = blankToNull(params.cn)
  const filter = blankToNull(params.filter)
  if ((cn === null) === (filter === null)) {
    throw invalidParameters([
      cn === null
        ? 'cn, filter are missing, exactly one parameter must be provided'
        : 'cn, filter are mutually exclusive',
    ])
  }
  return { cn, filter }
}

function blankToNull(text: string | null | undefined): string | null {
  return text === undefined || text === null || text.trim() === '' ? null : text
}
