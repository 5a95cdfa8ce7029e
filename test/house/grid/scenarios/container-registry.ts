import { plain, type Scenarios, type Stage } from '../stage.ts'
import type { Json } from '../../../world/world.ts'

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

export const containerRuleScenarios: Scenarios = {
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
