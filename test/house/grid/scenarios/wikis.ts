import { expectStatus } from '../../../world/world.ts'
import { plain, type Prepare, type Request, type Scenarios, type Stage } from '../stage.ts'
import { archived } from './projects.ts'

type PlaceOf = (stage: Stage) => string

async function page(stage: Stage, place: PlaceOf): Promise<{ path: { slug: string } }> {
  const slug = stage.unique('page')
  await stage.make(`${place(stage)}/wikis`, { title: slug, content: 'text' })
  return { path: { slug } }
}

/** A page, and the version that its second content has. */
async function versions(stage: Stage, place: PlaceOf): Promise<{ slug: string; version: string }> {
  const { path } = await page(stage, place)
  const address = `${place(stage)}/wikis/${path.slug}`
  expectStatus(await stage.world.root.put(address, { content: 'other' }), 200)
  const { last_version } = expectStatus(await stage.world.root.get(address), 200)
  return { slug: path.slug, version: (last_version as { id: string }).id }
}

function form(): FormData {
  const data = new FormData()
  data.append('file', new Blob(['text']), 'notes.txt')
  return data
}

const create: Prepare = (stage) => ({ body: { title: stage.unique('page'), content: 'text' } })

function scenarios(at: string, place: PlaceOf): Scenarios {
  const kept: Prepare = (stage) => stage.once(`page of ${at}`, () => page(stage, place))
  const history: Prepare = (stage) =>
    stage.once(`history of ${at}`, async (): Promise<Request> => {
      const { slug, version } = await versions(stage, place)
      return { path: { slug }, query: `from=${version}` }
    })
  return {
    [`GET ${at}/wikis`]: {
      '': plain,
      'wiki access level private': async (stage) => ({ stage: await leveled(stage, 'private') }),
      'plan without group wikis': async ({ world }) => ({
        base: (await world.sibling({ PLAN: 'free' })).address,
      }),
      'wiki disabled': async (stage) => ({ stage: await leveled(stage, 'disabled') }),
    },
    [`GET ${at}/wikis/:slug`]: { 'page exists': kept },
    [`POST ${at}/wikis`]: {
      '': create,
      'archived project': async (stage, caller, row) => ({
        ...(await create(stage, caller, row)),
        stage: await archived(stage),
      }),
    },
    [`PUT ${at}/wikis/:slug`]: {
      '': async (stage, caller, row) => ({
        ...(await kept(stage, caller, row)),
        body: { content: stage.unique('text') },
      }),
    },
    [`POST ${at}/wikis/attachments`]: { '': () => ({ body: form() }) },
    [`DELETE ${at}/wikis/:slug`]: { '': (stage) => page(stage, place) },
    [`GET ${at}/wiki_versions/:slug`]: { '': kept },
    [`POST ${at}/wiki_versions/:slug`]: {
      '': (stage) =>
        stage.once(`version of ${at}`, async (): Promise<Request> => {
          const { slug, version } = await versions(stage, place)
          return { path: { slug }, body: { version } }
        }),
    },
    [`GET ${at}/wiki_diffs/:slug`]: { '': history },
    [`GET ${at}/wiki_blobs`]: { '': () => ({ query: 'search=text' }) },
    [`GET ${at}/wiki_attachments/:path`]: {
      '': (stage) =>
        stage.once(`attachment of ${at}`, async (): Promise<Request> => {
          const made = expectStatus(
            await stage.world.root.post(`${place(stage)}/wikis/attachments`, form()),
            201,
          )
          return { path: { path: made['file_path'] as string } }
        }),
    },
  }
}

function leveled(stage: Stage, level: string): Promise<Stage> {
  return stage.variant(`wiki ${level}`, async (own) => {
    expectStatus(await own.world.root.put(own.projectPath, { wiki_access_level: level }), 200)
  })
}

export const wikiScenarios: Scenarios = {
  'POST /markdown': { '': () => ({ body: { text: '*x*' } }) },
  ...scenarios('/projects/:id', ({ projectPath }) => projectPath),
  ...scenarios('/groups/:id', ({ groupPath }) => groupPath),
}
