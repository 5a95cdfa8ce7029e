// @module-tag long
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf } from '../world/bodies.ts'
import { Person, type Reply } from '../world/client.ts'
import { eventually } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { Copies, git } from './copies.ts'
import { sshAddress, sshLogin } from './ssh-login.ts'
import {
  keys,
  machines,
  overApi,
  overHttp,
  overSsh,
  people,
  ruleSets,
  verdictOf,
  type ActorName,
  type RuleText,
  type Target,
  type Way,
} from './ways.ts'

/* Every way to move a branch, for every kind of actor, held against the pure rule. */

let world: World
let copies: Copies
let top: Made
let project: Made
let copy: string
let group: Made
let keyId: number
const actors = {} as Record<(typeof people)[number] | (typeof machines)[number], Person>
const ssh = {} as Record<ActorName, string>
/** `base` < `middle` < `next` in one line, `aside` beside them; `fix` on its own files, to be picked. */
const commits = {} as Record<'base' | 'middle' | 'next' | 'aside' | 'fix', string>

beforeAll(async () => {
  world = await startWorld({ PLAN: 'ultimate', SSH_PORT: '0' })
  copies = await Copies.open(world)
  top = await world.group()
  project = await world.project({ namespace_id: top.id })
  const path = `/projects/${project.id}`
  // Made by somebody else: who makes a group is its member.
  group = await world.group({}, await world.user())
  await world.root.post(`${path}/share`, { group_id: group.id, group_access: 30 })
  actors.developer = await world.member({ project }, 'developer')
  actors.maintainer = await world.member({ project }, 'maintainer')
  actors.administrator = world.root
  actors.named = await world.member({ project }, 'developer')
  actors.insider = await world.member({ group }, 'developer')
  const token = expectStatus(
    await world.root.post(`${path}/access_tokens`, {
      ...{ name: 'machine', scopes: ['api', 'write_repository'], access_level: 30 },
      expires_at: new Date(Date.now() + 30 * 24 * 3600_000).toISOString().slice(0, 10),
    }),
    201,
  )
  actors.token = new Person(world.url, {
    ...{ id: token['user_id'] as number, username: 'machine', token: token['token'] as string },
  })
  for (const name of people) {
    ssh[name] = await sshLogin(world, copies, async (key) =>
      expectStatus(await actors[name].post('/user/keys', { title: name, key }), 201),
    )
  }
  for (const name of keys) {
    ssh[name] = await sshLogin(world, copies, async (key) => {
      const fields = { title: name, key, can_push: true }
      const made = expectStatus(await world.root.post(`${path}/deploy_keys`, fields), 201)
      if (name === 'listedKey') keyId = made['id'] as number
    })
  }
  copy = await copies.filled(project)
  commits.base = await git(copy, 'rev-parse', 'HEAD')
  commits.middle = await copies.commit(copy, 'middle')
  commits.next = await copies.commit(copy, 'next')
  await git(copy, 'checkout', '--quiet', commits.base)
  commits.aside = await copies.commit(copy, 'aside')
  await git(copy, 'checkout', '--quiet', commits.base)
  commits.fix = await copies.commit(copy, 'fix')
  // What comes over the API is there already: only names and rules are to decide.
  await git(
    copy,
    'push',
    '--quiet',
    'origin',
    ...Object.values(commits).map((oid) => `${oid}:refs/heads/x-${oid}`),
  )
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

interface Case {
  readonly branch: string
  readonly rules: readonly RuleText[]
  readonly actor: ActorName
  readonly way: Way
}

const isNew = (way: Way): boolean => ['http create', 'ssh create', 'branch', 'commit from'].includes(way)

/** What a push of this way says to git. */
function refspec({ branch, way }: Case): string {
  const target = `refs/heads/${branch}`
  if (way.endsWith('delete')) return `:${target}`
  return way.endsWith('force') ? `+${commits.aside}:${target}` : `${commits.next}:${target}`
}

/** The branches of these cases as they are before, then their rules, for the branches with this prefix. */
async function arrange(cases: readonly Case[], sets: Readonly<Record<string, readonly RuleText[]>>) {
  const old = cases.filter(({ way }) => !isNew(way))
  const specs = old.map(({ branch }) => `${commits.middle}:refs/heads/${branch}`)
  if (specs.length > 0) await git(copy, 'push', '--quiet', 'origin', ...specs)
  const entry = (target: Target) => {
    if (typeof target === 'number') return { access_level: target }
    if (target === 'named') return { user_id: actors.named.id }
    return target === 'group' ? { group_id: group.id } : { deploy_key_id: keyId }
  }
  for (const [prefix, rules] of Object.entries(sets)) {
    for (const { name, push, merge, force = false, inherited = false } of rules) {
      const place = inherited ? `/groups/${top.id}` : `/projects/${project.id}`
      const made = await world.root.post(`${place}/protected_branches`, {
        ...{ name: `${prefix}/${name}`, allow_force_push: force },
        ...{ allowed_to_push: push.map(entry), allowed_to_merge: merge.map(entry) },
      })
      expect(made.status, made.text).toBe(201)
    }
  }
}

const verdict = ({ branch, rules, actor, way }: Case, prefix: string) =>
  verdictOf(
    branch,
    rules.map((rule) => ({ ...rule, name: `${prefix}/${rule.name}` })),
    actor,
    way,
  )

/** A push that was told, ref by ref: undefined for those that moved. */
async function push(actor: ActorName, cases: readonly Case[]): Promise<Map<string, string | undefined>> {
  const [first] = cases
  const overHttp = first!.way.startsWith('http')
  const url = overHttp
    ? copies.url(project, actors[actor as keyof typeof actors])
    : sshAddress(world, project.path_with_namespace)
  const told = await copies.try(copy, ['push', '--porcelain', url, ...cases.map(refspec)], {
    GIT_SSH_COMMAND: ssh[actor],
  })
  const lines = `${told.stdout}\n${told.stderr}`.split('\n')
  return new Map(
    cases.map(({ branch }) => {
      const line = lines.find((one) => one.includes(`:refs/heads/${branch}\t`)) ?? told.stderr
      const refused = line.startsWith('!') && !line.includes('another ref of this push was refused')
      return [branch, refused || told.code > 1 ? line : undefined]
    }),
  )
}

const api = () => `/projects/${project.id}/repository`
const requests = () => `/projects/${project.id}/merge_requests`

async function call({ branch, actor, way }: Case): Promise<Reply> {
  const person = actors[actor as keyof typeof actors]
  const commit_message = 'Change'
  const actions = [{ action: 'create', file_path: 'new', content: 'x' }]
  const encoded = encodeURIComponent(branch)
  switch (way) {
    case 'file':
      return person.post(`${api()}/files/new`, { branch, commit_message, content: 'x' })
    case 'commit':
      return person.post(`${api()}/commits`, { branch, commit_message, actions })
    case 'commit from':
      return person.post(`${api()}/commits`, { branch, start_branch: 'main', commit_message, actions })
    case 'commit anew':
      return person.post(`${api()}/commits`, {
        ...{ branch, start_sha: commits.base, force: true, commit_message, actions },
      })
    case 'cherry-pick':
      return person.post(`${api()}/commits/${commits.fix}/cherry_pick`, { branch })
    case 'revert':
      return person.post(`${api()}/commits/${commits.middle}/revert`, { branch })
    case 'branch':
      return person.post(`${api()}/branches`, { branch, ref: 'main' })
    case 'merge': {
      const fields = { source_branch: `x-${commits.fix}`, target_branch: branch, title: 'Change' }
      const made = expectStatus(await world.root.post(requests(), fields), 201)
      return person.put(`${requests()}/${made['iid'] as number}/merge`)
    }
    case 'rebase': {
      const fields = { source_branch: branch, target_branch: `x-${commits.fix}`, title: 'Change' }
      const made = expectStatus(await world.root.post(requests(), fields), 201)
      const path = `${requests()}/${made['iid'] as number}`
      const begun = await person.put(`${path}/rebase`)
      return begun.status === 202 ? rebased(path) : begun
    }
    case 'branch delete':
      return person.delete(`${api()}/branches/${encoded}`)
    default:
      throw new Error(`${way} is none of the API`)
  }
}

/** What came of a rebase that was begun. */
const rebased = (path: string): Promise<Reply> =>
  eventually(async () => {
    const reply = await world.root.get(`${path}?include_rebase_in_progress=true`)
    const now = expectStatus(reply, 200)
    if (now['rebase_in_progress'] === true) return undefined
    const error = now['merge_error'] as string | null
    return error === null ? reply : { ...reply, status: 400, body: { message: error } }
  })

const shows = (reply: Reply): string | undefined =>
  reply.status < 300 ? undefined : String((reply.body as Json)['message'])

function table(ways: readonly Way[], names: readonly ActorName[]): Case[] {
  return Object.entries(ruleSets).flatMap(([set, rules]) =>
    names.flatMap((actor) =>
      ways.map((way) => ({ branch: `${set}/${actor}-${way.replaceAll(' ', '-')}`, rules, actor, way })),
    ),
  )
}

const prefixOf = ({ branch }: Case) => branch.slice(0, branch.indexOf('/'))
const isOfApi = ({ way }: Case) => (overApi as readonly Way[]).includes(way)

/** What the pure rule says of each case. */
async function expectedOf(cases: readonly Case[]): Promise<Map<string, string | undefined>> {
  const verdicts = await Promise.all(cases.map((one) => verdict(one, prefixOf(one))))
  return new Map(cases.map(({ branch }, index) => [branch, verdicts[index]]))
}

/** What becomes of each case: undefined for those that moved. */
async function foundOf(
  cases: readonly Case[],
  expected: ReadonlyMap<string, string | undefined>,
): Promise<Map<string, string | undefined>> {
  const found = new Map<string, string | undefined>()
  // A push with one refusal moves nothing: so first what is to be refused, with its words, then the rest.
  const pushes = [...people, ...machines, ...keys].flatMap((actor) =>
    [overHttp, overSsh].flatMap((ways: readonly Way[]) =>
      [true, false].map((refusing) =>
        cases.filter(
          (one) =>
            one.actor === actor &&
            ways.includes(one.way) &&
            (expected.get(one.branch) !== undefined) === refusing,
        ),
      ),
    ),
  )
  for (const part of pushes) {
    if (part.length === 0) continue
    for (const [branch, said] of await push(part[0]!.actor, part)) found.set(branch, said)
  }
  const queue = cases.filter(isOfApi).values()
  const work = async () => {
    for (const one of queue) found.set(one.branch, shows(await call(one)))
  }
  await Promise.all([work(), work(), work(), work()])
  return found
}

/** The same moved, and what the API refused it refused in the same words. */
function expectSame(
  cases: readonly Case[],
  found: ReadonlyMap<string, string | undefined>,
  expected: ReadonlyMap<string, string | undefined>,
): void {
  const told = (by: ReadonlyMap<string, string | undefined>) =>
    cases.map((one) => {
      const said = by.get(one.branch)
      return `${JSON.stringify(one)}: ${said === undefined ? 'moved' : isOfApi(one) ? said : 'refused'}`
    })
  expect(told(found)).toEqual(told(expected))
}

test('the table: rules, actors and ways', { timeout: 300_000 }, async () => {
  const cases = [
    ...table([...overHttp, ...overSsh], people),
    ...table(overSsh, keys),
    ...table([...overHttp, 'commit', 'branch', 'branch delete', 'merge', 'cherry-pick'], machines),
    ...table(overApi, ['developer', 'maintainer']),
    ...table(['commit', 'branch delete'], ['administrator', 'named', 'insider']),
  ]
  expect(cases.length).toBeGreaterThan(200)
  await arrange(cases, ruleSets)
  const expected = await expectedOf(cases)
  expectSame(cases, await foundOf(cases, expected), expected)
})

/** Any rules, any actor, any way: other ones at each run; a failure shows its case. */
test('random cases', { timeout: 300_000 }, async () => {
  const levels = [0, 30, 40, 60] as const
  const anyRule = fc.record({
    name: fc.constantFrom('one', '*', 'o*e', '*n*', 'two'),
    push: fc.uniqueArray(fc.constantFrom(...levels, 'named' as const, 'group' as const, 'key' as const), {
      ...{ minLength: 1, maxLength: 3 },
    }),
    merge: fc.uniqueArray(fc.constantFrom(...levels), { minLength: 1, maxLength: 2 }),
    force: fc.boolean(),
    inherited: fc.constant(false),
  })
  const anyCase = fc.record({
    rules: fc.uniqueArray(anyRule, { selector: ({ name }) => name, maxLength: 3 }),
    doing: fc.oneof(
      fc.record({
        actor: fc.constantFrom<ActorName>(...people),
        way: fc.constantFrom<Way>(...overHttp, ...overSsh, ...overApi),
      }),
      fc.record({
        actor: fc.constantFrom<ActorName>(...machines),
        way: fc.constantFrom<Way>(...overHttp, ...overApi),
      }),
      fc.record({ actor: fc.constantFrom<ActorName>(...keys), way: fc.constantFrom<Way>(...overSsh) }),
    ),
  })
  // All of them are arranged and pushed together, which is much cheaper than one after the other.
  const cases = fc
    .sample(anyCase, 60)
    .map(({ rules, doing }, index): Case => ({ branch: `any-${index}/one`, rules, ...doing }))
  await arrange(cases, Object.fromEntries(cases.map((one) => [prefixOf(one), one.rules])))
  const expected = await expectedOf(cases)
  expectSame(cases, await foundOf(cases, expected), expected)
  for (const { branch, actor, way } of cases) {
    if (way !== 'http push' || expected.get(branch) !== undefined) continue
    const { id } = actors[actor as keyof typeof actors]
    const asked = `/projects/${project.id}/protected_branches/preview?ref=${encodeURIComponent(branch)}&user_id=${id}`
    expect(bodyOf(await world.root.get(asked))).toMatchObject({ push: { allowed: true } })
  }
})
