import http from 'node:http'
import type pg from 'pg'
import type { Endpoint } from './endpoints.ts'
import { apiOf, type Api } from './figures.ts'
import type { GitClient } from './git-client.ts'
import { percentile, type LoadRequest } from './http-load.ts'
import type { Scale } from './options.ts'
import type { Service } from './service.ts'
import { callerToken, rootToken } from './world.ts'

const files = 300
const notes = { large: 5_000, small: 50 }
const perThread = 2
const followers = 1_000

/** From a note to the last of all who follow having it, in milliseconds. */
export interface FanOut {
  readonly followers: number
  readonly times: number
  readonly p50: number
  readonly p99: number
  /** SQL of one note: of writing it and of telling all of them. */
  readonly statements: number
}

/** Two merge requests of 300 files each, one with 5,000 notes in its diff and one with 50, and the questions about them. */
export async function discussions(
  service: Service,
  git: GitClient,
  client: pg.Client,
  { callers }: Scale,
): Promise<Endpoint[]> {
  const api = apiOf(service)
  const { id, path_with_namespace } = await api('POST', '/projects', {
    name: `discussions-${Date.now()}`,
    visibility: 'public',
  })
  const source = await git.bare('discussions.git')
  await git.run(['-C', source, 'fast-import', '--quiet', '--done'], branches())
  const url = `http://root:${rootToken}@127.0.0.1:${service.port}/${path_with_namespace as string}.git`
  await git.run(['-C', source, 'push', '--quiet', url, 'main', 'large', 'small'])
  const requests = `/projects/${id as number}/merge_requests`
  const fill = async (branch: 'large' | 'small'): Promise<string> => {
    const fields = { title: branch, source_branch: branch, target_branch: 'main' }
    const { iid } = await api('POST', requests, fields)
    const at = `${requests}/${iid as number}`
    const refs = await waitForRefs(api, at)
    const position = { ...refs, position_type: 'text', new_path: 'file-0', old_path: 'file-0', new_line: 1 }
    const thread = await api('POST', `${at}/discussions`, { body: 'first', position })
    await client.query(copies, [thread['id'], notes[branch] / perThread - 1, files, perThread])
    return at
  }
  const large = await fill('large')
  const small = await fill('small')
  await client.query('analyze discussions')
  await client.query('analyze notes')
  const pages = (at: string, page: (number: number) => number): LoadRequest[] =>
    Array.from({ length: 400 }, (_, number) => ({
      method: 'GET',
      path: `/api/v4${at}/discussions?page=${page(number)}`,
      headers: { 'private-token': callerToken(1 + (number % callers)) },
    }))
  const last = notes.large / perThread / 20
  const first = pages(small, () => 1)
  const title = `discussions of a merge request, ${notes.large.toLocaleString('en')} notes on ${files} files`
  return [
    { name: 'discussions', title, requests: pages(large, () => 1), small: first, connections: 8 },
    {
      name: 'discussions-deep',
      title: `${title}, any page`,
      requests: pages(large, (number) => 1 + (number % last)),
      small: first,
      connections: 8,
    },
  ]
}

/** Threads like the one that was begun, at lines of all the files. */
const copies = `
  with begun as (select d.* from discussions d where d.key = $1),
    made as (
      insert into discussions (key, noteable_id, started_at, individual, internal, needs_code, position,
        original_position, line_code, commit_id)
      select md5(begun.key || n) || left(md5(n || begun.key), 8), begun.noteable_id,
        begun.started_at + n * interval '1 millisecond', false, false, begun.needs_code, place.position, place.position,
        begun.line_code, begun.commit_id
      from begun, generate_series(1, $2::int) n
      cross join lateral (
        select begun.position || jsonb_build_object('old_path', 'file-' || n % $3::int, 'new_path',
          'file-' || n % $3::int) as position) place
      returning id, noteable_id, started_at),
    said as (
      insert into notes (discussion_id, noteable_id, author_id, body, resolvable, created_version, version, created_at,
        updated_at)
      select made.id, made.noteable_id, 1, 'A remark about this line, and why it should be another one', true, 1, 1,
        made.started_at, made.started_at
      from made, generate_series(1, $4::int) returning noteable_id)
  update noteables set notes = notes + (select count(*) from said), user_notes = user_notes + (select count(*) from said),
    discussions = discussions + (select count(*) from made)
  where id = (select noteable_id from begun)`

