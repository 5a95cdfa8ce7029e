import { RegistryClient } from '../../../registry/client.ts'
import { rootToken, type Json } from '../../../world/world.ts'
import { plain, type Scenarios, type Stage } from '../stage.ts'

function pathOf(stage: Stage): string {
  return (stage.project['path_with_namespace'] as string).toLowerCase()
}

async function rule(stage: Stage, fields: Json = {}): Promise<{ path: { protection_rule_id: number } }> {
  const made = await stage.make(`${stage.projectPath}/registry/protection/repository/rules`, {
    repository_path_pattern: `${pathOf(stage)}/${stage.unique('image')}`,
    minimum_access_level_for_push: 'maintainer',
    ...fields,
  })
  return { path: { protection_rule_id: made['id'] as number } }
}

const tagLevels = {
  minimum_access_level_for_push: 'maintainer',
  minimum_access_level_for_delete: 'maintainer',
}

async function tagRule(stage: Stage): Promise<{ path: { protection_rule_id: number } }> {
  const made = await stage.make(`${stage.projectPath}/registry/protection/tag/rules`, {
    tag_name_pattern: stage.unique('v'),
    ...tagLevels,
  })
  return { path: { protection_rule_id: made['id'] as number } }
}

const rules = '/projects/:id/registry/protection/repository/rules'
const tagRules = '/projects/:id/registry/protection/tag/rules'

/** A repository with one tag, made as a push makes it. */
async function repository(stage: Stage): Promise<{ path: { repository_id: number; tag_name: string } }> {
  const name = stage.unique('image')
  const path = `${pathOf(stage)}/${name}`
  const client = new RegistryClient(stage.world, { username: 'root', password: rootToken })
  await client.pushImage(path, 'v1')
  const listed = await stage.world.root.get(`${stage.projectPath}/registry/repositories?per_page=100`)
  const { id } = (listed.body as Json[]).find((row) => row['path'] === path)!
  return { path: { repository_id: id as number, tag_name: 'v1' } }
}

const repositories = '/projects/:id/registry/repositories'

const registryScenarios: Scenarios = {
  [`GET ${repositories}`]: { '': plain },
  'GET /groups/:id/registry/repositories': { '': plain },
  'GET /registry/repositories/:id': {
    '': async (stage) => {
      const { path } = await stage.once('repository', () => repository(stage))
      return { path: { id: path.repository_id } }
    },
  },
  [`DELETE ${repositories}/:repository_id`]: {
    'no rule matches': (stage) => repository(stage),
    'a rule asks Owner for delete': async (stage) => {
      const made = await repository(stage)
      const found = await stage.world.root.get(`/registry/repositories/${made.path.repository_id}`)
      await rule(stage, {
        repository_path_pattern: (found.body as Json)['path'],
        minimum_access_level_for_delete: 'owner',
      })
      return made
    },
  },
  [`GET ${repositories}/:repository_id/tags`]: {
    '': (stage) => stage.once('repository', () => repository(stage)),
  },
  [`GET ${repositories}/:repository_id/tags/:tag_name`]: {
    '': (stage) => stage.once('repository', () => repository(stage)),
  },
  [`DELETE ${repositories}/:repository_id/tags/:tag_name`]: {
    'tag not protected': (stage) => repository(stage),
  },
  [`DELETE ${repositories}/:repository_id/tags`]: {
    '': async (stage) => ({ ...(await repository(stage)), body: { name_regex_delete: '.*' } }),
  },
}

export const containerRegistryScenarios: Scenarios = {
  ...registryScenarios,
  [`GET ${rules}`]: { '': plain },
  [`POST ${rules}`]: {
    '': (stage) => ({
      body: {
        repository_path_pattern: `${pathOf(stage)}/${stage.unique('new')}`,
        minimum_access_level_for_push: 'owner',
      },
    }),
    'pattern taken': async (stage) => {
      const repository_path_pattern = `${pathOf(stage)}/taken`
      await stage.once('taken', () => rule(stage, { repository_path_pattern }))
      return { body: { repository_path_pattern, minimum_access_level_for_push: 'owner' } }
    },
  },
  [`PATCH ${rules}/:protection_rule_id`]: {
    '': async (stage) => ({ ...(await rule(stage)), body: { minimum_access_level_for_delete: 'owner' } }),
  },
  [`DELETE ${rules}/:protection_rule_id`]: {
    '': (stage) => rule(stage),
    'unknown rule': () => ({ path: { protection_rule_id: 999_999_999 } }),
  },
  'GET /projects/:id/registry/protection/repository/preview': {
    '': (stage) => ({ query: `repository_path=${encodeURIComponent(pathOf(stage))}` }),
  },
  [`GET ${tagRules}`]: { '': plain },
  [`POST ${tagRules}`]: {
    '': {
      ownStage: true,
      prepare: (stage) => ({ body: { tag_name_pattern: stage.unique('v'), ...tagLevels } }),
    },
  },
  [`PATCH ${tagRules}/:protection_rule_id`]: {
    '': {
      ownStage: true,
      prepare: async (stage) => ({ ...(await tagRule(stage)), body: { tag_name_pattern: 'w' } }),
    },
  },
  [`DELETE ${tagRules}/:protection_rule_id`]: { '': { ownStage: true, prepare: (stage) => tagRule(stage) } },
}
