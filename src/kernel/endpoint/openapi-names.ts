import type { Endpoint } from './endpoint.ts'

/** Endpoints that are known by another noun than the one of their path. */
const otherNouns: Readonly<Record<string, string>> = {
  user: 'users',
  pipeline: 'pipelines',
  trigger: 'triggers',
  ref: 'triggers',
  job: 'jobs',
  metadata: 'instance',
  version: 'instance',
  'openapi.json': 'instance',
  memberships: 'users',
  artifacts: 'jobs',
  subgroups: 'groups',
  descendant_groups: 'groups',
  terraform: 'terraform states',
}

/** A segment that only says where something belongs, when more follows it. */
const places = new Set(['projects', 'groups', 'users', 'user', 'admin', 'application'])

/** The group an endpoint is shown in: the noun of its path, `Variables`; runners' own calls stand by themselves. */
export function tagOf({ path, on }: Pick<Endpoint, 'path' | 'on'>): string {
  if (on.name === 'runner' || on.name === 'job') return 'Runner API'
  const words = path
    .replace(/^\/admin\/ci|^\/projects(?=\/user\/)/, '')
    .split('/')
    .filter((segment) => segment !== '' && !segment.startsWith(':'))
  const noun = words.length > 1 && places.has(words[0]!) && isNoun(words[1]!) ? words[1]! : words[0]!
  return capital(spaced(otherNouns[noun] ?? noun))
}

/** `/projects/:id/archive` is about projects, `/projects/:id/variables` about variables. */
function isNoun(word: string): boolean {
  return (
    word.endsWith('s') || word in otherNouns || word === 'repository' || word === 'registry' || word === 'ci'
  )
}

const verbs = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const

/**
 * A name for each endpoint, from its method and path: `GET /projects/:id/variables/:key` is `getProjectVariable`, the
 * list `getProjectVariables`. Where two would have one name, the later one also says by what: `getProjectMembersAllById`.
 */
export function operationIds(endpoints: readonly Pick<Endpoint, 'method' | 'path'>[]): string[] {
  const taken = new Set<string>()
  return endpoints.map(({ method, path }) => {
    const segments = path
      .replace('*', ':path')
      .split('/')
      .filter((segment) => segment !== '')
    const words = segments.flatMap((segment, index) => {
      if (segment.startsWith(':')) return []
      return [segments[index + 1]?.startsWith(':') === true ? singular(segment) : segment]
    })
    if (segments[0] === 'user') words[0] = 'current_user'
    const short = verbs[method] + words.map(pascal).join('')
    const by = segments
      .filter((segment) => segment.startsWith(':'))
      .map((segment) => pascal(segment.slice(1)))
    let name = short
    if (taken.has(name)) name = `${short}By${by.join('And')}`
    for (let number = 2; taken.has(name); number += 1) name = `${short}${number}`
    taken.add(name)
    return name
  })
}

/** The noun for one of what a path lists: `/projects/:id/protected_branches` gives `ProtectedBranch`. */
export function nounOf(path: string): string {
  const words = path.split('/').filter((segment) => !/^(:|\*|$)/.test(segment))
  return pascal(singular(words.at(-1) ?? 'thing'))
}

export function singular(word: string): string {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (/(ch|sh|x|ss)es$/.test(word)) return word.slice(0, -2)
  return /(?<![sui])s$/.test(word) ? word.slice(0, -1) : word
}

/** `protected_branches` as `ProtectedBranches`. */
export function pascal(word: string): string {
  return word
    .split(/[^a-zA-Z0-9]+/)
    .map(capital)
    .join('')
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}

function spaced(word: string): string {
  return word.replaceAll(/[_-]/g, ' ')
}
