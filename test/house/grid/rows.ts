import { readFileSync } from 'node:fs'
import path from 'node:path'

/** The columns of the grid, in their order. */
export const actorNames = [
  'anonymous',
  'signed_in_stranger',
  'guest',
  'planner',
  'reporter',
  'developer',
  'maintainer',
  'owner',
  'admin',
  'blocked_user',
  'expired_token',
  'token_scope_read_api_only',
] as const
export type ActorName = (typeof actorNames)[number]

export type VisibilityName = 'public' | 'internal' | 'private'

/** One reviewed expectation: what each actor is answered to one request. */
export interface Row {
  /** `permission-grid.csv:12` */
  readonly place: string
  readonly area: string
  readonly method: string
  readonly path: string
  readonly condition: string
  /** Of the project, or of the group for paths of groups; empty where there is neither. */
  readonly visibility: VisibilityName | ''
  readonly expected: Readonly<Record<ActorName, number>>
}

/** `/projects/:id/members/:user_id` and `/projects/:id/members/:member` are one endpoint. */
export function shapeOf(method: string, address: string): string {
  return `${method} ${address.replace('*', ':').replaceAll(/:\w*/g, ':')}`
}

export function nameOf({ method, path: address, condition, visibility }: Row): string {
  return [`${method} ${address}`, visibility, condition].filter((part) => part !== '').join(', ')
}

/** Reads a grid beside this folder. A trailing `?` marks a judgement that no source settles; it counts all the same. */
export function readGrid(file: string): Row[] {
  const lines = readFileSync(path.resolve(import.meta.dirname, '..', file), 'utf8').split('\n')
  const rows = lines.flatMap((line, index) =>
    line === '' || line.startsWith('#') ? [] : [{ cells: parseLine(line), place: `${file}:${index + 1}` }],
  )
  const [header, ...rest] = rows
  const titles = ['area', 'method', 'path', 'condition', 'visibility', ...actorNames]
  if (header === undefined || header.cells.join() !== titles.join())
    throw new Error(`${file} has other columns`)
  return rest.map(({ cells, place }) => {
    if (cells.length !== titles.length) throw new Error(`${place} has ${cells.length} cells`)
    const [area, method, address, condition, visibility, ...statuses] = cells
    const expected = actorNames.map((name, index) => {
      const status = Number(statuses[index]!.replace(/\?$/, ''))
      if (!(status >= 200 && status < 600)) throw new Error(`${place} has no status for ${name}`)
      return [name, status]
    })
    return {
      place,
      area: area!,
      method: method!,
      path: address!,
      condition: condition!,
      visibility: visibility as VisibilityName | '',
      expected: Object.fromEntries(expected) as Record<ActorName, number>,
    }
  })
}

/** The rows that were given, and ours. */
export function readGrids(): Row[] {
  return [...readGrid('permission-grid.csv'), ...readGrid('permission-grid-own.csv')]
}

function parseLine(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!,
  )
}
