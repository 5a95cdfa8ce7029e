import { commitFile, SourceHost, type HostAnswer } from './source-host.ts'
import type { Json } from './world.ts'

const at = (day: number): string => `2020-01-${String(day).padStart(2, '0')}T10:00:00.000Z`
const moment = (day: number): number => Date.parse(at(day))

interface Heads {
  readonly start: string
  readonly feature: string
  readonly merged: string
}

/** A repository with a request that is open and one that was merged. */
async function fill(host: SourceHost, name: string): Promise<Heads> {
  const heads = { start: '', feature: '', merged: '' }
  await host.repository(name, async (git, folder) => {
    heads.start = await commitFile(git, folder, 'main.txt', 'one\ntwo\nthree\n')
    await git('checkout', '--quiet', '-b', 'feature')
    heads.feature = await commitFile(git, folder, 'main.txt', 'one\n2\nthree\n')
    await git('checkout', '--quiet', '-b', 'done', 'main')
    await commitFile(git, folder, 'done.txt', 'done\n')
    await git('checkout', '--quiet', 'main')
    await git('merge', '--quiet', '--no-ff', '-m', 'Merge done', 'done')
    heads.merged = await git('rev-parse', 'HEAD')
    const refs = ['main', 'feature', 'feature:refs/pull-requests/1/from', 'done:refs/pull-requests/2/from']
    await git('push', '--quiet', 'origin', ...refs)
  })
  return heads
}

/** A list in pages of two, as the server of one's own has them. */
function numbered(all: readonly unknown[]): HostAnswer {
  return (_request, _reply, url) => {
    const start = Number(url.searchParams.get('start') ?? 0)
    const isLastPage = start + 2 >= all.length
    return {
      values: all.slice(start, start + 2),
      isLastPage,
      ...(!isLastPage && { nextPageStart: start + 2 }),
    }
  }
}

/** As the host in the cloud has them. */
function chained(all: readonly unknown[]): HostAnswer {
  return (_request, _reply, url) => {
    const page = Number(url.searchParams.get('page') ?? 1)
    const next = new URL(url)
    next.searchParams.set('page', String(page + 1))
    return { values: all.slice(page * 2 - 2, page * 2), ...(page * 2 < all.length && { next: next.href }) }
  }
}

/** A server of one's own with the repository `TM/app`, of the shape in which Bitbucket Server answers. */
export async function openServerHost(): Promise<{ readonly host: SourceHost; readonly heads: Heads }> {
  const host = await SourceHost.open()
  const heads = await fill(host, 'scm/tm/app')
  const repo = '/rest/api/1.0/projects/TM/repos/app'
  const user = (name: string): Json => ({
    name,
    displayName: `The ${name}`,
    emailAddress: `${name}@example.com`,
  })
  const side = (sha: string, branch: string): Json => ({
    id: `refs/heads/${branch}`,
    displayId: branch,
    latestCommit: sha,
    repository: { slug: 'app', project: { key: 'TM' } },
  })
  const request = (id: number, fields: Json): Json => ({
    id,
    title: `Number ${id}`,
    description: `Body of ${id}`,
    createdDate: moment(id),
    updatedDate: moment(id + 5),
    author: { user: user('ada') },
    reviewers: [{ user: user('ada') }, { user: user('grace') }],
    toRef: side(heads.start, 'main'),
    ...fields,
  })
  const comment = (id: number, name: string, comments: readonly Json[] = []): Json => ({
    ...{ id, text: `Comment ${id}`, author: user(name), createdDate: moment(id % 28), comments },
  })
  const said = (id: number, fields: Json): Json => ({
    id,
    action: 'COMMENTED',
    commentAction: 'ADDED',
    ...fields,
  })
  host.answers = {
    [repo]: () => ({
      slug: 'app',
      name: 'app',
      description: 'On a server',
      public: true,
      project: { key: 'TM' },
    }),
    [`${repo}/pull-requests`]: numbered([
      request(1, { state: 'OPEN', fromRef: side(heads.feature, 'feature') }),
      request(2, {
        state: 'MERGED',
        fromRef: side('0'.repeat(40), 'done'),
        closedDate: moment(9),
        properties: { mergeCommit: { id: heads.merged } },
      }),
      request(3, {
        state: 'DECLINED',
        fromRef: side(heads.feature, 'feature'),
        author: { user: user('grace') },
      }),
    ]),
    [`${repo}/pull-requests/1/activities`]: numbered([
      said(3, { comment: comment(13, 'ada') }),
      said(2, {
        comment: comment(12, 'grace'),
        commentAnchor: { path: 'main.txt', line: 99, lineType: 'CONTEXT', fileType: 'TO' },
      }),
      said(1, {
        comment: comment(10, 'grace', [comment(11, 'ada')]),
        commentAnchor: { path: 'main.txt', line: 2, lineType: 'ADDED', fileType: 'TO' },
      }),
    ]),
    [`${repo}/pull-requests/2/activities`]: numbered([
      { id: 9, action: 'MERGED', user: user('ada'), createdDate: moment(9), commit: { id: heads.merged } },
    ]),
    [`${repo}/pull-requests/3/activities`]: numbered([]),
  }
  return { host, heads }
}

