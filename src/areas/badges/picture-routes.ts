import { endpoint, may, project, type ProjectSubject } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  Answer,
  Fields,
  Flag,
  Optional,
  Text,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { findRefToRead, type FoundRef } from '../pipelines/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { numberIn, picture, type PictureText, type Wishes } from './picture.ts'
import { coverageOf, latestRelease, pipelineStatus } from './shown-state.ts'

const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']
const path = '/projects/:id/badges'

const colors = {
  good: '#4c1',
  acceptable: '#a3c51c',
  medium: '#dfb317',
  bad: '#e05d44',
  unknown: '#9f9f9f',
} as const

const ofStatus: Readonly<Record<string, string>> = {
  success: colors.good,
  failed: colors.bad,
  running: colors.medium,
  pending: colors.medium,
}

const wishes = {
  key_text: Optional(Text({ description: 'In the place of the name, up to 64 characters' })),
  key_width: Optional(Text({ description: 'Pixels, 1 to 512' })),
  style: Optional(Text({ description: '`flat` or `flat-square`' })),
}
const ofRef = { ref: Text({ description: 'Name of a branch or tag' }) }
const limit = Optional(Text({ description: 'Percent' }))

/** Pictures that tell in a README how a project is. */
export function pictureEndpoints({
  db,
  places,
}: {
  readonly db: Database
  readonly places: RepositoryPlaces
}): Endpoint[] {
  const about = {
    method: 'GET',
    on: project,
    may: 'read_project',
    anonymous: true,
    checks,
    answers: Text({ description: 'image/svg+xml' }),
    refuses: { 404: 'The caller may not read what it tells' },
  } as const

  return [
    endpoint({
      ...about,
      path: `${path}/:ref/pipeline.svg`,
      summary: 'Get a picture of how the latest pipeline of a ref is',
      params: Fields({
        ...ofRef,
        ...wishes,
        ignore_skipped: Flag({ default: false, description: 'Pass over pipelines that were skipped' }),
      }),
      async handle({ actor, project, params }) {
        if (!may(actor, 'read_pipeline', project)) throw notFound()
        const ref = await namedRef(places, project, params.ref)
        const status =
          (ref && (await pipelineStatus(db.reader, project.id, ref, params.ignore_skipped))) ?? 'unknown'
        const value = status === 'success' ? 'passed' : status.replaceAll('_', ' ')
        return shown({ key: 'pipeline', value, color: ofStatus[status] ?? colors.unknown }, params)
      },
    }),

    endpoint({
      ...about,
      path: `${path}/:ref/coverage.svg`,
      summary: 'Get a picture of how much code the latest successful pipeline of a ref has tested',
      params: Fields({
        ...ofRef,
        ...wishes,
        job: Optional(Text({ description: 'What this job has told, alone' })),
        min_good: limit,
        min_acceptable: limit,
        min_medium: limit,
      }),
      async handle({ actor, project, params }) {
        if (!may(actor, 'read_pipeline', project)) throw notFound()
        const percent = await coverageOf(db.reader, project.id, params.ref, params.job)
        const value = percent === null ? 'unknown' : `${percent.toFixed(2)}%`
        return shown({ key: 'coverage', value, color: colorOf(percent, params) }, params)
      },
    }),

    endpoint({
      ...about,
      path: `${path}/release.svg`,
      summary: 'Get a picture of the latest release',
      params: Fields({
        ...wishes,
        value_width: Optional(Text({ description: 'Pixels, 1 to 200' })),
        order_by: Optional(Text({ description: '`released_at`, or `created_at`' })),
      }),
      async handle({ actor, project, params }) {
        if (!may(actor, 'read_release', project)) throw notFound()
        const by = params.order_by === 'created_at' ? 'created_at' : 'released_at'
        const tag = await latestRelease(db.reader, project.id, by)
        const color = tag === undefined ? colors.bad : '#3076af'
        return shown({ key: 'Latest Release', value: tag ?? 'none', color }, params)
      },
    }),
  ]
}

/** Kept by nobody: it would tell what was. Nothing in it runs, and nothing is loaded. */
function shown(text: PictureText, how: Wishes): Answer {
  return new Answer(
    200,
    {
      'content-type': 'image/svg+xml',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, no-cache, no-store, max-age=0, must-revalidate',
      pragma: 'no-cache',
      expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
    },
    picture(text, how),
  )
}

async function namedRef(
  places: RepositoryPlaces,
  project: ProjectSubject,
  name: string,
): Promise<FoundRef | undefined> {
  return project.repositoryEmpty ? undefined : findRefToRead(places.of(project), project.refsVersion, name)
}

/** The limits go down from good to medium, whatever is asked for. */
function colorOf(
  percent: number | null,
  asked: Readonly<Partial<Record<'min_good' | 'min_acceptable' | 'min_medium', string>>>,
): string {
  if (percent === null) return colors.unknown
  const good = numberIn(asked.min_good, 3, 100) ?? 95
  const acceptable = Math.min(numberIn(asked.min_acceptable, 2, 99) ?? 90, good - 1)
  const medium = Math.min(numberIn(asked.min_medium, 1, 98) ?? 75, acceptable - 1)
  if (percent >= good) return colors.good
  if (percent >= acceptable) return colors.acceptable
  return percent >= medium ? colors.medium : colors.bad
}
