import { npmDocument } from '../../../world/npm-package.ts'
import { expectStatus } from '../../../world/world.ts'
import type { Prepare, Scenarios, Stage } from '../stage.ts'

/** A package of a new name, in the scope of the group. */
async function published(stage: Stage): Promise<{ package_name: string; version: string }> {
  const { world, projectPath, group } = stage
  const name = `@${group['path'] as string}/${stage.unique('tool')}`
  const version = '1.0.0'
  const document = await npmDocument({ name, version })
  expectStatus(await world.root.put(`${projectPath}/packages/npm/${encodeURIComponent(name)}`, document), 200)
  return { package_name: name, version }
}

const named: Prepare = async (stage) => ({ path: { package_name: (await published(stage)).package_name } })

const withFile: Prepare = async (stage) => {
  const { package_name, version } = await published(stage)
  return { path: { package_name, file_name: `${package_name.replace(/^.*\//, '')}-${version}.tgz` } }
}

const tagged: Prepare = async (stage) => {
  const { package_name, version } = await published(stage)
  return { path: { package_name, tag: 'latest' }, body: JSON.stringify(version) }
}

const question: Prepare = () => ({ body: {} })

const path = '/projects/:id/packages/npm'
const tags = `${path}/-/package/:package_name/dist-tags`
const places = [path, '/groups/:id/-/packages/npm', '/packages/npm']

export const npmPackageScenarios: Scenarios = {
  [`GET ${path}/:package_name`]: { '': named },
  [`GET ${path}/:package_name/-/:file_name`]: { '': withFile },
  [`PUT ${path}/:package_name`]: {
    '': async (stage) => {
      const name = stage.unique('tool').toLowerCase()
      return { path: { package_name: name }, body: await npmDocument({ name, version: '1.0.0' }) }
    },
  },
  [`GET ${tags}`]: { '': named },
  [`PUT ${tags}/:tag`]: { '': tagged },
  [`DELETE ${tags}/:tag`]: { '': tagged },
  'GET /groups/:id/-/packages/npm/:package_name': { '': named },
  'GET /packages/npm/:package_name': { '': named },
  ...Object.fromEntries(
    places.flatMap((place) =>
      ['advisories/bulk', 'audits/quick'].map((asked) => [
        `POST ${place}/-/npm/v1/security/${asked}`,
        { '': question },
      ]),
    ),
  ),
}