/** A request's diff is made beside the answer that creates it. */
async function waitForRefs(api: Api, at: string): Promise<object> {
  for (;;) {
    const { diff_refs: refs } = await api('GET', at)
    if (refs !== null && typeof refs === 'object') return refs
  }
}

function* branches(): Generator<string> {
  const committer = 'committer Bench <bench@example.com> 1700000000 +0000\n'
  yield `commit refs/heads/main\nmark :1\n${committer}data 4\nMain\nM 100644 inline README\ndata 1\nx\n`
  for (const branch of ['large', 'small']) {
    yield `commit refs/heads/${branch}\n${committer}data ${branch.length}\n${branch}\nfrom :1\n`
    for (let number = 0; number < files; number += 1) {
      const text = `line of ${branch} in file ${number}\n`.repeat(20)
      yield `M 100644 inline file-${number}\ndata ${Buffer.byteLength(text)}\n${text}\n`
    }
  }
  yield 'done\n'
}

/** Many follow one issue, each by a connection of his own, and somebody writes. */
export async function fanOut(service: Service, { callers }: Scale, quick: boolean): Promise<FanOut> {
  const api = apiOf(service)
  const project = await api('POST', '/projects', { name: `streams-${Date.now()}`, visibility: 'public' })
  const issues = `/projects/${project['id'] as number}/issues`
  const { iid } = await api('POST', issues, { title: 'Followed' })
  const at = `${issues}/${iid as number}`
  const crowd = new Crowd()
  try {
    for (let number = 0; number < followers; number += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, one) =>
          crowd.open(
            `${service.url}/api/v4${at}/discussions/stream`,
            callerToken(1 + ((number + one) % callers)),
          ),
        ),
      )
    }
    const taken: number[] = []
    const write = async (): Promise<void> => {
      const begin = performance.now()
      const all = crowd.next()
      await api('POST', `${at}/notes`, { body: 'News for everybody' })
      await all
      taken.push(performance.now() - begin)
    }
    await write()
    taken.length = 0
    const before = await service.counts()
    const times = quick ? 10 : 50
    for (let number = 0; number < times; number += 1) await write()
    const after = await service.counts()
    taken.sort((one, other) => one - other)
    return {
      followers,
      times,
      p50: percentile(taken, 0.5),
      p99: percentile(taken, 0.99),
      statements: (after.statements - before.statements) / times,
    }
  } finally {
    crowd.close()
  }
}

/** All who follow, as one: told when the last of them has heard. */
class Crowd {
  readonly #agent = new http.Agent({ keepAlive: false, maxSockets: Infinity })
  #size = 0
  #heard = 0
  #told: () => void = () => undefined

  open(url: string, token: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const headers = { 'private-token': token, accept: 'text/event-stream' }
      const request = http.get(url, { agent: this.#agent, headers }, (response) => {
        if (response.statusCode !== 200) {
          reject(new Error(`a stream answered ${response.statusCode}`))
          return
        }
        this.#size += 1
        response.setEncoding('latin1')
        response.on('data', (text: string) => {
          if (text.startsWith('retry:')) resolve()
          if (text.includes('event: created')) this.#hear()
        })
        response.on('error', () => undefined)
      })
      request.on('error', reject)
    })
  }

  /** Resolves when everybody has heard once more. */
  next(): Promise<void> {
    this.#heard = 0
    return new Promise((resolve) => {
      this.#told = resolve
    })
  }

  #hear(): void {
    this.#heard += 1
    if (this.#heard === this.#size) this.#told()
  }

  close(): void {
    this.#agent.destroy()
  }
}
