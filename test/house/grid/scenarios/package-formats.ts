import { createHash } from 'node:crypto'
import { chartForm, nugetForm, pythonForm } from '../../../world/packages.ts'
import { expectStatus } from '../../../world/world.ts'
import type { Prepare, Scenarios, Stage } from '../stage.ts'

const project = '/projects/:id/packages'
const group = '/groups/:id/-/packages'

const python: Prepare = async (stage) => {
  const [name, content] = [stage.unique('tool'), stage.unique('content')]
  const form = pythonForm(name, '1.0', content)
  expectStatus(await stage.world.root.post(`${stage.projectPath}/packages/pypi`, form), 201)
  const sha256 = createHash('sha256').update(content).digest('hex')
  return { path: { package_name: name, sha256, file_name: `${name}-1.0-py3-none-any.whl` } }
}

/** Under the path of the project, as it must be to be found everywhere. */
const mavenPath = ({ project: made }: Stage): string =>
  `${made['path_with_namespace'] as string}/1.0/tool-1.0.jar`

const maven: Prepare = async (stage) => {
  const path = mavenPath(stage)
  expectStatus(await stage.world.root.put(`${stage.projectPath}/packages/maven/${path}`, 'content'), 201)
  return { path: { file_path: path } }
}

const helm: Prepare = async (stage) => {
  const name = stage.unique('chart')
  const form = await chartForm(name, '1.0.0')
  expectStatus(await stage.world.root.post(`${stage.projectPath}/packages/helm/api/stable/charts`, form), 201)
  return { path: { channel: 'stable', file_name: `${name}-1.0.0.tgz` } }
}

const nuget: Prepare = async (stage) => {
  const name = stage.unique('Tool').replaceAll('-', '.')
  const form = await nugetForm(name, '1.0.0')
  expectStatus(await stage.world.root.put(`${stage.projectPath}/packages/nuget`, form), 201)
  return {
    path: {
      ...{ package_name: name, package_version: '1.0.0' },
      file_name: `${name}.1.0.0.nupkg`.toLowerCase(),
    },
  }
}

const nugetReads = ['index.json', 'metadata/:package_name/index.json', 'query']
const nugetVersion = 'metadata/:package_name/:package_version'
const nugetDownloads = ['index.json', ':package_version/:file_name']

export const packageFormatScenarios: Scenarios = {
  [`POST ${project}/pypi`]: {
    '': (stage) => ({ body: pythonForm(stage.unique('tool'), '1.0', 'content') }),
  },
  [`GET ${project}/pypi/simple`]: { '': python },
  [`GET ${project}/pypi/simple/:package_name`]: { '': python },
  [`GET ${project}/pypi/files/:sha256/:file_name`]: { '': python },
  [`GET ${group}/pypi/simple`]: { '': python },
  [`GET ${group}/pypi/simple/:package_name`]: { '': python },

  [`PUT ${project}/maven/:file_path`]: {
    '': (stage) => ({ path: { file_path: mavenPath(stage) }, body: 'content' }),
  },
  [`GET ${project}/maven/:file_path`]: { '': maven },
  [`GET ${group}/maven/:file_path`]: { '': maven },
  'GET /packages/maven/:file_path': { '': maven },

  [`POST ${project}/helm/api/:channel/charts`]: {
    '': async () => ({ path: { channel: 'stable' }, body: await chartForm('chart', '1.0.0') }),
  },
  [`GET ${project}/helm/:channel/index.yaml`]: { '': helm },
  [`GET ${project}/helm/:channel/charts/:file_name`]: { '': helm },

  [`PUT ${project}/nuget`]: {
    '': async (stage) => ({ body: await nugetForm(stage.unique('Tool').replaceAll('-', '.'), '1.0.0') }),
  },
  ...Object.fromEntries(
    [project, group].flatMap((place) =>
      [...nugetReads, nugetVersion].map((read) => [`GET ${place}/nuget/${read}`, { '': nuget }]),
    ),
  ),
  ...Object.fromEntries(
    nugetDownloads.map((read) => [`GET ${project}/nuget/download/:package_name/${read}`, { '': nuget }]),
  ),

  [`GET ${project}/cleanup_policy`]: { '': () => ({}) },
  [`PUT ${project}/cleanup_policy`]: { '': () => ({ body: { keep_n_duplicated_package_files: '10' } }) },
}
