import { commitFile, listed, SourceHost, type HostAnswer } from './source-host.ts'
import type { Json } from './world.ts'

const at = (day: number): string => `2020-01-${String(day).padStart(2, '0')}T10:00:00Z`

/** A host with the repository `octo/app`, of the shape in which GitHub answers: issues, requests, reviews, releases. */
export async function openOctoHost(): Promise<{ readonly host: SourceHost; readonly commits: Commits }> {
  const host = await SourceHost.open()
  const commits: Commits = { start: '', feature: '', fork: '', done: '', merged: '' }
  await host.repository('octo/app', async (git, folder) => {
    commits.start = await commitFile(git, folder, 'main.txt', 'one\ntwo\nthree\n')
    await git('checkout', '--quiet', '-b', 'feature')
    commits.feature = await commitFile(git, folder, 'main.txt', 'one\n2\nthree\nfour\n')
    await git('checkout', '--quiet', '-b', 'fork', 'main')
    commits.fork = await commitFile(git, folder, 'fork.txt', 'from elsewhere\n')
    await git('checkout', '--quiet', 'main')
    await git('checkout', '--quiet', '-b', 'done', 'main')
    commits.done = await commitFile(git, folder, 'done.txt', 'done\n')
    await git('checkout', '--quiet', 'main')
    await git('merge', '--quiet', '--no-ff', '-m', 'Merge done', 'done')
    commits.merged = await git('rev-parse', 'HEAD')
    await git('tag', 'v1.0', 'main')
    await git('push', '--quiet', 'origin', 'main', 'feature', 'v1.0')
    const heads = [`feature:refs/pull/3/head`, `fork:refs/pull/4/head`, `${commits.done}:refs/pull/5/head`]
    await git('push', '--quiet', 'origin', ...heads)
  })
  const writeWiki: Parameters<SourceHost['repository']>[1] = async (git, folder) => {
    await commitFile(git, folder, 'Home.md', 'Of the wiki')
    await git('push', '--quiet', 'origin', 'master')
  }
  await host.repository('octo/app.wiki', writeWiki, 'master')
  host.answers = answersOf(host.url, commits)
  return { host, commits }
}

export interface Commits {
  start: string
  feature: string
  fork: string
  done: string
  merged: string
}

const user = (login: string): Json => ({ login, id: login.length })

function answersOf(url: string, commits: Commits): Record<string, HostAnswer> {
  const api = '/api/v3'
  const repo = `${api}/repos/octo/app`
  const issue = (number: number, fields: Json = {}): Json => ({
    id: 1000 + number,
    number,
    title: `Number ${number}`,
    body: `Body of ${number}, says @ada to \`@all\``,
    state: 'open',
    user: user('ada'),
    assignees: [],
    labels: [],
    milestone: null,
    locked: false,
    created_at: at(number),
    updated_at: at(number + 1),
    closed_at: null,
    ...fields,
  })
  const side = (sha: string, ref: string, fullName: string | null = 'octo/app'): Json => ({
    sha,
    ref,
    repo: fullName === null ? null : { full_name: fullName },
  })
  const pulls = [
    issue(3, {
      head: side(commits.feature, 'feature'),
      base: side(commits.start, 'main'),
      merged_at: null,
      requested_reviewers: [user('grace')],
      draft: true,
      labels: [{ name: 'bug' }],
    }),
    issue(4, {
      head: side(commits.fork, 'topic', 'grace/app-fork'),
      base: side(commits.start, 'main'),
      merged_at: null,
      user: user('grace'),
    }),
    issue(5, {
      state: 'closed',
      head: side(commits.done, 'done'),
      base: side(commits.start, 'main'),
      closed_at: at(20),
      merged_at: at(20),
      merge_commit_sha: commits.merged,
    }),
  ]
  const comment = (id: number, number: number, fields: Json = {}): Json => ({
    id,
    body: `Comment ${id}`,
    user: user('grace'),
    created_at: at(10 + (id % 10)),
    updated_at: at(10),
    issue_url: `${url}${repo}/issues/${number}`,
    pull_request_url: `${url}${repo}/pulls/${number}`,
    ...fields,
  })
  const onLine = {
    path: 'main.txt',
    side: 'RIGHT',
    commit_id: commits.feature,
    diff_hunk: '@@ -1 +1 @@\n-two\n+2',
  }
  return {
    [`${api}/repositories/42`]: () => ({
      id: 42,
      name: 'app',
      full_name: 'octo/app',
      private: false,
      description: 'An application',
      default_branch: 'main',
      has_wiki: true,
      size: 12,
    }),
    [`${api}/users/ada`]: () => ({ ...user('ada'), email: 'ada@example.com' }),
    [`${api}/users/grace`]: () => ({ ...user('grace'), email: null }),
    [`${repo}/labels`]: listed([
      { name: 'bug', color: 'd73a4a', description: 'Does not work' },
      { name: 'a, b', color: 'ffffff', description: null },
    ]),
    [`${repo}/milestones`]: listed([
      {
        number: 1,
        title: 'First',
        description: null,
        state: 'closed',
        due_on: at(30),
        created_at: at(1),
        updated_at: at(2),
      },
    ]),
    [`${repo}/issues`]: listed([
      issue(1, {
        labels: [{ name: 'bug' }, { name: 'a, b' }],
        milestone: { number: 1 },
        assignees: [user('ada')],
      }),
      issue(2, { state: 'closed', closed_at: at(9), user: user('grace') }),
      ...pulls.map((pull) => ({ ...pull, pull_request: { url: 'x' } })),
    ]),
    [`${repo}/pulls`]: listed(pulls),
    [`${repo}/pulls/5`]: () => ({ ...pulls[2]!, merged_by: user('ada') }),
    [`${repo}/issues/comments`]: listed([
      comment(11, 1),
      comment(12, 3, { user: user('ada') }),
      comment(13, 99),
    ]),
    [`${repo}/pulls/comments`]: listed([
      comment(21, 3, { ...onLine, line: 2 }),
      comment(22, 3, { ...onLine, line: 2, in_reply_to_id: 21, user: user('ada') }),
      comment(23, 3, { ...onLine, line: null }),
    ]),
    [`${repo}/pulls/3/reviews`]: listed([
      { id: 31, user: user('grace'), body: 'Looks good', state: 'APPROVED', submitted_at: at(12) },
      { id: 32, user: user('grace'), body: '', state: 'COMMENTED', submitted_at: at(12) },
    ]),
    [`${repo}/pulls/4/reviews`]: listed([]),
    [`${repo}/pulls/5/reviews`]: listed([]),
    [`${repo}/releases`]: listed([
      {
        id: 51,
        tag_name: 'v1.0',
        name: 'The first',
        body: 'What is new',
        draft: false,
        author: user('ada'),
        created_at: at(3),
        published_at: at(4),
      },
      { id: 52, tag_name: 'v9', name: null, body: null, draft: false, author: null, created_at: at(3) },
      { id: 53, tag_name: '', draft: true },
    ]),
    [`${repo}/branches`]: listed([{ name: 'main' }]),
    [`${repo}/branches/main/protection`]: () => ({
      required_pull_request_reviews: { require_code_owner_reviews: true },
      allow_force_pushes: { enabled: true },
      required_conversation_resolution: { enabled: true },
      required_signatures: { enabled: false },
    }),
    [`${repo}/collaborators`]: (request, reply, address) =>
      address.searchParams.get('affiliation') === 'direct'
        ? [
            { ...user('ada'), role_name: 'write' },
            { ...user('grace'), role_name: 'admin' },
          ]
        : [],
  }
}