/** The host in the cloud with the repository `team/app`, of the shape in which Bitbucket Cloud answers. */
export async function openCloudHost(): Promise<{ readonly host: SourceHost; readonly heads: Heads }> {
  const host = await SourceHost.open()
  const heads = await fill(host, 'team/app')
  await host.repository('team/app.wiki', async (git, folder) => {
    await commitFile(git, folder, 'Home.md', 'Of the cloud')
    await git('push', '--quiet', 'origin', 'main')
  })
  const repo = '/2.0/repositories/team/app'
  const user = (nickname: string): Json => ({ nickname, display_name: `The ${nickname}` })
  const side = (sha: string, branch: string, fullName = 'team/app'): Json => ({
    branch: { name: branch },
    commit: { hash: sha.slice(0, 12) },
    repository: { full_name: fullName },
  })
  const raw = (text: string): Json => ({ raw: text, html: '<p>x</p>' })
  const issue = (id: number, fields: Json): Json => ({
    ...{ id, title: `Issue ${id}`, content: raw(`Body of ${id}`), state: 'new', kind: 'bug' },
    ...{ reporter: user('ada'), assignee: null, milestone: null, created_on: at(id), updated_on: at(id + 1) },
    ...fields,
  })
  const request = (id: number, fields: Json): Json => ({
    ...{
      id,
      title: `Number ${id}`,
      summary: raw(`Brings ${id}`),
      author: user('ada'),
      reviewers: [user('grace')],
    },
    ...{ destination: side(heads.start, 'main'), created_on: at(id), updated_on: at(id + 5) },
    ...fields,
  })
  const comment = (id: number, name: string, fields: Json = {}): Json => ({
    ...{ id, content: raw(`Comment ${id}`), user: user(name), created_on: at(id % 28), deleted: false },
    ...fields,
  })
  host.answers = {
    '/2.0/user': () => user('ada'),
    [repo]: () => ({
      ...{ full_name: 'team/app', name: 'app', description: 'In the cloud', is_private: true, size: 1000 },
      ...{ mainbranch: { name: 'main' }, has_wiki: true, has_issues: true },
    }),
    [`${repo}/milestones`]: chained([{ id: 7, name: 'First' }]),
    [`${repo}/issues`]: chained([
      issue(1, { milestone: { id: 7, name: 'First' }, assignee: user('ada') }),
      issue(2, { state: 'wontfix', kind: 'task', reporter: user('grace') }),
      issue(3, {}),
    ]),
    [`${repo}/issues/1/comments`]: chained([
      comment(10, 'grace'),
      comment(11, 'ada', { content: { raw: null } }),
      comment(12, 'ada'),
    ]),
    [`${repo}/issues/2/comments`]: chained([]),
    [`${repo}/issues/3/comments`]: chained([]),
    [`${repo}/pullrequests`]: chained([
      request(1, { state: 'OPEN', source: side(heads.feature, 'feature') }),
      request(2, {
        state: 'MERGED',
        source: side('0'.repeat(40), 'done'),
        merge_commit: { hash: heads.merged.slice(0, 12) },
        closed_by: user('ada'),
      }),
      request(3, { state: 'DECLINED', source: side('1'.repeat(40), 'gone', 'grace/app') }),
    ]),
    [`${repo}/pullrequests/1/comments`]: chained([
      comment(20, 'grace', { inline: { path: 'main.txt', from: null, to: 2 } }),
      comment(21, 'ada', { parent: { id: 20 }, inline: { path: 'main.txt', from: null, to: 2 } }),
      comment(22, 'ada', { deleted: true }),
    ]),
    [`${repo}/pullrequests/2/comments`]: chained([]),
    [`${repo}/pullrequests/3/comments`]: chained([]),
  }
  return { host, heads }
}
