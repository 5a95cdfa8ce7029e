import { endpoint, enterAs, project as projectKind, type ProjectSubject } from '../../access/index.ts'
import { branchRef, type Oid } from '../../git/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import { Json, rows, type Endpoint } from '../../kernel/endpoint/index.ts'
import type { Events } from '../../tasks/index.ts'
import { movesBranch, refsOf, readable, type PushEvent, type RepositoryPlaces } from '../repository/index.ts'
import { detectLanguages } from './detect.ts'

export interface LanguageServices {
  readonly db: Database
  readonly events: Events
  readonly places: RepositoryPlaces
}

type Shares = Readonly<Record<string, number>>

interface Known {
  readonly commit: string
  readonly shares: Shares
}

/** Languages of projects: found out when their default branch moves, or when somebody asks before that. */
export function languages({ db, events, places }: LanguageServices): { endpoints: Endpoint[] } {
  async function headOf(project: ProjectSubject): Promise<Oid | undefined> {
    const ref = project.defaultBranch === null ? undefined : branchRef(project.defaultBranch)
    return ref === undefined ? undefined : (await refsOf(places, project))?.find(ref)?.oid
  }

  async function findOut(project: ProjectSubject, commit: Oid): Promise<Shares> {
    const repository = await readable(places, project)
    const shares = repository === undefined ? {} : await detectLanguages(repository, commit)
    await sql`
      insert into project_languages (project_id, commit, shares, names)
      select p.id, ${commit}, ${JSON.stringify(shares)}::jsonb,
        ${Object.keys(shares).map((name) => name.toLowerCase())}::text[] from projects p
        where p.id = ${project.id} for key share
      on conflict (project_id) do update set commit = excluded.commit, shares = excluded.shares,
        names = excluded.names`.execute(db.writer)
    return shares
  }

  events.subscribe<PushEvent>('push', 'languages', async ({ projectId, userId, payload }) => {
    if (projectId === null || userId === null) return
    const entered = await enterAs<ProjectSubject>(db, projectKind, userId, projectId)
    if (entered === undefined || !movesBranch(payload, entered.subject.defaultBranch)) return
    const head = await headOf(entered.subject)
    if (head !== undefined) await findOut(entered.subject, head)
  })

  return {
    endpoints: [
      endpoint({
        method: 'GET',
        path: '/projects/:id/languages',
        summary: 'Tell which languages a project is written in, in percent',
        description: 'By the size of the files of the default branch. What others wrote does not count.',
        on: projectKind,
        may: 'read_code',
        anonymous: true,
        answers: Json({ description: 'Percent by name' }),
        read: () =>
          rows<Known>(
            sql`select l.commit, l.shares from project_languages l where l.project_id = subject.id`,
          ),
        async handle({ project, rows: [known] }) {
          const head = await headOf(project)
          if (head === undefined) return {}
          const shares = known?.commit === head ? known.shares : await findOut(project, head)
          // JSON in the database keeps no order.
          return Object.fromEntries(Object.entries(shares).sort(([, one], [, other]) => other - one))
        },
      }),
    ],
  }
}
