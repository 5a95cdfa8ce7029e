import { endpoint, instance, project, type Actor, type ProjectSubject } from '../../access/index.ts'
import {
  Either,
  Fields,
  Flag,
  Id,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Page,
  Text,
  type Endpoint,
  type PageInput,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { kinds, type Kind, type Named } from './kinds.ts'
import { aboutLicense, filledIn } from './licenses.ts'
import { itself, namesIn, readIn, sourcesOf, type Shelf, type TemplateServices } from './sources.ts'

const Listed = Fields({ key: Text(), name: Text() })
const Template = Fields({ name: Text(), content: Text() })
const License = Fields({
  key: Text(),
  name: Text(),
  nickname: Nullable(Text()),
  popular: Flag(),
  html_url: Nullable(Text()),
  source_url: Nullable(Text()),
  description: Nullable(Text()),
  conditions: ListOf(Text()),
  permissions: ListOf(Text()),
  limitations: ListOf(Text()),
  content: Text(),
})

/** What licences have blank, and the caller may fill in. */
const blanks = {
  project: Optional(Text({ description: 'Name of the work that a licence is for' })),
  fullname: Optional(Text({ description: 'Who has the copyright; the caller, unless given' })),
}
interface Blanks {
  readonly project?: string | undefined
  readonly fullname?: string | undefined
}

/** Templates for everybody, without a project. */
export function instanceEndpoints(services: TemplateServices): Endpoint[] {
  const about = { method: 'GET', on: instance, may: 'use_instance', anonymous: true } as const
  return kinds.flatMap((kind) => {
    const { type, singular } = kind
    const isLicense = type === 'licenses'
    const summary = type.replaceAll('_', ' ')
    return [
      endpoint({
        ...about,
        path: `/templates/${type}`,
        summary: `List the templates of ${summary}`,
        paged: true,
        params: Fields(isLicense ? { popular: Optional(Flag()) } : {}),
        answers: ListOf(isLicense ? License : Listed),
        async handle({ params, page }) {
          const own = await namesIn(services, await sourcesOf(services, undefined), kind)
          const all = together(own, kind.shipped())
          if (!isLicense) return cut(all, page)
          const { popular } = params as { popular?: boolean }
          const shown = all.filter(({ key }) => popular !== true || aboutLicense(key)?.popular === true)
          return cut(shown, page, async ({ key }) =>
            license(key, await textOf(services, kind, undefined, key)),
          )
        },
      }),

      endpoint({
        ...about,
        path: `/templates/${type}/:name`,
        summary: `Get a template of ${summary}`,
        params: Fields({ name: Text(), ...(isLicense ? blanks : {}) }),
        answers: isLicense ? License : Template,
        refuses: { 404: `No such template: \`404 ${singular} Not Found\`` },
        async handle({ actor, params }) {
          const { name, ...rest } = params as { name: string } & Blanks
          const text = await textOf(services, kind, undefined, name)
          if (text === undefined) throw notFound(singular)
          return isLicense ? license(name, filled(text, actor, rest)) : template(name, text)
        },
      }),
    ]
  })
}

/** Where projects keep what their issues and merge requests begin with. */
const descriptions: Readonly<Record<string, Shelf>> = {
  issues: { folder: '.gitlab/issue_templates', ending: '.md' },
  merge_requests: { folder: '.gitlab/merge_request_templates', ending: '.md' },
}
const types = OneOf(
  [...kinds.map(({ type }) => type), ...Object.keys(descriptions)] as [string, ...string[]],
  {},
)

/** The same for a project, with what its groups have and what it has itself. */
export function projectEndpoints(services: TemplateServices): Endpoint[] {
  const about = { method: 'GET', on: project, may: 'read_project', anonymous: true } as const
  const shelfOf = (type: string): { shelf: Shelf; kind: Kind | undefined } => {
    const kind = kinds.find((one) => one.type === type)
    return { shelf: kind ?? descriptions[type]!, kind }
  }
  const sources = async (actor: Actor, subject: ProjectSubject, kind: Kind | undefined) => [
    ...(kind === undefined ? itself(actor, subject) : []),
    ...(await sourcesOf(services, subject)),
  ]
  return [
    endpoint({
      ...about,
      path: '/projects/:id/templates/:type',
      summary: 'List the templates of a kind for a project',
      description:
        'Those of the project itself (for descriptions), of the projects that its groups and the instance name for it, and those that come with the service.',
      paged: true,
      params: Fields({ type: types }),
      answers: ListOf(Listed),
      async handle({ actor, project: subject, params, page }) {
        const { shelf, kind } = shelfOf(params.type)
        const own = await namesIn(services, await sources(actor, subject, kind), shelf)
        return cut(together(own, kind?.shipped() ?? []), page)
      },
    }),

    endpoint({
      ...about,
      path: '/projects/:id/templates/:type/:name',
      greedy: true,
      summary: 'Get a template for a project',
      params: Fields({
        type: types,
        name: Text({ description: 'Its key' }),
        source_template_project_id: Optional(
          Id({ description: 'The project that it is of, where several have one of this name' }),
        ),
        ...blanks,
      }),
      answers: Either(License, Template),
      refuses: { 404: 'No such template: `404 Template Not Found`' },
      async handle({ actor, project: subject, params }) {
        const { type, name, source_template_project_id: from } = params
        const { shelf, kind } = shelfOf(type)
        const all = await sources(actor, subject, kind)
        const chosen = from === undefined ? all : all.filter(({ id }) => id === from)
        const own = await readIn(services, chosen, shelf, name)
        const text = own ?? (from === undefined ? kind?.read(name) : undefined)
        if (text === undefined) throw notFound('Template')
        return type === 'licenses' ? license(name, filled(text, actor, params)) : template(name, text)
      },
    }),
  ]
}

async function textOf(
  services: TemplateServices,
  kind: Kind,
  subject: ProjectSubject | undefined,
  key: string,
): Promise<string | undefined> {
  return (await readIn(services, await sourcesOf(services, subject), kind, key)) ?? kind.read(key)
}

/** What was named for it comes before what comes with the service. */
function together(own: readonly Named[], shipped: readonly Named[]): Named[] {
  const taken = new Set(own.map(({ key }) => key))
  return [...own, ...shipped.filter(({ key }) => !taken.has(key))]
}

async function cut<Row, Shown = Row>(
  all: readonly Row[],
  { offset, perPage }: PageInput,
  show?: (row: Row) => Promise<Shown>,
): Promise<Page<Row | Shown>> {
  const rows = all.slice(offset, offset + perPage)
  const more = { total: all.length, hasMore: offset + perPage < all.length }
  return new Page<Row | Shown>(show === undefined ? rows : await Promise.all(rows.map(show)), more)
}

function filled(text: string, { user }: Actor, { project: work, fullname }: Blanks): string {
  return filledIn(text, { year: new Date().getFullYear(), fullname: fullname ?? user?.name, project: work })
}

/** One that was asked for with its folder has the name that it is listed by. */
function template(key: string, content: string): { name: string; content: string } {
  return { name: key.slice(key.lastIndexOf('/') + 1), content }
}

/** Of a licence of somebody's own nothing is known but its text. */
function license(key: string, content = ''): Record<string, unknown> {
  const about = aboutLicense(key)
  return {
    key,
    name: about?.name ?? key,
    nickname: about?.nickname ?? null,
    popular: about?.popular ?? false,
    html_url: about?.source ?? null,
    source_url: about?.source ?? null,
    description: about?.description ?? null,
    conditions: about?.conditions ?? [],
    permissions: about?.permissions ?? [],
    limitations: about?.limitations ?? [],
    content,
  }
}
